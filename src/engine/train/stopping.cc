#include "engine/train/stopping.h"

#include <fmt/core.h>

#include <algorithm>

namespace paceline {

std::vector<std::string> Stopping::add(uint64_t step, const Scores& scores) {
  std::vector<std::string> improved;
  for (const auto& name : rule_.metrics) {
    const std::optional<double> value = metric(scores, name);
    const auto known = state_.find(name);
    const bool better =
        value && (known == state_.end() ||
                  (larger_is_better(name) ? *value > known->second.value : *value < known->second.value));
    if (better) {
      state_[name] = {*value, step, 0};
      improved.push_back(name);
    } else if (known != state_.end()) {
      ++known->second.since;
    }
  }
  return improved;
}

bool Stopping::ran_out(const std::string& metric) const {
  const Best* known = best(metric);
  return known != nullptr && known->since >= rule_.patience;
}

bool Stopping::should_stop() const {
  if (rule_.patience == 0) return false;
  auto out = [this](const std::string& metric) { return ran_out(metric); };
  if (rule_.when == "any") return std::any_of(rule_.metrics.begin(), rule_.metrics.end(), out);
  if (rule_.when == "all") return std::all_of(rule_.metrics.begin(), rule_.metrics.end(), out);
  return ran_out(first_metric());
}

std::string Stopping::reason() const {
  std::string text;
  for (const auto& name : rule_.metrics) {
    if (!ran_out(name)) continue;
    const Best& known = *best(name);
    text += fmt::format("{}{} has not improved over {} evaluations (best {:.4f} at step {})",
                        text.empty() ? "" : "; ", name, known.since, known.value, known.step);
  }
  return text;
}

const Stopping::Best* Stopping::best(const std::string& metric) const {
  const auto known = state_.find(metric);
  return known == state_.end() ? nullptr : &known->second;
}

void Stopping::put_back(const std::string& metric, const Stopping& before) {
  state_.erase(metric);
  if (const Best* known = before.best(metric)) state_[metric] = *known;
}

nlohmann::ordered_json Stopping::state() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [name, best] : state_)
    out[name] = {{"value", best.value}, {"step", best.step}, {"since", best.since}};
  return out;
}

void Stopping::load(const nlohmann::json& state) {
  state_.clear();
  for (const auto& name : rule_.metrics)
    if (state.contains(name)) {
      const auto& best = state.at(name);
      state_[name] = {best.at("value").get<double>(), best.at("step").get<uint64_t>(),
                      best.at("since").get<uint64_t>()};
    }
}

}  // namespace paceline
