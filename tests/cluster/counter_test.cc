#include "cluster/launch/counter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "cluster/launch/addresses.h"
#include "cluster/launch/clock_comparison.h"
#include "cluster/launch/counter_protocol.h"
#include "cluster/launch/sockets.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

// First come, first served.
class PlainSource : public GrainSource {
 public:
  Deal next(const Claim& claim, double) override {
    uint32_t& dealt = dealt_[claim.work.step];
    if (dealt == claim.work.grains) return {};
    const uint32_t first = dealt, count = std::min(claim.wanted, claim.work.grains - dealt);
    dealt += count;
    return {first, count, claim.work.grains - dealt};
  }
  uint32_t left(const Work& work, uint32_t worker) override {
    return work.grains - dealt_[work.step] + 1000 * worker;
  }

 private:
  std::map<uint64_t, uint32_t> dealt_;
};

// What was said from another thread.
class Sentences {
 public:
  void add(const std::string& sentence) {
    std::lock_guard lock(mutex_);
    all_.push_back(sentence);
    changed_.notify_all();
  }
  // The first, or "" after ten seconds.
  std::string first() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [&] { return !all_.empty(); });
    return all_.empty() ? "" : all_[0];
  }
  size_t count() {
    std::lock_guard lock(mutex_);
    return all_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

class Counter : public testing::Test {
 protected:
  void start(unsigned workers, double silence_seconds = 30) {
    options_.workers = workers;
    options_.token = token_;
    options_.silence_seconds = silence_seconds;
    server_ = std::make_unique<CounterServer>(
        options_, source_, [this](unsigned, const std::string& sentence) { gone_.add(sentence); });
  }
  CounterClient::Options client_options(unsigned worker) const {
    CounterClient::Options options;
    options.addresses = {"127.0.0.1"};
    options.port = server_->port();
    options.worker = worker;
    options.token = token_;
    options.host = std::string(1, static_cast<char>('a' + worker));
    return options;
  }
  std::unique_ptr<CounterClient> client(unsigned worker) {
    return std::make_unique<CounterClient>(
        client_options(worker), [this, worker](const std::string& sentence) { lost_[worker].add(sentence); });
  }
  Socket stranger() const {
    std::string problem;
    Socket socket = connect_to("127.0.0.1", server_->port(), SteadyClock::now() + 5s, problem);
    EXPECT_TRUE(socket.is_open()) << problem;
    set_timeout(socket, 20);
    return socket;
  }
  // Both connections of a worker, without the client's heartbeats.
  std::pair<Socket, Socket> silent_worker(unsigned worker) const {
    return {admitted(worker, CounterRole::requests), admitted(worker, CounterRole::heartbeats)};
  }
  Socket admitted(unsigned worker, CounterRole role) const {
    Socket socket = stranger();
    send_all(socket, hello(worker, role, token_));
    std::vector<std::byte> welcome(8);
    EXPECT_TRUE(receive_all(socket, welcome));
    return socket;
  }
  static std::vector<std::byte> hello(unsigned worker, CounterRole role, const std::string& token) {
    Frame frame;
    frame.kind = FrameKind::hello;
    frame.hello = {counter_version, worker, role, token, "b"};
    return encode(frame);
  }
  static bool is_closed(const Socket& socket) {
    std::byte byte;
    return !receive_all(socket, {&byte, 1});
  }

  std::string token_ = random_token();
  PlainSource source_;
  CounterServer::Options options_;
  std::unique_ptr<CounterServer> server_;
  Sentences gone_, lost_[4];
};

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

// Lets a worker in and tells the time: the connection of its requests, then that of its heartbeats.
std::vector<Socket> let_in(const Socket& listening) {
  bool out_of_files = false;
  std::vector<Socket> sockets;
  while (sockets.size() < 2) {
    Socket socket = accept_from(listening, out_of_files);
    if (!socket.is_open()) {
      std::this_thread::sleep_for(1ms);
      continue;
    }
    send_all(socket, encode(frame_of(FrameKind::welcome)));
    sockets.push_back(std::move(socket));
  }
  for (int i = 0; i < 16; ++i) send_all(sockets[0], encode(frame_of(FrameKind::time)));
  return sockets;
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

TEST(CounterProtocol, FramesSurviveTheWire) {
  Frame frame;
  frame.kind = FrameKind::claim;
  frame.claim = {{1ull << 40, 7, 123, 1ull << 50}, 0, 5, 0.25, UINT32_MAX};
  const Frame claim = decode(encode(frame)).value();
  EXPECT_EQ(claim.claim.work.step, 1ull << 40);
  EXPECT_EQ(claim.claim.work.tokens, 1ull << 50);
  EXPECT_EQ(claim.claim.executor, 5u);
  EXPECT_EQ(claim.claim.seconds, 0.25);
  EXPECT_EQ(claim.claim.wanted, UINT32_MAX);
  frame.kind = FrameKind::sentence;
  frame.sentence = std::string(max_sentence_bytes - 1, 'x') + "ä";
  EXPECT_EQ(decode(encode(frame)).value().sentence, std::string(max_sentence_bytes - 1, 'x'))
      << "cut between characters";
  auto bytes = encode(frame);
  bytes[6] = std::byte{0xFF};  // the length
  EXPECT_FALSE(decode(bytes));
}

// A day in which the other clock gains 40 millionths, asked every ten seconds; the way there and back takes
// unequal times, now and then very long ones.
TEST(ClockComparison, FollowsAClockThatDrifts) {
  ClockComparison clocks;
  double largest_error = 0;
  for (int i = 1; i < 8640; ++i) {
    const double asked = 10.0 * i, there = i % 7 == 0 ? 0.5 : 1e-4 * (1 + i % 3), back = 1e-4 * (1 + i % 5);
    auto theirs = [](double mine) { return 1000 + mine * (1 + 40e-6); };
    clocks.add(asked, theirs(asked + there), asked + there + back);
    largest_error = std::max(largest_error, std::abs(asked + clocks.offset() - theirs(asked)));
  }
  EXPECT_LT(largest_error, 1.5e-3);
}

TEST(CounterToken, IsRandomAndHexadecimal) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 32u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, random_token());
  EXPECT_TRUE(is_same_token(token, std::string(token)));
  EXPECT_FALSE(is_same_token(token, token.substr(1)));
  EXPECT_FALSE(is_same_token("", "a"));
}

}  // namespace
}  // namespace paceline
