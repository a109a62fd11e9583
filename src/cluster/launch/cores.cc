#include "cluster/launch/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/machine/limits.h"

namespace paceline {
namespace {

struct Part {
  size_t begin, size;
};

// Part `index` of `count` of the numbers below `total`.
Part part_of(size_t total, unsigned index, unsigned count) {
  const size_t begin = total * index / count;
  return {begin, total * (index + 1) / count - begin};
}

// Machines of more cores than cpu_set_t has room for.
constexpr size_t most_cores = 1 << 16;

class CoreSet {
 public:
  CoreSet() : set_(CPU_ALLOC(most_cores)) {
    if (set_ == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(bytes(), set_);
  }
  ~CoreSet() { CPU_FREE(set_); }
  CoreSet(const CoreSet&) = delete;
  CoreSet& operator=(const CoreSet&) = delete;
  cpu_set_t* get() { return set_; }
  static size_t bytes() { return CPU_ALLOC_SIZE(most_cores); }
  void add(size_t core) { CPU_SET_S(core, bytes(), set_); }
  bool has(size_t core) const { return CPU_ISSET_S(core, bytes(), set_); }

 private:
  cpu_set_t* set_;
};

unsigned quota_cores(std::optional<double> quota, size_t cores) {
  if (!quota) return static_cast<unsigned>(cores);
  return static_cast<unsigned>(std::min(std::max(1.0, std::ceil(*quota)), static_cast<double>(cores)));
}

}  // namespace

std::vector<unsigned> allowed_cores() {
  std::vector<unsigned> cores;
  CoreSet set;
  if (sched_getaffinity(0, CoreSet::bytes(), set.get()) != 0) return cores;
  for (unsigned core = 0; core < most_cores; ++core)
    if (set.has(core)) cores.push_back(core);
  return cores;
}

CoreShare share_of_cores(const std::vector<unsigned>& allowed, std::optional<double> quota, unsigned worker,
                         unsigned workers) {
  PACELINE_ASSERT(worker < workers);
  if (allowed.size() < workers) return {};
  const Part part = part_of(allowed.size(), worker, workers);
  const auto begin = allowed.begin() + static_cast<ptrdiff_t>(part.begin);
  CoreShare share{{begin, begin + static_cast<ptrdiff_t>(part.size)}, 1};
  const size_t of_quota = part_of(quota_cores(quota, allowed.size()), worker, workers).size;
  share.executors = static_cast<unsigned>(std::clamp<size_t>(of_quota, 1, part.size));
  return share;
}

void stay_on(const std::vector<unsigned>& cores) {
  CoreSet set;
  for (unsigned core : cores) set.add(core);
  if (!cores.empty()) sched_setaffinity(0, CoreSet::bytes(), set.get());
}

CoreShare take_share_of_cores(unsigned worker, unsigned workers, bool bound) {
  const MachineLimits limits = read_limits();
  if (bound) return {{}, limits.usable_cores()};
  const std::optional<double> quota = limits.quota ? std::optional(limits.quota->cores) : std::nullopt;
  CoreShare share = share_of_cores(allowed_cores(), quota, worker, workers);
  stay_on(share.cores);
  return share;
}

}  // namespace paceline
