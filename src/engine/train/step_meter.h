// One meter for the phases of a step.
#pragma once
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

namespace paceline {

enum class Phase { data, compute, exchange, update, save, evaluate };

// A lap timer: the time since the last lap belongs to the phase that a lap names, so the parts do not
// overlap and add up to the whole.
class StepMeter {
 public:
  void lap(Phase phase) {
    const auto now = Clock::now();
    parts_[static_cast<size_t>(phase)] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  double seconds(Phase phase) const { return parts_[static_cast<size_t>(phase)]; }

  // Ends the step: its parts as the object `seconds` of the event; a phase that did not occur is absent.
  nlohmann::ordered_json finish() {
    nlohmann::ordered_json out;
    double whole = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      if (parts_[i] > 0) out[names[i]] = parts_[i];
      whole += parts_[i];
    }
    out["step"] = whole;
    parts_ = {};
    return out;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::array<const char*, 6> names = {"data",   "compute", "exchange_exposed",
                                                       "update", "save",    "evaluate"};
  Clock::time_point last_ = Clock::now();
  std::array<double, 6> parts_ = {};
};

}  // namespace paceline
