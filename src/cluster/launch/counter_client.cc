#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/error.h"
#include "cluster/launch/clock_comparison.h"
#include "cluster/launch/counter_entry.h"
#include "cluster/launch/sockets.h"

namespace paceline {
namespace {

constexpr std::chrono::seconds heartbeat_interval{1};
constexpr int clock_exchanges = 16;
constexpr double seconds_between_comparisons = 10;
// The server closes whoever does not know the token; rarely also one of many who come at once.
constexpr int max_refusals = 3;

SteadyClock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

struct CounterClient::State {
  State(const Options& chosen, std::function<void(const std::string&)> tell)
      : options(chosen), lost(std::move(tell)) {}

  const Options options;
  const std::function<void(const std::string&)> lost;
  std::string server;  // for messages
  Waker waker;
  std::atomic<bool> stopping{false}, server_gone{false};

  std::mutex request_mutex;  // of requests
  Socket requests, heartbeats;
  ClockComparison clocks;  // of whoever compares them
  double compared = 0;
  std::atomic<double> clock_offset{0};  // the server's clock minus this one's
  bool has_lost = false;                // the thread's own
  std::thread thread;

  void connect();
  bool try_address(const std::string& address, SteadyClock::time_point deadline, std::string& problem);
  void compare_clocks();
  Frame ask(const Frame& request, FrameKind expected);
  void run();
  bool hear();
  void lose(const std::string& sentence, bool is_server);
};

CounterClient::CounterClient(const Options& options, std::function<void(const std::string&)> lost)
    : state_(std::make_unique<State>(options, std::move(lost))) {
  PACELINE_ASSERT(options.token.size() <= max_token_bytes);
  state_->connect();
  state_->compare_clocks();
  state_->thread = start_thread([state = state_.get()] { state->run(); });
}

CounterClient::~CounterClient() {
  state_->stopping = true;
  try {
    if (!state_->server_gone) state_->ask(frame_of(FrameKind::goodbye), FrameKind::heard);
  } catch (const WorkError&) {  // NOLINT(bugprone-empty-catch): nobody is left to say goodbye to
  }
  state_->waker.wake();
  state_->thread.join();
}

Deal CounterClient::next(const Claim& claim) {
  Frame request = frame_of(FrameKind::claim);
  request.claim = claim;
  const Deal deal = state_->ask(request, FrameKind::deal).deal;
  const uint32_t grains = claim.work.grains;
  if (deal.count > claim.wanted || deal.count > grains || deal.first > grains - deal.count)
    work_error("worker 0 ({}) deals grains {} to {} of {} where {} at most were asked for", state_->server,
               deal.first, uint64_t{deal.first} + deal.count, grains, claim.wanted);
  return deal;
}

uint32_t CounterClient::left(const Work& work) {
  Frame request = frame_of(FrameKind::left);
  request.claim.work = work;
  return state_->ask(request, FrameKind::deal).deal.left;
}

double CounterClient::clock_offset() const { return state_->clock_offset; }

void CounterClient::follow_clock() {
  if (seconds_of(SteadyClock::now()) - state_->compared > seconds_between_comparisons)
    state_->compare_clocks();
}

void CounterClient::fail(const std::string& sentence) {
  Frame request = frame_of(FrameKind::failure);
  request.sentence = sentence;
  try {
    state_->ask(request, FrameKind::heard);
  } catch (const WorkError&) {  // NOLINT(bugprone-empty-catch): the server knows that this worker is gone
  }
}

void CounterClient::State::connect() {
  const auto deadline = SteadyClock::now() + duration_of(options.connect_seconds);
  std::string problems;
  int refusals = 0;
  do {
    problems.clear();
    for (const std::string& address : options.addresses) {
      const auto now = SteadyClock::now();
      if (now > deadline && !problems.empty()) break;
      std::string problem;
      if (try_address(address, std::min(deadline, now + duration_of(seconds_per_try)), problem)) return;
      refusals += problem == not_let_in;
      problems += fmt::format("{}{} ({})", problems.empty() ? "" : ", ", address, problem);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (SteadyClock::now() < deadline && refusals < max_refusals);
  work_error("worker {} cannot reach worker 0 on port {}: {}; {}", options.worker, options.port, problems,
             refusals > 0 ? "start all workers of a run together" : "is a firewall in between?");
}

bool CounterClient::State::try_address(const std::string& address, SteadyClock::time_point deadline,
                                       std::string& problem) {
  requests.close();
  requests = enter_counter(options, address, CounterRole::requests, deadline, problem);
  if (!requests.is_open()) return false;
  heartbeats = enter_counter(options, address, CounterRole::heartbeats, deadline, problem);
  server = fmt::format("{} port {}", address, options.port);
  return heartbeats.is_open();
}

void CounterClient::State::compare_clocks() {
  for (int i = 0; i < clock_exchanges; ++i) {
    const double asked = seconds_of(SteadyClock::now());
    const double time = ask(frame_of(FrameKind::clock), FrameKind::time).time;
    clocks.add(asked, time, seconds_of(SteadyClock::now()));
  }
  clock_offset = clocks.offset();
  compared = seconds_of(SteadyClock::now());
}

Frame CounterClient::State::ask(const Frame& request, FrameKind expected) {
  std::lock_guard lock(request_mutex);
  std::optional<Frame> answer;
  if (send_frame(requests, request)) answer = receive_frame(requests);
  if (answer && answer->kind == expected) return *std::move(answer);
  // After half an answer the next one could not be told from the rest of it.
  shutdown(requests.fd(), SHUT_RDWR);
  work_error("the connection to worker 0 ({}) is gone", server);
}

void CounterClient::State::run() {
  auto next_beat = SteadyClock::now();
  auto heard = next_beat, last_round = next_beat;
  while (!stopping) {
    auto now = SteadyClock::now();
    // While this process was stopped itself, nobody could be heard.
    if (now - last_round > 2 * heartbeat_interval) heard = std::min(now, heard + (now - last_round));
    last_round = now;
    if (now >= next_beat) {
      if (!send_frame(heartbeats, frame_of(FrameKind::heartbeat)))
        return lose(fmt::format("worker 0 ({}) is gone: its connection closed", server), true);
      next_beat = now + heartbeat_interval;
    }
    if (std::chrono::duration<double>(now - heard).count() > options.silence_seconds)
      return lose(
          fmt::format("worker 0 ({}) has not been heard of for {:g} s", server, options.silence_seconds),
          true);
    pollfd polled[] = {{heartbeats.fd(), POLLIN, 0}, {waker.fd(), POLLIN, 0}};
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next_beat - now);
    if (poll(polled, 2, static_cast<int>(std::max<int64_t>(0, wait.count()))) <= 0 || !polled[0].revents)
      continue;
    if (!hear()) return lose(fmt::format("worker 0 ({}) is gone: its connection closed", server), true);
    heard = SteadyClock::now();
  }
}

bool CounterClient::State::hear() {
  const std::optional<Frame> frame = receive_frame(heartbeats);
  if (!frame) return false;
  if (frame->kind == FrameKind::sentence) lose(frame->sentence, false);
  return true;
}

void CounterClient::State::lose(const std::string& sentence, bool is_server) {
  if (is_server) {
    server_gone = true;
    shutdown(requests.fd(), SHUT_RDWR);  // wakes whoever waits for an answer
  }
  if (stopping || std::exchange(has_lost, true)) return;
  if (lost) lost(sentence);
}

}  // namespace paceline
