// One meter for the phases of a step.
#pragma once
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

namespace paceline {

enum class Phase { data, compute, wait, exchange, update, save, evaluate };
constexpr size_t phases = 7;

// Where the time of a step went: the parts do not overlap and add up to the whole.
struct StepSeconds {
  std::array<double, phases> parts = {};
  double exchange_hidden = 0;  // in the shadow of compute, so not a part of the sum

  double& operator[](Phase phase) { return parts[static_cast<size_t>(phase)]; }
  double operator[](Phase phase) const { return parts[static_cast<size_t>(phase)]; }
  double whole() const {
    double sum = 0;
    for (double part : parts) sum += part;
    return sum;
  }
  // As the object `seconds` of an event; a phase that did not occur is absent.
  nlohmann::ordered_json to_json() const {
    static constexpr std::array<const char*, phases> names = {
        "data", "compute", "wait", "exchange_exposed", "update", "save", "evaluate"};
    nlohmann::ordered_json out;
    for (size_t i = 0; i < phases; ++i)
      if (parts[i] > 0) out[names[i]] = parts[i];
    out["step"] = whole();
    if (exchange_hidden > 0) out["exchange_hidden"] = exchange_hidden;
    return out;
  }
};

// A lap timer: the time since the last lap belongs to the phase that a lap names.
class StepMeter {
 public:
  void lap(Phase phase) {
    const auto now = Clock::now();
    seconds_[phase] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  double seconds(Phase phase) const { return seconds_[phase]; }
  void move(double seconds, Phase from, Phase to) {
    seconds_[from] -= seconds;
    seconds_[to] += seconds;
  }
  void hide(double seconds) { seconds_.exchange_hidden += seconds; }
  // Ends the step.
  StepSeconds finish() { return std::exchange(seconds_, {}); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
  StepSeconds seconds_;
};

}  // namespace paceline
