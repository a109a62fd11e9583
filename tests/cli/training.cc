#include "training.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

namespace paceline {

Words Training::train(const std::string& out, const Words& more) {
  Words all = {"train", "--data", tiny_data(), "--out", out, "--buckets", "1000"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Words Training::resume(const std::string& out, const Words& more) {
  Words all = {"train", "--out", out, "--resume"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void Training::run_well(const Words& arguments) {
  const Output output = run(arguments);
  ASSERT_EQ(output.code, 0) << output.err;
}

std::vector<Training::Json> Training::events(const std::string& out, const std::string& kind) {
  std::vector<Json> found;
  std::ifstream in(out + "/events.jsonl");
  for (std::string line; std::getline(in, line);) {
    const Json event = Json::parse(line, nullptr, false);
    if (!event.is_discarded() && event.value("event", "") == kind) found.push_back(event);
  }
  return found;
}

Training::Json Training::last(const std::string& out, const std::string& kind) {
  const auto all = events(out, kind);
  return all.empty() ? Json::object() : all.back();
}

Words Training::checkpoints(const std::string& out) {
  Words found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(out + "/checkpoints", ignored))
    if (entry.path().filename().string().starts_with("step-")) found.push_back(entry.path().filename());
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return found;
}

bool Training::until(Process& process, const std::function<bool()>& condition) {
  for (int i = 0; i < 20000 && process.is_running(); ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace paceline
