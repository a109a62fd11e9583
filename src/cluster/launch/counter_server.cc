#include <poll.h>

#include <list>
#include <mutex>

#include "base/error.h"
#include "cluster/launch/counter_connection.h"
#include "cluster/launch/counter_members.h"

namespace paceline {
namespace {

constexpr size_t max_strangers = 64;  // beyond the two of every worker that has not said hello yet
constexpr std::chrono::seconds stranger_patience{5};

}  // namespace

struct CounterServer::State {
  State(const Options& chosen, GrainSource& grains, std::function<void(unsigned, const std::string&)> gone)
      : options(chosen),
        source(grains),
        listening(listen_on(options.port, options.everywhere)),
        members(options.workers, options.silence_seconds, std::move(gone)) {}

  const Options options;
  GrainSource& source;
  const Socket listening;
  Waker waker;

  std::mutex mutex;  // of the next two
  std::vector<std::string> announcements;
  bool stopping = false;

  // The thread's own.
  std::list<CounterConnection> connections;  // in the order of their coming
  CounterMembers members;
  SteadyClock::time_point last_round = SteadyClock::now();
  bool out_of_files = false;
  std::thread thread;

  void run();
  void sleep(std::vector<pollfd>& polled);
  bool deliver_announcements();
  void accept_all();
  void drop_oldest_stranger();
  void handle(CounterConnection& connection, const Frame& frame);
  void let_in(CounterConnection& connection, const Frame& frame);
  void answer(CounterConnection& connection, const Frame& frame);
  void end(CounterConnection& connection);
  void watch_time();
};

CounterServer::CounterServer(const Options& options, GrainSource& source,
                             std::function<void(unsigned, const std::string&)> gone)
    : state_(std::make_unique<State>(options, source, std::move(gone))) {
  PACELINE_ASSERT(options.token.size() <= max_token_bytes);
  state_->thread = start_thread([state = state_.get()] { state->run(); });
}

CounterServer::~CounterServer() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->waker.wake();
  state_->thread.join();
}

uint16_t CounterServer::port() const { return port_of(state_->listening); }

void CounterServer::tell_all(const std::string& sentence) {
  {
    std::lock_guard lock(state_->mutex);
    state_->announcements.push_back(sentence);
  }
  state_->waker.wake();
}

void CounterServer::State::run() {
  std::vector<pollfd> polled;
  for (;;) {
    sleep(polled);
    if (!deliver_announcements()) return;
    size_t i = 2;
    for (CounterConnection& connection : connections) {
      const short events = polled[i++].revents;
      if (events & POLLOUT) connection.flush();
      if (events & ~POLLOUT) connection.receive();
      while (std::optional<Frame> frame = connection.next_frame()) handle(connection, *frame);
      if (!connection.is_open() || connection.is_at_end()) end(connection);
    }
    if (polled[1].revents) accept_all();
    watch_time();
    connections.remove_if([](const CounterConnection& connection) { return !connection.is_open(); });
  }
}

void CounterServer::State::sleep(std::vector<pollfd>& polled) {
  polled.clear();
  polled.push_back({waker.fd(), POLLIN, 0});
  // When no file can be opened whoever comes stays waiting; not to spin, the round after the next looks
  // again.
  polled.push_back({out_of_files ? -1 : listening.fd(), POLLIN, 0});
  for (const CounterConnection& connection : connections)
    polled.push_back(
        {connection.fd(), static_cast<short>(connection.has_to_send() ? POLLIN | POLLOUT : POLLIN), 0});
  poll(polled.data(), polled.size(), out_of_files ? 100 : 500);
  out_of_files = false;
}

// False when it is time to leave.
bool CounterServer::State::deliver_announcements() {
  waker.clear();
  std::lock_guard lock(mutex);
  for (const std::string& sentence : announcements) members.tell_all(sentence);
  announcements.clear();
  return !stopping;
}

void CounterServer::State::accept_all() {
  for (;;) {
    Socket socket = accept_from(listening, out_of_files);
    if (!socket.is_open()) break;
    drop_oldest_stranger();
    connections.emplace_back(std::move(socket));
  }
}

void CounterServer::State::drop_oldest_stranger() {
  CounterConnection* oldest = nullptr;
  size_t strangers = 0;
  for (CounterConnection& connection : connections) {
    if (connection.worker || !connection.is_open()) continue;
    if (!oldest) oldest = &connection;
    ++strangers;
  }
  if (strangers >= max_strangers + 2 * options.workers) oldest->close();
}

void CounterServer::State::handle(CounterConnection& connection, const Frame& frame) {
  if (!connection.worker) return let_in(connection, frame);
  members.hear(*connection.worker);
  if (connection.role == CounterRole::requests) return answer(connection, frame);
  if (frame.kind != FrameKind::heartbeat) return connection.close();
  connection.send(frame_of(FrameKind::heard));
}

void CounterServer::State::let_in(CounterConnection& connection, const Frame& frame) {
  if (frame.kind != FrameKind::hello || !is_same_token(frame.hello.token, options.token))
    return connection.close();
  Frame welcome = frame_of(FrameKind::welcome);
  welcome.admission = members.admit(connection, frame.hello);
  connection.send(welcome);
  if (welcome.admission != Admission::granted) connection.close();
}

void CounterServer::State::answer(CounterConnection& connection, const Frame& frame) {
  const unsigned worker = *connection.worker;
  Frame result = frame_of(FrameKind::heard);
  if (frame.kind == FrameKind::claim) {
    Claim claim = frame.claim;
    claim.worker = worker;
    result.kind = FrameKind::deal;
    result.deal = source.next(claim, seconds_of(SteadyClock::now()));
  } else if (frame.kind == FrameKind::left) {
    result.kind = FrameKind::deal;
    result.deal.left = source.left(frame.claim.work, worker);
  } else if (frame.kind == FrameKind::clock) {
    result.kind = FrameKind::time;
    result.time = seconds_of(SteadyClock::now());
  } else if (frame.kind == FrameKind::failure) {
    members.lose(worker, "failed: " + frame.sentence);
  } else if (frame.kind == FrameKind::goodbye) {
    members.say_goodbye(worker);
  } else {
    return connection.close();
  }
  connection.send(result);
}

void CounterServer::State::end(CounterConnection& connection) {
  connection.close();
  members.end(connection);
}

void CounterServer::State::watch_time() {
  const auto now = SteadyClock::now();
  // While this process was stopped itself, nobody could be heard.
  const auto round = now - std::exchange(last_round, now);
  members.lose_silent_ones(now, round > std::chrono::seconds(2) ? round : SteadyClock::duration::zero());
  for (CounterConnection& connection : connections) {
    if (!connection.worker && now - connection.opened() > stranger_patience) connection.close();
    if (!connection.is_open()) end(connection);
  }
}

}  // namespace paceline
