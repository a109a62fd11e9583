// Which evaluation was the best, and whether a run has stopped improving.
#pragma once
#include <map>
#include <nlohmann/json.hpp>

#include "engine/score/metrics.h"

namespace paceline {

struct StoppingRule {
  std::vector<std::string> metrics = {"macro_f1"};  // the first chooses the model that is kept
  std::string when = "first";  // first, any, all: which of them must have stopped improving
  uint64_t patience = 0;       // evaluations without improvement; 0: never stop
};

class Stopping {
 public:
  struct Best {
    double value = 0;
    uint64_t step = 0;
    uint64_t since = 0;  // evaluations without improvement after it
  };

  explicit Stopping(StoppingRule rule) : rule_(std::move(rule)) {}
  // The metrics that are the best so far at this step; of equals the first. A metric that is undefined
  // here has not improved.
  std::vector<std::string> add(uint64_t step, const Scores& scores);
  bool should_stop() const;
  // A sentence for the log.
  std::string reason() const;
  // nullptr before the first evaluation in which the metric was defined.
  const Best* best(const std::string& metric) const;
  const std::string& first_metric() const { return rule_.metrics.front(); }
  // The best is again what it was before, since nothing could be kept of the newest one.
  void put_back(const std::string& metric, const Stopping& before);

  nlohmann::ordered_json state() const;
  // Of metrics that are in the rule now; others are dropped.
  void load(const nlohmann::json& state);

 private:
  bool ran_out(const std::string& metric) const;
  StoppingRule rule_;
  std::map<std::string, Best> state_;
};

}  // namespace paceline
