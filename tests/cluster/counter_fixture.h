// A counter with its clients, and strangers that come to it.
#pragma once
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "cluster/launch/counter.h"
#include "cluster/launch/counter_protocol.h"
#include "cluster/launch/sockets.h"

namespace paceline {

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

  // Lets a worker in and tells the time: the connection of its requests, then that of its heartbeats.
  static std::vector<Socket> let_in(const Socket& listening) {
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

  std::string token_ = random_token();
  PlainSource source_;
  CounterServer::Options options_;
  std::unique_ptr<CounterServer> server_;
  Sentences gone_, lost_[4];
};

}  // namespace paceline
