#include "cluster/exchange/background_exchange.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "base/error.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

// What the collectives of a test do, and what was seen of them.
struct Script {
  bool refuse_to_open = false;
  std::atomic<bool> finish = true;               // started operations end at the next look
  std::atomic<bool> fail = false, hang = false;  // in the next look
  std::promise<void> hanging_ends;
  std::atomic<int> looks = 0;
  std::atomic<bool> closed = false;
  std::vector<std::thread::id> callers;
};

class ScriptedCollectives final : public Collectives {
 public:
  explicit ScriptedCollectives(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  Place open() override {
    note_caller();
    if (script_->refuse_to_open) input_error("no door here");
    return {1, 3, 0, 2};
  }
  void start(const Collective& collective) override {
    note_caller();
    started_.push_back(collective.number);
  }
  bool advance(std::vector<uint64_t>& ended) override {
    note_caller();
    ++script_->looks;
    if (script_->hang) script_->hanging_ends.get_future().wait();
    if (script_->fail) work_error("the cable is cut");
    if (!script_->finish) return false;
    ended.swap(started_);
    return true;
  }
  void close() override {
    note_caller();
    script_->closed = true;
  }

 private:
  void note_caller() { script_->callers.push_back(std::this_thread::get_id()); }
  std::shared_ptr<Script> script_;
  std::vector<uint64_t> started_;
};

class BackgroundExchangeTest : public testing::Test {
 protected:
  void open() {
    exchange = std::make_unique<BackgroundExchange>(std::make_unique<ScriptedCollectives>(script));
  }
  std::string failure_of_waiting(uint64_t operation) {
    try {
      exchange->wait(operation);
    } catch (const WorkError& error) {
      return error.what();
    }
    return "it did not fail";
  }
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<BackgroundExchange> exchange;
  std::vector<int32_t> values = std::vector<int32_t>(3000);
};

TEST_F(BackgroundExchangeTest, TheCollectivesSeeOneThreadAlone) {
  open();
  for (int i = 0; i < 100; ++i) exchange->wait(exchange->start_sum(values));
  exchange->leave();
  EXPECT_TRUE(script->closed);
  for (std::thread::id caller : script->callers) {
    EXPECT_EQ(caller, script->callers.front());
    EXPECT_NE(caller, std::this_thread::get_id());
  }
}

TEST_F(BackgroundExchangeTest, TellsItsPlaceAndTheBytesOfARing) {
  open();
  EXPECT_EQ(exchange->rank(), 1u);
  EXPECT_EQ(exchange->size(), 3u);
  EXPECT_EQ(exchange->local_rank(), 0u);
  EXPECT_EQ(exchange->local_size(), 2u);
  exchange->wait(exchange->start_sum(values));
  EXPECT_EQ(exchange->sent_bytes(), 16'000u);  // 12,000 bytes, 2 * 2 / 3 of them
  exchange->broadcast(std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(exchange->sent_bytes(), 16'000u);  // rank 0 sends those
}

TEST_F(BackgroundExchangeTest, NobodyLooksWhileNothingIsUnderWay) {
  open();
  exchange->wait(exchange->start_sum(values));
  const int before = script->looks;
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(script->looks, before);
}

TEST_F(BackgroundExchangeTest, LooksBecomeRareWhileNothingHappens) {
  script->finish = false;
  open();
  exchange->start_sum(values);
  std::this_thread::sleep_for(200ms);
  EXPECT_GT(script->looks, 10);
  EXPECT_LT(script->looks, 2500);  // 500 naps of 400 us, three looks each; naps of 20 us would be 10,000
}

TEST_F(BackgroundExchangeTest, GivesTheMomentInWhichAnOperationEnded) {
  open();
  const uint64_t operation = exchange->start_sum(values);
  std::this_thread::sleep_for(100ms);
  EXPECT_LT(exchange->wait(operation), Exchange::Clock::now() - 50ms);
}

TEST_F(BackgroundExchangeTest, GivingUpWakesAWaiterWithinAMillisecond) {
  script->finish = false;
  auto fastest = Exchange::Clock::duration::max();
  // A busy machine delays some of them, not all.
  for (int i = 0; i < 10; ++i) {
    open();
    const uint64_t operation = exchange->start_sum(values);
    Exchange::Clock::time_point given_up;
    std::thread other([&] {
      std::this_thread::sleep_for(5ms);
      given_up = Exchange::Clock::now();
      exchange->give_up("worker 2 has died");
    });
    EXPECT_EQ(failure_of_waiting(operation), "worker 2 has died");
    const auto woken = Exchange::Clock::now();
    other.join();
    fastest = std::min(fastest, woken - given_up);
  }
  EXPECT_LT(fastest, 1ms);
}

TEST_F(BackgroundExchangeTest, AfterGivingUpEverythingThrowsTheFirstReason) {
  open();
  const uint64_t operation = exchange->start_sum(values);
  exchange->give_up("first");
  exchange->give_up("second");
  EXPECT_EQ(failure_of_waiting(operation), "first");
  EXPECT_THROW(exchange->start_sum(values), WorkError);
  EXPECT_THROW(exchange->leave(), WorkError);
  exchange.reset();
  EXPECT_FALSE(script->closed);
}

TEST_F(BackgroundExchangeTest, AFailureOfTheLibraryReachesWhoeverWaits) {
  script->fail = true;
  open();
  EXPECT_EQ(failure_of_waiting(exchange->start_sum(values)), "the cable is cut");
}

TEST_F(BackgroundExchangeTest, ALibraryThatHangsHoldsUpNeitherAWaiterNorTheEnd) {
  script->hang = true;
  open();
  const auto begin = Exchange::Clock::now();
  const uint64_t operation = exchange->start_sum(values);
  while (script->looks == 0) std::this_thread::yield();
  exchange->give_up("enough");
  EXPECT_EQ(failure_of_waiting(operation), "enough");
  exchange.reset();
  EXPECT_LT(Exchange::Clock::now() - begin, 5s);
  script->hanging_ends.set_value();
}

TEST_F(BackgroundExchangeTest, WhatOpeningThrowsIsThrown) {
  script->refuse_to_open = true;
  EXPECT_THROW(open(), InputError);
}

}  // namespace
}  // namespace paceline
