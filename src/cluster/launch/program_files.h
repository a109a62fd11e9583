// The files that this program consists of, wherever it was built or unpacked: what another host needs to
// run the very same one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace paceline {

struct ProgramFile {
  fs::path from;  // here
  fs::path to;    // in a folder of its own: bin/paceline, lib/libpaceline_core.so, lib/paceline/libc10.so
};

// The program that runs now.
fs::path this_program();

// A hash of the program and of its own libraries; 16 hexadecimal digits.
std::string program_fingerprint();

// With the libraries that it needs, but for those of every system and for Open MPI. Throws WorkError when
// they cannot be found.
std::vector<ProgramFile> program_files();

uint64_t size_of(const std::vector<ProgramFile>& files);

// Fills the folder with links to the files, and a script `paceline` that runs the program from there.
void lay_out(const std::vector<ProgramFile>& files, const fs::path& folder);

}  // namespace paceline
