#include "engine/pace/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/error.h"

namespace paceline {
namespace {

uint64_t rounds(uint64_t grains, unsigned executors) { return (grains + executors - 1) / executors; }

double seconds_for(uint64_t grains, double speed, unsigned executors) {
  return static_cast<double>(rounds(grains, executors)) / speed;
}

double own_of(std::span<const double> own, size_t worker) { return own.empty() ? 0 : own[worker]; }

// A speed that is not known counts as the mean of the others.
std::vector<double> known_speeds(std::span<const double> speeds) {
  auto known = [](double speed) { return speed > 0 && speed <= std::numeric_limits<double>::max(); };
  double sum = 0;
  size_t count = 0;
  for (double speed : speeds)
    if (known(speed)) sum += speed, ++count;
  const double mean = count == 0 ? 1.0 : sum / static_cast<double>(count);
  std::vector<double> result(speeds.begin(), speeds.end());
  for (double& speed : result)
    if (!known(speed)) speed = mean;
  return result;
}

}  // namespace

std::vector<uint64_t> best_shares_of_at_least(uint64_t least, uint64_t grains, std::span<const double> speeds,
                                              std::span<const unsigned> executors,
                                              std::span<const double> own) {
  PACELINE_ASSERT(speeds.size() == executors.size() && !speeds.empty());
  const std::vector<double> speed = known_speeds(speeds);
  std::vector<uint64_t> shares(speed.size(), grains >= least * speed.size() ? least : 0);
  // Each grain goes to whoever would end it first, among equals to the first.
  using End = std::pair<double, size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  auto end_of_next = [&](size_t worker) {
    return End(own_of(own, worker) + seconds_for(shares[worker] + 1, speed[worker], executors[worker]),
               worker);
  };
  for (size_t worker = 0; worker < speed.size(); ++worker) {
    grains -= shares[worker];
    ends.push(end_of_next(worker));
  }
  for (; grains > 0; --grains) {
    const size_t worker = ends.top().second;
    ends.pop();
    ++shares[worker];
    ends.push(end_of_next(worker));
  }
  return shares;
}

std::vector<uint64_t> best_shares(uint64_t grains, std::span<const double> grains_per_second,
                                  std::span<const unsigned> executors) {
  return best_shares_of_at_least(1, grains, grains_per_second, executors);
}

std::vector<uint64_t> even_shares(uint64_t grains, size_t workers) {
  std::vector<uint64_t> shares(workers, grains / workers);
  for (size_t worker = 0; worker < grains % workers; ++worker) ++shares[worker];
  return shares;
}

Slowest slowest_of(std::span<const uint64_t> shares, std::span<const double> speeds,
                   std::span<const unsigned> executors, std::span<const double> own) {
  const std::vector<double> speed = known_speeds(speeds);
  Slowest slowest{0, 0};
  for (size_t worker = 0; worker < shares.size(); ++worker) {
    const double seconds =
        own_of(own, worker) + seconds_for(shares[worker], speed[worker], executors[worker]);
    if (seconds > slowest.seconds) slowest = {worker, seconds};
  }
  return slowest;
}

double step_seconds(std::span<const uint64_t> shares, std::span<const double> speeds,
                    std::span<const unsigned> executors, std::span<const double> own) {
  return slowest_of(shares, speeds, executors, own).seconds;
}

double executor_speed(const WorkerStep& step, unsigned executors) {
  if (step.grains == 0 || step.tokens == 0 || !(step.seconds > 0)) return 0;
  const double tokens_of_grain = static_cast<double>(step.tokens) / static_cast<double>(step.grains);
  return tokens_of_grain * static_cast<double>(rounds(step.grains, executors)) / step.seconds;
}

uint32_t in_equal_portions(uint32_t grains, uint32_t most) {
  const uint32_t portions = (grains - 1) / std::max(most, 1u) + 1;
  return (grains - 1) / portions + 1;
}

uint32_t grains_at_once(uint32_t left, double with_others, unsigned executors, uint32_t wanted) {
  const auto part =
      static_cast<uint32_t>(std::clamp<double>(std::round((left + with_others) / executors), 1, left));
  return in_equal_portions(part, wanted);
}

SharedOut::SharedOut(std::vector<unsigned> executors)
    : executors_(std::move(executors)), works_(executors_) {}

std::vector<SharedOut::Row> SharedOut::cut(const Work& work) const {
  std::vector<Row> rows;
  uint32_t begin = 0;
  for (uint64_t share : shares(work)) {
    const uint32_t end = begin + static_cast<uint32_t>(share);
    rows.push_back({begin, end, std::vector<Dealt>(executors_[rows.size()])});
    begin = end;
  }
  PACELINE_ASSERT(begin == work.grains);
  return rows;
}

// The executors of a worker are equal, so what this one needed for its last grains tells how far the others
// are with theirs.
double SharedOut::grains_with_others(const Row& row, const Claim& claim, double now) {
  const Dealt& own = row.executors[claim.executor];
  const double seconds_of_grain = own.grains == 0 ? 0 : claim.seconds / own.grains;
  double sum = 0;
  for (const Dealt& dealt : row.executors) {
    if (&dealt == &own) continue;
    const double done = seconds_of_grain > 0 ? (now - dealt.since) / seconds_of_grain : 0;
    sum += std::clamp<double>(dealt.grains - done, 0, dealt.grains);
  }
  return sum;
}

Deal SharedOut::next(const Claim& claim, double now) {
  std::vector<Row>* rows = works_.open(claim, [&] { return cut(claim.work); });
  if (!rows) return {};
  Row& row = (*rows)[claim.worker];
  if (row.next == row.end) {
    works_.tell_none(claim);
    return {};
  }
  const uint32_t first = row.next,
                 count = grains_at_once(row.end - first, grains_with_others(row, claim, now),
                                        executors_[claim.worker], claim.wanted);
  row.next += count;
  row.executors[claim.executor] = {count, now};
  return {first, count, row.end - row.next};
}

uint32_t SharedOut::left(const Work& work, uint32_t worker) {
  if (worker >= executors_.size()) return 0;
  const std::vector<Row>* rows = works_.known(work);
  const Row row = rows ? (*rows)[worker] : cut(work)[worker];
  return row.end - row.next;
}

std::unique_ptr<Pace> make_pace(const PaceOptions& options) {
  PACELINE_ASSERT(!options.executors.empty());
  for (unsigned executors : options.executors) PACELINE_ASSERT(executors > 0);
  if (options.policy == "even") return make_even(options);
  if (options.policy == "epoch") return make_epoch(options);
  if (options.policy == "interval") return make_interval(options);
  if (options.policy == "pull") return make_pull(options);
  input_error("--pace {}: not a policy; use even, epoch, interval or pull", options.policy);
}

}  // namespace paceline
