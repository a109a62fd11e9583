// What a cluster's software looks like from here: MPI and Slurm.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

namespace fs = std::filesystem;

// The executable file of that name in a PATH-like list of folders; nullopt: the environment's PATH.
std::optional<fs::path> find_program(std::string_view name, std::optional<std::string_view> search = {});

struct MpiFacts {
  std::optional<fs::path> mpirun;
  std::string version;  // mpirun's own words: "mpirun (Open MPI) 4.1.4"
  std::string problem;  // mpirun is there and does not run: why
  std::string library;  // "libmpi.so.40", or empty
};

struct SlurmFacts {
  std::optional<fs::path> srun, sinfo;
  std::string version;   // "slurm-wlm 22.05.8"
  bool answers = false;  // sinfo spoke to the controller within two seconds
  unsigned nodes = 0;    // that sinfo lists
  std::string problem;   // why it does not answer
};

MpiFacts examine_mpi(std::optional<std::string_view> search = {});
SlurmFacts examine_slurm(std::optional<std::string_view> search = {});

}  // namespace paceline
