// Who hears of workers that come to an end, and of the counter's.
#include <thread>

#include "base/error.h"
#include "counter_fixture.h"

namespace paceline {
namespace {

TEST_F(Counter, OthersHearOfAWorkerThatDied) {
  start(3);
  auto zero = client(0), two = client(2);
  { auto dies = silent_worker(1); }
  const std::string sentence = "worker 1 on host b died (its connection closed)";
  EXPECT_EQ(lost_[0].first(), sentence);
  EXPECT_EQ(lost_[2].first(), sentence);
  EXPECT_EQ(gone_.first(), sentence);
  EXPECT_TRUE(zero->next({{1, 0, 2, 1}, 0, 0, 0}).count) << "the counter goes on";
}

TEST_F(Counter, OthersHearOfAWorkerThatIsSilent) {
  start(2, 2);
  auto zero = client(0);
  auto worker = silent_worker(1);
  EXPECT_EQ(lost_[0].first(), "worker 1 on host b has not been heard of for 2 s");
  EXPECT_TRUE(is_closed(worker.second));
  EXPECT_EQ(gone_.count(), 1u);
}

TEST_F(Counter, AGoodbyeIsNotALoss) {
  start(2);
  auto zero = client(0);
  client(1).reset();
  auto one = client(1);
  one.reset();
  std::this_thread::sleep_for(700ms);
  EXPECT_EQ(lost_[0].count() + lost_[1].count() + gone_.count(), 0u);
}

TEST_F(Counter, AllOthersHearWhyOneFailed) {
  start(3);
  auto zero = client(0), one = client(1), two = client(2);
  one->fail("data/reviews: no space left on device");
  one.reset();
  const std::string sentence = "worker 1 on host b failed: data/reviews: no space left on device";
  EXPECT_EQ(lost_[0].first(), sentence);
  EXPECT_EQ(lost_[2].first(), sentence);
  EXPECT_EQ(gone_.first(), sentence);
  two->fail(std::string(5000, 'x'));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(lost_[0].count(), 1u) << "told once";
  EXPECT_EQ(lost_[1].count(), 0u) << "not told of itself";
  EXPECT_EQ(gone_.count(), 2u);
}

TEST_F(Counter, TellAllReachesEveryone) {
  start(2);
  auto zero = client(0), one = client(1);
  server_->tell_all("it is time to go");
  EXPECT_EQ(lost_[0].first(), "it is time to go");
  EXPECT_EQ(lost_[1].first(), "it is time to go");
}

TEST_F(Counter, TheServersEndWakesItsClients) {
  start(2);
  auto zero = client(0), one = client(1);
  const uint16_t port = server_->port();
  server_.reset();
  EXPECT_EQ(lost_[1].first(),
            fmt::format("worker 0 (127.0.0.1 port {}) is gone: its connection closed", port));
  EXPECT_THROW(one->next({{1, 0, 2, 1}, 1, 0, 0}), WorkError);
  EXPECT_THROW(zero->left({1, 0, 2, 1}), WorkError);
  one->fail("nobody hears it, and it does not throw");
}

TEST_F(Counter, AServerThatFallsSilentIsGoneToo) {
  start(1);
  Socket listening = listen_on(0, false);
  CounterClient::Options options = client_options(0);
  options.port = port_of(listening);
  options.silence_seconds = 2;
  std::thread fake([&] {
    const std::vector<Socket> sockets = let_in(listening);
    lost_[0].first();
  });
  CounterClient client(options, [this](const std::string& sentence) { lost_[0].add(sentence); });
  EXPECT_THROW(client.next({{1, 0, 2, 1}, 0, 0, 0}), WorkError);
  fake.join();
  EXPECT_NE(lost_[0].first().find("has not been heard of for 2 s"), std::string::npos) << lost_[0].first();
}

}  // namespace
}  // namespace paceline
