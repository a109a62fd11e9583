// Who takes the next grains: asked over TCP, because rank 0's executors are busy with grains of their own
// and one-sided MPI does not progress between hosts meanwhile.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace paceline {

// Work that is cut into grains: a step's batch in one attempt, or a part of an evaluation.
struct Work {
  uint64_t step = 0;  // or a number of its own; never the same twice in a row with the same attempt
  uint32_t attempt = 0;
  uint32_t grains = 0;
  uint64_t tokens = 0;  // of all grains; they are about equal in tokens
};

struct Claim {
  Work work;
  uint32_t worker = 0, executor = 0;
  // Of all that this executor was last dealt; 0 when it has had nothing of this work yet.
  double seconds = 0;
  uint32_t wanted = 1;  // grains that it would compute at once; as many or fewer are dealt
};

// Grains that follow each other.
struct Deal {
  uint32_t first = 0, count = 0;  // count 0: there is nothing left for this executor in this work
  uint32_t left = 0;              // grains that this worker could still get after these
};

// Every executor of every worker asks in every work, again and again until it is told none; whoever is told
// none does not ask again in this work. That all grains are dealt rests on it.
class GrainSource {
 public:
  virtual ~GrainSource() = default;
  // now: seconds of a clock that never goes back. Calls are serialised.
  virtual Deal next(const Claim& claim, double now) = 0;
  // Grains that this worker could still get.
  virtual uint32_t left(const Work& work, uint32_t worker) = 0;
};

// On rank 0: a thread that sleeps in poll() and answers claims; and the place where every worker is heard
// of. Listens on loopback unless `everywhere`.
class CounterServer {
 public:
  struct Options {
    uint16_t port = 0;  // 0: any free one
    bool everywhere = false;
    unsigned workers = 1;         // that will connect, rank 0 included
    std::string token;            // that a worker has to show
    double silence_seconds = 30;  // after which a worker counts as gone
  };
  // gone: called by the server's thread, once, when a worker's connection closed or it fell silent; the
  // sentence says which and is sent to all other workers too. source outlives the server.
  // Throws InputError when the port is in use.
  CounterServer(const Options& options, GrainSource& source,
                std::function<void(unsigned worker, const std::string& sentence)> gone);
  ~CounterServer();
  uint16_t port() const;
  // Sent to every worker, whose `lost` is called with it.
  void tell_all(const std::string& sentence);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// On every worker, rank 0 included. A thread of its own sends heartbeats and hears of lost workers.
class CounterClient {
 public:
  struct Options {
    std::vector<std::string> addresses;  // of the server, tried in this order
    uint16_t port = 0;
    unsigned worker = 0;
    std::string token, host;  // host: this worker's, for messages
    double connect_seconds = 20;
    double silence_seconds = 30;  // after which the server counts as gone
  };
  // lost: called once by the client's thread when the server is gone or tells of a lost worker.
  // Throws WorkError when it cannot connect or is not let in.
  CounterClient(const Options& options, std::function<void(const std::string& sentence)> lost);
  ~CounterClient();  // says goodbye first, so that the server does not count it as lost

  // Any thread. Throw WorkError when the connection is gone.
  Deal next(const Claim& claim);
  uint32_t left(const Work& work);
  // Seconds that the server's clock is ahead of this machine's steady clock.
  double clock_offset() const;
  // To be called by one thread now and then, at moments with little else to send; most calls do nothing.
  void follow_clock();
  // Why this worker ends; the server tells all others. Throws nothing.
  void fail(const std::string& sentence);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// 32 hexadecimal digits from the system's random source.
std::string random_token();

}  // namespace paceline
