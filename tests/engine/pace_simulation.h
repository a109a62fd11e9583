// A run of many steps in virtual time: workers that differ, drift, jump, pause and make noise, and a policy.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "base/random.h"
#include "engine/pace/pace.h"
#include "engine/pace/shares.h"

namespace paceline {

struct SimulatedRun {
  std::vector<unsigned> executors;                             // of each worker
  std::function<double(size_t worker, double seconds)> speed;  // tokens per second of an executor, at a time
  uint32_t grains = 32;
  uint32_t wanted = 1;  // grains that an executor asks for at once
  uint64_t tokens_per_grain = 1000;
  double noise_per_step = 0, noise_per_grain = 0;  // relative, uniform in +-
  double hiccup = 0;                               // chance that a grain takes ten times as long
  double exchange_seconds = 0.05, claim_seconds = 30e-6;
  uint64_t steps_per_epoch = 20, seed = 1;
};

struct SimulatedStep {
  double seconds = 0;  // without the exchange
  double ideal = 0;    // total work over total speed
  double limit = 0;    // the best that whole grains allow
  std::vector<uint64_t> shares;
  std::vector<int> dealt;  // how often each grain was
  struct Taken {
    size_t worker;
    Deal deal;
  };
  std::vector<Taken> taken;  // in the order of the claims
};

class Simulation {
 public:
  Simulation(SimulatedRun run, PaceOptions options) : run_(std::move(run)), random_{run_.seed} {
    options.executors = run_.executors;
    paces_.push_back(make_pace(options));
    // As in a real run: who decides alike decides for itself.
    while (!paces_[0]->is_shared() && paces_.size() < run_.executors.size())
      paces_.push_back(make_pace(options));
  }

  double now() const { return now_; }

  SimulatedStep step() {
    const Work work{++steps_, 0, run_.grains, run_.grains * run_.tokens_per_grain};
    SimulatedStep result = begin_step();
    std::vector<WorkerStep> workers(run_.executors.size());
    std::priority_queue<Request, std::vector<Request>, std::greater<>> requests;
    for (size_t worker = 0; worker < workers.size(); ++worker)
      for (unsigned executor = 0; executor < run_.executors[worker]; ++executor)
        requests.push({now_ + random_.uniform() * 1e-4, worker, executor, 0});
    double end = now_;
    while (!requests.empty()) {
      Request request = requests.top();
      requests.pop();
      end = std::max(end, request.time);
      const Deal deal = pace(request.worker)
                            .next({work, static_cast<uint32_t>(request.worker), request.executor,
                                   request.seconds, run_.wanted},
                                  request.time);
      if (deal.count == 0) continue;
      result.taken.push_back({request.worker, deal});
      const double begin = request.time + run_.claim_seconds;
      request.time = begin;
      for (uint32_t i = 0; i < deal.count; ++i) {
        ++result.dealt.at(deal.first + i);
        request.time += seconds_of_grain(request.worker, request.time);
      }
      request.seconds = request.time - begin;
      requests.push(request);
      WorkerStep& worker = workers[request.worker];
      if (worker.grains == 0) begin_of_[request.worker] = begin;
      worker.grains += deal.count;
      worker.tokens += deal.count * run_.tokens_per_grain;
      worker.seconds = std::max(worker.seconds, request.time - begin_of_[request.worker]);
    }
    for (const WorkerStep& worker : workers) result.shares.push_back(worker.grains);
    for (auto& pace : paces_) pace->add(work, (steps_ - 1) / run_.steps_per_epoch, workers);
    result.seconds = end - now_;
    now_ = end + run_.exchange_seconds;
    return result;
  }

  std::vector<SimulatedStep> steps(size_t count) {
    std::vector<SimulatedStep> result;
    while (result.size() < count) result.push_back(step());
    return result;
  }

 private:
  struct Request {
    double time;
    size_t worker;
    unsigned executor;
    double seconds;
    bool operator>(const Request& other) const { return time > other.time; }
  };

  Pace& pace(size_t worker) { return *paces_[paces_.size() == 1 ? 0 : worker]; }
  double noise(double size) { return 1 + size * (2 * random_.uniform() - 1); }

  SimulatedStep begin_step() {
    SimulatedStep result;
    result.dealt.resize(run_.grains);
    double total = 0;
    std::vector<double> speeds;
    noise_of_.clear();
    for (size_t worker = 0; worker < run_.executors.size(); ++worker) {
      noise_of_.push_back(noise(run_.noise_per_step));
      speeds.push_back(run_.speed(worker, now_) / static_cast<double>(run_.tokens_per_grain));
      total += speeds.back() * run_.executors[worker];
    }
    begin_of_.assign(run_.executors.size(), 0);
    result.ideal = run_.grains / total;
    result.limit =
        step_seconds(best_shares_of_at_least(0, run_.grains, speeds, run_.executors), speeds, run_.executors);
    return result;
  }

  // The speed may change while a grain is computed.
  double seconds_of_grain(size_t worker, double begin) {
    double tokens =
        static_cast<double>(run_.tokens_per_grain) * noise_of_[worker] * noise(run_.noise_per_grain);
    if (random_.uniform() < run_.hiccup) tokens *= 10;
    constexpr double slice = 0.002;
    for (double time = begin;; time += slice) {
      const double speed = run_.speed(worker, time);
      if (speed * slice >= tokens) return time - begin + tokens / speed;
      tokens -= speed * slice;
    }
  }

  SimulatedRun run_;
  RandomStream random_;
  std::vector<std::unique_ptr<Pace>> paces_;
  std::vector<double> begin_of_, noise_of_;
  double now_ = 1000;
  uint64_t steps_ = 0;
};

using Speeds = std::vector<double>;

// One executor each; a speed of 1 takes 0.1 s for a grain.
inline SimulatedRun constant_run(Speeds relative) {
  SimulatedRun run;
  run.executors.assign(relative.size(), 1);
  run.speed = [relative](size_t worker, double) { return 10000 * relative[worker]; };
  return run;
}

// Steps over the shortest possible ones, exchange included.
inline double mean_over(const std::vector<SimulatedStep>& steps, size_t from, double SimulatedStep::*limit) {
  double seconds = 0, limits = 0;
  const double exchange = SimulatedRun().exchange_seconds;
  for (size_t i = from; i < steps.size(); ++i)
    seconds += steps[i].seconds + exchange, limits += steps[i].*limit + exchange;
  return seconds / limits;
}

inline double over_limit(const std::vector<SimulatedStep>& steps, size_t from) {
  return mean_over(steps, from, &SimulatedStep::limit);
}

inline size_t changes_of_shares(const std::vector<SimulatedStep>& steps, size_t from) {
  size_t changes = 0;
  for (size_t i = from + 1; i < steps.size(); ++i) changes += steps[i].shares != steps[i - 1].shares;
  return changes;
}

inline const std::vector<Speeds> mixes = {{1, 0.4},         {1, 0.5, 0.25}, {20, 1},
                                          {20, 1, 1, 1, 1}, {1, 1},         {1, 1, 1, 1}};

inline PaceOptions policy(const std::string& name) {
  PaceOptions options;
  options.policy = name;
  return options;
}

}  // namespace paceline
