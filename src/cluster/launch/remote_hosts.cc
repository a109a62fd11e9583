#include "cluster/launch/remote_hosts.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/machine/software.h"
#include "base/subprocess.h"
#include "cluster/launch/program_files.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;
constexpr auto look_limit = 60s;
constexpr auto copy_limit = 2h;

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Whatever shell the user has there, sh runs the script.
ProcessResult run_on(const std::string& ssh, const std::string& host, const std::string& script) {
  std::vector<std::string> command = words_of(ssh);
  command.push_back(host);
  command.push_back("sh -c " + shell_quoted(script));
  return run_process(command, look_limit, without_launcher());
}

std::string last_line(const std::string& text) {
  std::istringstream in(text);
  std::string last = "no answer";
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  while (last.ends_with('\r')) last.pop_back();
  return last;
}

// "4.1" of "mpirun (Open MPI) 4.1.4": what has to be the same for daemons to understand each other.
std::string series_of(const std::string& words) {
  const size_t begin = words.find_first_of("0123456789");
  if (begin == std::string::npos) return {};
  const size_t dot = words.find('.', begin);
  const size_t end = dot == std::string::npos ? dot : words.find_first_not_of("0123456789", dot + 1);
  return words.substr(begin, end == std::string::npos ? end : end - begin);
}

struct Look {
  std::string program;   // where the host has it; empty: nowhere
  std::string open_mpi;  // its version, in its own words; empty: there is none
};

// Answers come as lines with a mark, because a login may print lines of its own.
std::string looking_script(const std::string& fingerprint, const std::string& copy) {
  return fmt::format(R"sh(
      for p in {} "$HOME/{}/paceline"; do
        [ -x "$p" ] && [ "$("$p" --fingerprint 2>/dev/null)" = {} ] && echo "@program $p" && break
      done
      command -v orted >/dev/null && echo "@mpi $(mpirun --version 2>&1 | head -n 1)"
      echo @end)sh",
                     shell_quoted(this_program().string()), copy, fingerprint);
}

std::optional<Look> parse_look(const std::string& output) {
  Look look;
  bool whole = false;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("@program ")) look.program = line.substr(9);
    if (line.starts_with("@mpi ")) look.open_mpi = line.substr(5);
    whole = whole || line == "@end";
  }
  return whole ? std::optional(look) : std::nullopt;
}

class HostPreparer {
 public:
  HostPreparer(const std::string& ssh, const std::function<void(const std::string&)>& remark)
      : ssh_(ssh),
        remark_(remark),
        fingerprint_(program_fingerprint()),
        copy_(fmt::format(".cache/paceline/{}-{}", PACELINE_VERSION, fingerprint_)),
        series_(series_of(examine_mpi().version)) {}

  std::vector<WorkerGroup> prepare(const std::vector<Host>& hosts) {
    std::vector<std::future<Look>> looks;
    for (const auto& host : hosts)
      looks.push_back(std::async(std::launch::async, [this, &host] { return look_at(host.name); }));
    std::vector<WorkerGroup> groups;
    std::vector<WorkerGroup*> lacking;
    groups.reserve(hosts.size());
    for (size_t i = 0; i < hosts.size(); ++i) {
      groups.push_back({hosts[i], looks[i].get().program});
      if (groups.back().program.empty()) lacking.push_back(&groups.back());
    }
    if (!lacking.empty()) copy_to(lacking);
    return groups;
  }

 private:
  Look look_at(const std::string& host) const {
    if (is_this_machine(host)) return {this_program().string(), {}};
    const ProcessResult answer = run_on(ssh_, host, looking_script(fingerprint_, copy_));
    const std::optional<Look> look = parse_look(answer.output);
    if (!look)
      input_error("--hosts: {} cannot be reached over ssh: {}; try: {} {} true", host,
                  answer.timed_out ? "no answer within a minute" : last_line(answer.output), ssh_, host);
    if (look->open_mpi.empty())
      input_error("--hosts: {} has no Open MPI (orted is not on its PATH); install openmpi-bin there", host);
    if (series_of(look->open_mpi) != series_)
      input_error("--hosts: {} has {}, and this machine has Open MPI {}; install the same version on both",
                  host, look->open_mpi, series_);
    return *look;
  }

  void copy_to(const std::vector<WorkerGroup*>& groups) {
    const std::vector<ProgramFile> files = program_files();
    std::string name = (fs::temp_directory_path() / "paceline-copy-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) work_error("{}: no folder for the copy", name);
    const struct Folder {
      fs::path path;
      ~Folder() { fs::remove_all(path); }
    } folder{name};
    lay_out(files, folder.path);
    for (const WorkerGroup* group : groups)
      remark_(
          fmt::format("{}: the program is copied there ({})", group->host.name, human_bytes(size_of(files))));
    std::vector<std::future<std::string>> copies;
    for (const WorkerGroup* group : groups)
      copies.push_back(
          std::async(std::launch::async, [&, group] { return copy(folder.path, group->host.name); }));
    for (size_t i = 0; i < groups.size(); ++i) groups[i]->program = copies[i].get();
  }

  // Returns the path of the program there. The folder gets its name when all is in it.
  std::string copy(const fs::path& folder, const std::string& host) const {
    const std::string there = fmt::format(R"sh(
        set -e
        umask 022
        goal="$HOME/{}"
        mkdir -p "$HOME/.cache/paceline"
        part=$(mktemp -d "$goal.XXXXXX")
        trap "rm -rf \"$part\"" EXIT
        gzip -d | tar -x -C "$part"
        chmod 755 "$part"
        said=$("$part/paceline" --fingerprint 2>&1) || true
        [ "$said" = {} ] || (echo "its answer is: ${{said:-nothing}}"; exit 1)
        rm -rf "$goal"
        mv "$part" "$goal"
        echo "@program $goal/paceline"
        echo @end)sh",
                                          copy_, fingerprint_);
    const std::string pipe =
        fmt::format("tar -C {} -h -c . | gzip -1 | {} {} {}", shell_quoted(folder.string()), ssh_, host,
                    shell_quoted("sh -c " + shell_quoted(there)));
    const ProcessResult answer = run_process({"sh", "-c", pipe}, copy_limit, without_launcher());
    const std::optional<Look> look = parse_look(answer.output);
    if (!look || look->program.empty())
      input_error(
          "--hosts: {} cannot run this program: {}; is it another system? Install the same release there, at "
          "{}",
          host, last_line(answer.output), this_program().string());
    return look->program;
  }

  const std::string ssh_;
  const std::function<void(const std::string&)>& remark_;
  const std::string fingerprint_, copy_, series_;
};

}  // namespace

std::string ssh_command() {
  const char* given = std::getenv("PACELINE_SSH");
  return given != nullptr && *given != '\0' ? given : "ssh -o BatchMode=yes -o ConnectTimeout=10";
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::vector<WorkerGroup> prepare_hosts(const std::vector<Host>& hosts, const std::string& ssh,
                                       const std::function<void(const std::string&)>& remark) {
  return HostPreparer(ssh, remark).prepare(hosts);
}

}  // namespace paceline
