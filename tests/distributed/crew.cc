#include "crew.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace paceline {
namespace {

bool is_in_path(const std::string& program) {
  const char* path = getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::exists(fs::path(folder) / program)) return true;
  return false;
}

// Of a process that may end at any moment: empty then.
std::string read_proc(const fs::path& process, const char* file) {
  std::ifstream in(process / file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

}  // namespace

Words joined(Words first, const Words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

const std::vector<TrainedModel>& trained_models() {
  static const std::vector<TrainedModel> all = {
      {"ngram", {"--buckets", "1000", "--batch-size", "64", "--grain-size", "8"}},
      {"lstm",
       {"--embedding", "16", "--hidden", "24", "--bidirectional", "--word-dropout", "0.1",
        "--recurrent-dropout", "0.1", "--ema", "0.9", "--batch-size", "64", "--grain-size", "8"}},
      {"bert",
       {"--bert-hidden", "16", "--bert-layers", "2", "--heads", "2", "--intermediate", "24", "--ema", "0.9",
        "--layer-decay", "0.8", "--batch-size", "64", "--grain-size", "8"},
       tiny_pieces},
      {"masked_words",
       {"--bert-hidden", "16", "--bert-layers", "2", "--heads", "2", "--intermediate", "24", "--whole-words",
        "--ema", "0.9", "--batch-size", "64", "--grain-size", "8"},
       tiny_packed,
       "bert"}};
  return all;
}

void Distributed::SetUp() {
  Training::SetUp();
  if (!is_in_path("mpirun")) GTEST_SKIP() << "Open MPI's mpirun is not in PATH";
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
}

Words Distributed::train(const TrainedModel& model, const std::string& out, const Words& more) {
  const Words first = {"train", "--data", model.data(), "--out", whole(out), "--model", model.model};
  return joined(joined(first, model.options), more);
}

Words Distributed::resume(const std::string& out, const Words& more) {
  return joined({"train", "--out", whole(out), "--resume"}, more);
}

Words Distributed::workers(unsigned count, const Words& more) {
  return joined({"--workers", std::to_string(count)}, more);
}

Words Distributed::by_hand(const std::vector<Words>& each) {
  Words all = {"mpirun", "--bind-to", "none", "--oversubscribe"};
  for (size_t i = 0; i < each.size(); ++i) {
    if (i > 0) all.push_back(":");
    all = joined(joined(all, {"-np", "1"}), with_program(each[i]));
  }
  return all;
}

std::vector<pid_t> Distributed::processes(const std::string& out) {
  const std::string path = whole(out) + '\0';
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (has(read_proc(entry.path(), "cmdline"), path)) found.push_back(std::stoi(name));
  }
  return found;
}

pid_t Distributed::worker(const std::string& out, unsigned rank) {
  const std::string mark = '\0' + fmt::format("OMPI_COMM_WORLD_RANK={}", rank) + '\0';
  for (pid_t process : processes(out))
    if (has('\0' + read_proc(fmt::format("/proc/{}", process), "environ"), mark)) return process;
  return 0;
}

bool Distributed::all_are_gone(const std::string& out) {
  for (int i = 0; i < 1000; ++i) {
    if (processes(out).empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Words sentences(const std::string& err) {
  Words found;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("paceline: ")) found.push_back(line);
  return found;
}

}  // namespace paceline
