// What the policies with shares have in common: a worker's share of a work is one row of grains, and its
// executors take from its front.
#pragma once
#include "engine/pace/pace.h"
#include "engine/pace/works.h"

namespace paceline {

// As best_shares(), with at least `least` grains for each worker while there are enough. own: what each needs
// besides grains; empty: nothing.
std::vector<uint64_t> best_shares_of_at_least(uint64_t least, uint64_t grains, std::span<const double> speeds,
                                              std::span<const unsigned> executors,
                                              std::span<const double> own = {});
// As many for each, the first ones get the remainder.
std::vector<uint64_t> even_shares(uint64_t grains, size_t workers);
struct Slowest {
  size_t worker;
  double seconds;
};
// Who ends last with its share, among equals the first; speeds in grains per second and executor.
Slowest slowest_of(std::span<const uint64_t> shares, std::span<const double> speeds,
                   std::span<const unsigned> executors, std::span<const double> own = {});
// The seconds of the slowest.
double step_seconds(std::span<const uint64_t> shares, std::span<const double> speeds,
                    std::span<const unsigned> executors, std::span<const double> own = {});
// Tokens per second of one executor: whole rounds of grains, one for each executor, took the seconds.
// 0 when the worker had no grain.
double executor_speed(const WorkerStep& step, unsigned executors);

// The first of as few equal portions as there can be with at most `most` each: a grain by itself is computed
// more slowly than several together.
uint32_t in_equal_portions(uint32_t grains, uint32_t most);
// How many of the grains that are left an executor takes at once, of several equal ones: its part at most of
// these and of those that the others are still at, so that all end together.
uint32_t grains_at_once(uint32_t left, double with_others, unsigned executors, uint32_t wanted);

class SharedOut : public Pace {
 public:
  explicit SharedOut(std::vector<unsigned> executors);
  bool is_shared() const override { return false; }
  Deal next(const Claim& claim, double now) override;
  uint32_t left(const Work& work, uint32_t worker) override;

 protected:
  // From what add() has told so far, so that every worker finds the same.
  virtual std::vector<uint64_t> shares(const Work& work) const = 0;
  const std::vector<unsigned>& executors() const { return executors_; }

 private:
  struct Dealt {
    uint32_t grains = 0;
    double since = 0;
  };
  struct Row {
    uint32_t next = 0, end = 0;
    std::vector<Dealt> executors;  // what each was dealt last
  };
  std::vector<Row> cut(const Work& work) const;
  static double grains_with_others(const Row& row, const Claim& claim, double now);

  std::vector<unsigned> executors_;
  Works<std::vector<Row>> works_;
};

std::unique_ptr<Pace> make_even(const PaceOptions& options);
std::unique_ptr<Pace> make_epoch(const PaceOptions& options);
std::unique_ptr<Pace> make_interval(const PaceOptions& options);
std::unique_ptr<Pace> make_pull(const PaceOptions& options);

}  // namespace paceline
