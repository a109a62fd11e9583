// epoch: shares from the speeds of the last whole epoch; even in the first one. That an epoch is over shows
// with the first step of the next, so shares change from its second step on.
#include "base/error.h"
#include "engine/pace/shares.h"

namespace paceline {
namespace {

class Epoch : public SharedOut {
 public:
  explicit Epoch(const std::vector<unsigned>& executors) : SharedOut(executors), sums_(executors.size()) {}

  void add(const Work&, uint64_t epoch, std::span<const WorkerStep> workers) override {
    PACELINE_ASSERT(workers.size() == sums_.size());
    if (started_ && epoch != epoch_) end_epoch();
    epoch_ = epoch;
    started_ = true;
    for (size_t worker = 0; worker < workers.size(); ++worker) {
      const double speed = executor_speed(workers[worker], executors()[worker]);
      if (speed == 0) continue;
      sums_[worker].tokens += speed * workers[worker].seconds;
      sums_[worker].seconds += workers[worker].seconds;
    }
  }

 protected:
  std::vector<uint64_t> shares(const Work& work) const override {
    return speeds_.empty() ? even_shares(work.grains, executors().size())
                           : best_shares(work.grains, speeds_, executors());
  }

 private:
  struct Sum {
    double tokens = 0, seconds = 0;  // tokens of one executor
  };

  void end_epoch() {
    speeds_.resize(sums_.size(), 0);
    for (size_t worker = 0; worker < sums_.size(); ++worker)
      if (sums_[worker].seconds > 0) speeds_[worker] = sums_[worker].tokens / sums_[worker].seconds;
    sums_.assign(sums_.size(), {});
  }

  std::vector<Sum> sums_;
  std::vector<double> speeds_;  // of the last epoch; a worker without a grain keeps its own
  uint64_t epoch_ = 0;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Pace> make_epoch(const PaceOptions& options) {
  return std::make_unique<Epoch>(options.executors);
}

}  // namespace paceline
