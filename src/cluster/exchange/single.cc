#include "cluster/exchange/exchange.h"

namespace paceline {
namespace {

class SingleExchange final : public Exchange {
  unsigned rank() const override { return 0; }
  unsigned size() const override { return 1; }
  unsigned local_rank() const override { return 0; }
  unsigned local_size() const override { return 1; }
  uint64_t start_sum(std::span<int32_t>) override { return 0; }
  uint64_t start_max(std::span<uint32_t>) override { return 0; }
  Clock::time_point wait(uint64_t) override { return Clock::now(); }
  void broadcast(std::span<std::byte>) override {}
  uint64_t sent_bytes() const override { return 0; }
  void give_up(const std::string&) override {}
  void leave() override {}
};

}  // namespace

std::unique_ptr<Exchange> make_single_exchange() { return std::make_unique<SingleExchange>(); }

}  // namespace paceline
