// Who gets grains, who is let in, and where the counter listens.
#include <algorithm>
#include <thread>

#include "base/error.h"
#include "cluster/launch/addresses.h"
#include "counter_fixture.h"

namespace paceline {
namespace {

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

TEST_F(Counter, ManyExecutorsTakeEveryGrainOnceAndSoon) {
  start(3);
  constexpr uint32_t grains = 1000, steps = 5;
  std::vector<std::unique_ptr<CounterClient>> clients;
  for (unsigned worker : {0u, 1u, 2u}) clients.push_back(client(worker));
  std::mutex mutex;
  std::map<std::pair<uint64_t, uint32_t>, int> taken;
  std::vector<double> seconds;
  std::vector<std::thread> threads;
  for (auto& one : clients)
    for (uint32_t executor : {0u, 1u})
      threads.emplace_back([&, executor] {
        for (uint64_t step = 1; step <= steps; ++step)
          for (;;) {
            const auto begin = SteadyClock::now();
            const Deal deal = one->next({{step, 0, grains, 1}, 0, executor, 0.1, 1 + executor});
            std::lock_guard lock(mutex);
            seconds.push_back(seconds_of(SteadyClock::now()) - seconds_of(begin));
            if (deal.count == 0) break;
            for (uint32_t i = 0; i < deal.count; ++i) ++taken[{step, deal.first + i}];
          }
      });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken.size(), grains * steps);
  for (const auto& [grain, times] : taken) ASSERT_EQ(times, 1);
  const double typical = median(seconds);
  fmt::print("a claim takes {:.0f} us (median of {}, six threads at once)\n", typical * 1e6, seconds.size());
  EXPECT_LT(typical, 0.002);
}

TEST_F(Counter, ClaimsCarryTheWorkAndTheWorkersNumber) {
  start(3);
  auto two = client(2);
  EXPECT_EQ(two->left({9, 0, 5, 1}), 2005u);
  const Deal deal = two->next({{9, 0, 5, 1}, 0, 0, 0, 2});
  EXPECT_EQ(deal.first, 0u);
  EXPECT_EQ(deal.count, 2u);
  EXPECT_EQ(deal.left, 3u);
}

TEST_F(Counter, StrangersDisturbNobody) {
  start(2);
  auto zero = client(0);
  Socket wrong = stranger(), garbage = stranger(), huge = stranger(), half = stranger(), silent = stranger();
  send_all(wrong, hello(1, CounterRole::requests, std::string(32, '0')));
  const std::string text = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
  send_all(garbage, std::as_bytes(std::span(text)));
  send_all(huge, std::vector<std::byte>(100000, std::byte{0xFF}));
  const auto whole = hello(1, CounterRole::requests, token_);
  send_all(half, std::span(whole).first(50));
  EXPECT_TRUE(is_closed(wrong));
  EXPECT_TRUE(is_closed(garbage));
  EXPECT_TRUE(is_closed(huge));
  auto one = client(1);
  EXPECT_TRUE(one->next({{1, 0, 2, 1}, 1, 0, 0}).count);
  EXPECT_TRUE(zero->next({{1, 0, 2, 1}, 0, 0, 0}).count);
  EXPECT_TRUE(is_closed(half)) << "after five seconds";
  EXPECT_TRUE(is_closed(silent));
  EXPECT_EQ(lost_[0].count() + lost_[1].count() + gone_.count(), 0u);
}

TEST_F(Counter, OfManyStrangersTheOldestIsClosed) {
  start(1);
  auto zero = client(0);
  std::vector<Socket> crowd;
  for (int i = 0; i < 70; ++i) crowd.push_back(stranger());
  const auto begin = SteadyClock::now();
  EXPECT_TRUE(is_closed(crowd[0]));
  EXPECT_LT(SteadyClock::now() - begin, 3s) << "before its time was over";
  EXPECT_TRUE(zero->next({{1, 0, 2, 1}, 0, 0, 0}).count);
}

TEST_F(Counter, AWorkerThatBreaksTheProtocolIsClosed) {
  start(2);
  auto zero = client(0);
  auto [requests, heartbeats] = silent_worker(1);
  Frame frame;
  frame.kind = FrameKind::sentence;
  frame.sentence = "a worker does not send these";
  send_all(heartbeats, encode(frame));
  EXPECT_TRUE(is_closed(heartbeats));
  EXPECT_EQ(lost_[0].first(), "worker 1 on host b died (its connection closed)");
}

TEST_F(Counter, APortInUseIsNamed) {
  start(1);
  for (bool everywhere : {false, true}) {
    CounterServer::Options taken = options_;
    taken.port = server_->port();
    taken.everywhere = everywhere;
    try {
      CounterServer other(taken, source_, {});
      FAIL() << "listens";
    } catch (const InputError& error) {
      EXPECT_EQ(
          error.what(),
          fmt::format("--port {}: in use by another program; name another or leave --port out", taken.port));
    }
  }
}

TEST_F(Counter, TheClockIsTheServers) {
  start(2);
  auto one = client(1);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(one->clock_offset(), 0, 0.005);
}

TEST_F(Counter, GrainsThatDoNotExistOrWereNotAskedForAreRefused) {
  start(1);
  Socket listening = listen_on(0, false);
  CounterClient::Options options = client_options(0);
  options.port = port_of(listening);
  const std::vector<Deal> bad = {{0, 4, 0}, {8, 3, 0}, {10, 1, 0}, {UINT32_MAX, 2, 0}, {1, UINT32_MAX, 0}};
  std::thread fake([&] {
    const std::vector<Socket> sockets = let_in(listening);
    Frame answer = frame_of(FrameKind::deal);
    for (const Deal& deal : bad) {
      answer.deal = deal;
      send_all(sockets[0], encode(answer));
    }
    answer.deal = {7, 3, 0};
    send_all(sockets[0], encode(answer));
    send_all(sockets[0], encode(frame_of(FrameKind::heard)));
    std::this_thread::sleep_for(100ms);
  });
  {
    CounterClient client(options, {});
    for (const Deal& deal : bad)
      EXPECT_THROW(client.next({{1, 0, 10, 1}, 0, 0, 0, 3}), WorkError) << deal.first << " " << deal.count;
    EXPECT_EQ(client.next({{1, 0, 10, 1}, 0, 0, 0, 3}).first, 7u);
  }
  fake.join();
}

TEST_F(Counter, AddressesAreTriedInOrderAndNamesToo) {
  start(2);
  CounterClient::Options options = client_options(0);
  options.addresses = {"no-such-host.invalid", "127.0.0.9", "localhost"};
  CounterClient zero(options, {});
  EXPECT_TRUE(zero.next({{1, 0, 2, 1}, 0, 0, 0}).count);
}

TEST_F(Counter, ListensEverywhereWhenToldTo) {
  options_.everywhere = true;
  start(2);
  std::vector<std::string> addresses = own_addresses();
  if (addresses.empty()) GTEST_SKIP() << "this machine has loopback alone";
  CounterClient::Options options = client_options(0);
  options.addresses = {addresses.front()};
  options.connect_seconds = 2;
  CounterClient zero(options, {});
  EXPECT_TRUE(zero.next({{1, 0, 2, 1}, 0, 0, 0}).count);
  for (const std::string& address : addresses) EXPECT_FALSE(address.starts_with("127.") || address == "::1");
}

std::string problem_of(const CounterClient::Options& options) {
  try {
    CounterClient client(options, {});
    return "";
  } catch (const WorkError& error) {
    return error.what();
  }
}

TEST_F(Counter, WhoIsNotLetInIsToldWhy) {
  start(2);
  auto zero = client(0);
  CounterClient::Options options = client_options(0);
  EXPECT_EQ(problem_of(options),
            "worker 0 is connected to worker 0 at 127.0.0.1 already; give every worker a number of its own");
  options.worker = 2;
  EXPECT_EQ(problem_of(options),
            "worker 0 at 127.0.0.1 has no place for worker 2; start as many workers as it expects");
  options.worker = 1;
  options.token = "wrong";
  const auto begin = SteadyClock::now();
  EXPECT_NE(problem_of(options).find("did not let it in: another token"), std::string::npos);
  EXPECT_LT(SteadyClock::now() - begin, 5s) << "without trying on for long";
}

TEST_F(Counter, AnUnreachableServerIsNamed) {
  start(1);
  CounterClient::Options options = client_options(0);
  server_.reset();
  options.connect_seconds = 0.5;
  EXPECT_EQ(problem_of(options),
            fmt::format("worker 0 cannot reach worker 0 on port {}: 127.0.0.1 (Connection "
                        "refused); is a firewall in between?",
                        options.port));
}

}  // namespace
}  // namespace paceline
