// Training runs of the real program that are met in the middle.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>

#include "program.h"

namespace paceline {

class Training : public Scratch {
 protected:
  using Json = nlohmann::json;

  // A run of the tiny data set with small tables, so that a step takes well under a millisecond.
  static Words train(const std::string& out, const Words& more = {});
  static Words resume(const std::string& out, const Words& more = {});
  static void run_well(const Words& arguments);
  static std::string weights(const std::string& out) {
    return read_file(fs::path(out) / "model" / "model.safetensors");
  }
  static std::vector<Json> events(const std::string& out, const std::string& kind);
  static Json last(const std::string& out, const std::string& kind);
  static Words checkpoints(const std::string& out);
  // Waits until the condition holds; false when the process ended or 20 seconds passed before.
  static bool until(Process& process, const std::function<bool()>& condition);
};

}  // namespace paceline
