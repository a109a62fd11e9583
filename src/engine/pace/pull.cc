// pull: the next grains to whoever is free, so that a step is balanced whatever the speeds turn out to be.
// Only its end is foreseen: an executor's last grains are dealt together, when the others are expected to end
// what is left by the time that it ends these. So it computes them at once, and knows that its gradients may
// leave. None to an executor that would end one only after the others could have ended all that is left.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engine/pace/executor_speed.h"
#include "engine/pace/shares.h"
#include "engine/pace/tails.h"

namespace paceline {
namespace {

// Trying a slow executor again may cost this part of the time that has passed since the last try.
constexpr double part_for_trials = 0.005;

double tokens_of_grain(const Work& work) {
  return work.tokens == 0 || work.grains == 0
             ? 1.0
             : static_cast<double>(work.tokens) / static_cast<double>(work.grains);
}

enum class Doing { not_yet_asked, computing, computing_its_last, told_none };

struct ExecutorInWork {
  Doing doing = Doing::not_yet_asked;
  double since = 0;
  uint32_t grains = 0;  // that it was dealt then
};

struct PulledWork {
  uint32_t next = 0, grains = 0;
  std::vector<ExecutorInWork> executors;  // of all workers, one after another
};

// When another executor could begin a grain, and how long it takes for one.
struct Helper {
  double free, seconds;
};

class Pull : public Pace {
 public:
  explicit Pull(const std::vector<unsigned>& executors) : works_(executors), tails_(executors.size()) {
    for (unsigned count : executors) {
      first_.push_back(speeds_.size());
      speeds_.resize(speeds_.size() + count);
    }
  }

  bool is_shared() const override { return true; }
  void add(const Work&, uint64_t, std::span<const WorkerStep> workers) override { tails_.add(workers); }

  Deal next(const Claim& claim, double now) override {
    PulledWork* work = works_.open(claim, [&] { return begin(claim.work); });
    if (!work) return {};
    const size_t executor = first_[claim.worker] + claim.executor;
    const double tokens = tokens_of_grain(claim.work);
    ExecutorInWork& state = work->executors[executor];
    // From here to here: asking and being answered is a part of what a grain costs.
    const bool had_its_last = state.doing == Doing::computing_its_last;
    if (state.doing == Doing::computing || had_its_last)
      speeds_[executor].add((now - state.since) / (state.grains * tokens), now, state.grains);
    if (work->next == work->grains || had_its_last ||
        declines(*work, executor, tokens, now, tails_.beyond_others(claim.worker))) {
      state.doing = Doing::told_none;
      works_.tell_none(claim);
      return {};
    }
    const uint32_t first = work->next;
    const Portion portion = portion_for(*work, executor, tokens, now, claim.wanted);
    state = {portion.is_last ? Doing::computing_its_last : Doing::computing, now, portion.grains};
    work->next += portion.grains;
    return {first, portion.grains, portion.is_last ? 0 : work->grains - work->next};
  }

  uint32_t left(const Work& work, uint32_t) override {
    const PulledWork* known = works_.known(work);
    return known ? known->grains - known->next : work.grains;
  }

 private:
  PulledWork begin(const Work& work) const {
    return {0, work.grains, std::vector<ExecutorInWork>(speeds_.size())};
  }

  struct Portion {
    uint32_t grains;
    bool is_last;  // the executor gets no more: others take what is left
  };

  // What this executor can end until all of what is left could be ended, in equal portions of at most
  // `wanted` grains. One while somebody's speed is not known.
  Portion portion_for(const PulledWork& work, size_t executor, double tokens, double now,
                      uint32_t wanted) const {
    const uint32_t left = work.grains - work.next;
    if (left == 1) return {1, true};
    for (size_t other = 0; other < speeds_.size(); ++other)
      if (work.executors[other].doing != Doing::told_none && !speeds_[other].is_known()) return {1, false};
    const Helper self{now, speeds_[executor].cost_of_many() * tokens};
    std::vector<Helper> all = others(work, executor, tokens, now, self.seconds);
    const bool is_alone = all.empty();
    all.push_back(self);
    const double end = earliest_end(left, now, now + left * self.seconds, all);
    const uint32_t own = static_cast<uint32_t>(
        std::clamp<double>(std::floor((end - now) / self.seconds), 1, static_cast<double>(left)));
    const uint32_t grains = in_equal_portions(own, wanted);
    return {grains, grains == left || (grains == own && !is_alone)};
  }

  // Those who are busy or will still ask, and whose speed is known. Without one nobody is declined, so the
  // last who asks gets all that is left.
  // own: seconds of the one who asks for a grain; a helper that is late by less has only been held up.
  std::vector<Helper> others(const PulledWork& work, size_t executor, double tokens, double now,
                             double own) const {
    std::vector<Helper> result;
    for (size_t other = 0; other < speeds_.size(); ++other) {
      const ExecutorInWork& state = work.executors[other];
      if (other == executor || !may_take_more(state.doing) || !speeds_[other].is_known()) continue;
      double seconds = speeds_[other].cost_of_many() * tokens, free = now;
      if (state.doing == Doing::computing) {
        free = std::max(now, state.since + state.grains * seconds);
        if (now - state.since - state.grains * seconds > own)
          seconds = (now - state.since) / state.grains;  // it has become this slow
      }
      result.push_back({free, seconds});
    }
    return result;
  }

  static bool may_take_more(Doing doing) {
    return doing == Doing::not_yet_asked || doing == Doing::computing;
  }

  // When these could have ended so many grains; between two moments, of which the later is late enough.
  static double earliest_end(double grains, double early, double late, const std::vector<Helper>& helpers) {
    for (int halving = 0; halving < 30; ++halving) {
      const double middle = (early + late) / 2;
      (grains_until(middle, helpers) < grains ? early : late) = middle;
    }
    return late;
  }

  static double grains_until(double end, const std::vector<Helper>& helpers) {
    double count = 0;
    for (const Helper& helper : helpers)
      if (helper.free < end) count += std::floor((end - helper.free) / helper.seconds);
    return count;
  }

  // tail: seconds that it takes this executor's worker to hand its gradients over.
  bool declines(const PulledWork& work, size_t executor, double tokens, double now, double tail) {
    if (!speeds_[executor].is_known()) return false;
    const double seconds = speeds_[executor].cost() * tokens, end = now + seconds + tail;
    const double grains = work.grains - work.next;
    const std::vector<Helper> helpers = others(work, executor, tokens, now, seconds);
    if (grains_until(end, helpers) < grains) return false;
    return !is_worth_a_trial(executor, end, now, grains, helpers);
  }

  // A speed that is not measured would never be seen to change. What a trial loses is what this executor
  // would need longer than the others; with all trials of all executors together it stays a small part.
  bool is_worth_a_trial(size_t executor, double end, double now, double grains,
                        const std::vector<Helper>& helpers) {
    const double late = earliest_end(grains, now, end, helpers);
    const double unmeasured_since = std::max(speeds_[executor].measured(), last_trial_);
    if (end - late > part_for_trials * (now - unmeasured_since)) return false;
    last_trial_ = now;
    return true;
  }

  std::vector<size_t> first_;  // executor of each worker, in speeds_
  std::vector<ExecutorSpeed> speeds_;
  Works<PulledWork> works_;
  Tails tails_;
  double last_trial_ = 0;
};

}  // namespace

std::unique_ptr<Pace> make_pull(const PaceOptions& options) {
  return std::make_unique<Pull>(options.executors);
}

}  // namespace paceline
