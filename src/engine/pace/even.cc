// even: the same number of grains for everyone, as data-parallel training usually does.
#include "engine/pace/shares.h"

namespace paceline {
namespace {

class Even : public SharedOut {
 public:
  using SharedOut::SharedOut;
  void add(const Work&, uint64_t, std::span<const WorkerStep>) override {}

 protected:
  std::vector<uint64_t> shares(const Work& work) const override {
    return even_shares(work.grains, executors().size());
  }
};

}  // namespace

std::unique_ptr<Pace> make_even(const PaceOptions& options) {
  return std::make_unique<Even>(options.executors);
}

}  // namespace paceline
