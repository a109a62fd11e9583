#include "cluster/exchange/background_exchange.h"

namespace paceline {

BackgroundExchange::BackgroundExchange(std::unique_ptr<Collectives> collectives)
    : communication_(std::make_shared<Communication>(std::move(collectives))),
      thread_([communication = communication_] { communication->run(); }) {
  try {
    communication_->wait_until_open();
  } catch (...) {
    thread_.join();
    throw;
  }
}

BackgroundExchange::~BackgroundExchange() {
  if (!thread_.joinable()) return;
  communication_->fail("the exchange has ended");
  if (communication_->has_stopped_after_failure()) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

uint64_t BackgroundExchange::start_sum(std::span<int32_t> values) {
  return communication_->start(CollectiveKind::sum, std::as_writable_bytes(values));
}

uint64_t BackgroundExchange::start_max(std::span<uint32_t> values) {
  return communication_->start(CollectiveKind::max, std::as_writable_bytes(values));
}

Exchange::Clock::time_point BackgroundExchange::wait(uint64_t operation) {
  return communication_->wait(operation);
}

void BackgroundExchange::broadcast(std::span<std::byte> bytes) {
  wait(communication_->start(CollectiveKind::broadcast, bytes));
}

uint64_t BackgroundExchange::sent_bytes() const { return communication_->sent_bytes(); }

void BackgroundExchange::give_up(const std::string& reason) { communication_->fail(reason); }

void BackgroundExchange::leave() {
  // Whoever closes blocks until all do, and burns a core meanwhile: all come here first.
  wait(communication_->start(CollectiveKind::barrier, {}));
  communication_->close();
  thread_.join();
}

}  // namespace paceline
