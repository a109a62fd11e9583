// What every file here needs to call MPI; nothing outside this folder sees mpi.h.
#pragma once
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include "base/error.h"

namespace paceline {

inline void check_mpi(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(result, text, &length);
  work_error("{}: {}", call, text);
}

}  // namespace paceline
