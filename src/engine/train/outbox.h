// Sends the buckets of a step out as soon as every executor of this worker is done with them.
#pragma once
#include "engine/model/learner.h"
#include "engine/pace/crew.h"

namespace paceline {

class Outbox final : public BucketWatch {
 public:
  // send: false gathers, and keeps everything here.
  Outbox(Crew& crew, Learner& learner, unsigned executors, bool send);
  ~Outbox() override;

  void begin(const Batch& batch, const Work& work);
  // By the executors' threads: a bucket of the grain that it is at is in; it gets no more grains.
  void added(unsigned executor, size_t bucket) override;
  void done(unsigned executor);

  // When all executors are done every bucket is out: when each was handed over, by the common clock.
  const std::vector<double>& handed_over() const { return handed_over_; }
  // Waits until all have arrived: when each did, by the common clock.
  std::vector<double> wait();

 private:
  void advance();
  Crew& crew_;
  Learner& learner_;
  bool send_;
  const Batch* batch_ = nullptr;
  Work work_;
  std::mutex mutex_;
  std::vector<size_t> expected_;  // by executor: the bucket that its grain gives next
  std::vector<uint8_t> at_last_;  // by executor: its grain is its last one
  std::vector<size_t> finished_;  // by executor: buckets that it adds nothing to any more
  std::vector<uint64_t> operations_;
  std::vector<double> handed_over_;
};

}  // namespace paceline
