// Which cores a worker computes on, when several share a machine.
#pragma once
#include <optional>
#include <vector>

namespace paceline {

struct CoreShare {
  std::vector<unsigned> cores;  // to stay on; empty: wherever this process may run
  unsigned executors = 1;       // that they are good for
};

// The cores that this process may be scheduled on, in ascending order.
std::vector<unsigned> allowed_cores();

// The part of worker `worker` of `workers` on one machine: neighbouring cores, as many as the others
// have or one more. A quota (in cores' time) that all of them share limits the executors, not the cores:
// other programs under quotas of their own should not meet on the same ones. With more workers than
// cores none is held to any.
CoreShare share_of_cores(const std::vector<unsigned>& allowed, std::optional<double> quota, unsigned worker,
                         unsigned workers);

// This thread, and those that it starts from now on, stay on these cores. Where the system refuses they
// run anywhere, which is slower and nothing else.
void stay_on(const std::vector<unsigned>& cores);

// The part of this process, which then stays on it. bound: the launcher has given each worker cores of
// its own, all of which are used.
CoreShare take_share_of_cores(unsigned worker, unsigned workers, bool bound);

}  // namespace paceline
