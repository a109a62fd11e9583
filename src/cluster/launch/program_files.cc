#include "cluster/launch/program_files.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/hash.h"
#include "base/subprocess.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

// bin/paceline and lib/libpaceline_*.so, in the order of their names.
std::vector<ProgramFile> own_files() {
  const fs::path program = this_program();
  std::vector<ProgramFile> files = {{program, "bin/paceline"}};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(program.parent_path().parent_path() / "lib", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libpaceline_") && name.ends_with(".so"))
      files.push_back({entry.path(), "lib/" + name});
  }
  std::sort(files.begin() + 1, files.end(), [](const auto& a, const auto& b) { return a.to < b.to; });
  return files;
}

// What comes with every system, and has to be that system's own.
bool is_of_system(const std::string& name) {
  static const std::set<std::string> names = {"libc.so.6",       "libm.so.6",  "libdl.so.2",
                                              "libpthread.so.0", "librt.so.1", "libresolv.so.2"};
  return names.contains(name) || name.starts_with("ld-linux") || name.starts_with("linux-vdso");
}

// Lines of ldd: "libfmt.so.9 => /usr/lib/libfmt.so.9 (0x...)".
void add_needed(const std::string& lines, std::vector<ProgramFile>& files) {
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name, arrow, path;
    if (!(words >> name >> arrow >> path) || arrow != "=>") continue;
    if (path == "not") work_error("{}: a library that the program needs is missing", name);
    const fs::path to = fs::path("lib/paceline") / name;
    const auto same = [&](const ProgramFile& file) { return file.to.filename() == name; };
    if (!is_of_system(name) && std::none_of(files.begin(), files.end(), same)) files.push_back({path, to});
  }
}

}  // namespace

fs::path this_program() { return fs::read_symlink("/proc/self/exe"); }

std::string program_fingerprint() {
  std::string hashes;
  for (const auto& file : own_files())
    hashes += fmt::format("{} {}\n", file.to.string(), file_checksum(file.from));
  return to_hex(hash128(hashes)).substr(0, 16);
}

std::vector<ProgramFile> program_files() {
  std::vector<ProgramFile> files = own_files();
  std::vector<std::string> command = {"ldd"};
  for (const auto& file : files)
    if (file.to.filename() != "libpaceline_mpi.so" && file.to.filename() != "libpaceline_nccl.so")
      command.push_back(file.from.string());
  const ProcessResult result = run_process(command, 60s);
  if (!result.succeeded()) work_error("ldd cannot tell which libraries the program needs: {}", result.output);
  add_needed(result.output, files);
  return files;
}

uint64_t size_of(const std::vector<ProgramFile>& files) {
  uint64_t bytes = 0;
  for (const auto& file : files) bytes += fs::file_size(file.from);
  return bytes;
}

void lay_out(const std::vector<ProgramFile>& files, const fs::path& folder) {
  for (const auto& file : files) {
    fs::create_directories((folder / file.to).parent_path());
    fs::create_symlink(fs::canonical(file.from), folder / file.to);
  }
  const fs::path script = folder / "paceline";
  write_file_atomically(
      script,
      "#!/bin/sh\n"
      "folder=$(dirname \"$0\")\n"
      "LD_LIBRARY_PATH=$folder/lib:$folder/lib/paceline exec \"$folder/bin/paceline\" \"$@\"\n");
  fs::permissions(script, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                              fs::perms::others_read | fs::perms::others_exec);
}

}  // namespace paceline
