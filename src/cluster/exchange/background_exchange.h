// An exchange whose operations are moved on by a thread of its own.
#pragma once
#include <memory>
#include <thread>

#include "cluster/exchange/communication.h"
#include "cluster/exchange/exchange.h"

namespace paceline {

class BackgroundExchange final : public Exchange {
 public:
  // Returns when every worker has come here; throws what open() of the collectives throws.
  explicit BackgroundExchange(std::unique_ptr<Collectives> collectives);
  // Without leave() before, the other workers wait for this one until their launcher ends them.
  ~BackgroundExchange() override;
  unsigned rank() const override { return communication_->place().rank; }
  unsigned size() const override { return communication_->place().size; }
  unsigned local_rank() const override { return communication_->place().local_rank; }
  unsigned local_size() const override { return communication_->place().local_size; }
  uint64_t start_sum(std::span<int32_t> values) override;
  uint64_t start_max(std::span<uint32_t> values) override;
  Clock::time_point wait(uint64_t operation) override;
  void broadcast(std::span<std::byte> bytes) override;
  uint64_t sent_bytes() const override;
  void give_up(const std::string& reason) override;
  void leave() override;

 private:
  // Outlives this object when the thread hangs in a call that will never return.
  std::shared_ptr<Communication> communication_;
  std::thread thread_;
};

}  // namespace paceline
