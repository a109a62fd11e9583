#include "engine/train/outbox.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {

Outbox::Outbox(Crew& crew, Learner& learner, unsigned executors, bool send)
    : crew_(crew),
      learner_(learner),
      send_(send),
      expected_(executors),
      at_last_(executors),
      finished_(executors) {
  learner_.set_watch(this);
}

Outbox::~Outbox() { learner_.set_watch(nullptr); }

void Outbox::begin(const Batch& batch, const Work& work) {
  batch_ = &batch;
  work_ = work;
  std::ranges::fill(expected_, size_t{0});
  std::ranges::fill(at_last_, uint8_t{0});
  std::ranges::fill(finished_, size_t{0});
  operations_.clear();
  handed_over_.clear();
}

void Outbox::added(unsigned executor, size_t bucket) {
  // A grain gives its buckets in their order, or a bucket could leave before its last grain is in it.
  PACELINE_ASSERT(bucket == expected_[executor]);
  expected_[executor] = (bucket + 1) % learner_.buckets();
  if (!at_last_[executor]) {
    if (crew_.has_more(work_, executor)) return;
    at_last_[executor] = 1;
  }
  std::lock_guard lock(mutex_);
  finished_[executor] = bucket + 1;
  advance();
}

void Outbox::done(unsigned executor) {
  std::lock_guard lock(mutex_);
  finished_[executor] = learner_.buckets();
  advance();
}

// In the order of the buckets, the same on every worker.
void Outbox::advance() {
  const size_t ready = *std::ranges::min_element(finished_);
  while (handed_over_.size() < ready) {
    const std::span<int32_t> sums = learner_.gather(*batch_, handed_over_.size());
    handed_over_.push_back(crew_.now());
    if (send_) operations_.push_back(crew_.exchange().start_sum(sums));
  }
}

std::vector<double> Outbox::wait() {
  std::vector<double> arrived;
  for (uint64_t operation : operations_) arrived.push_back(crew_.time_of(crew_.exchange().wait(operation)));
  return arrived;
}

}  // namespace paceline
