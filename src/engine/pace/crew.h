// The workers of a run, seen from one of them: who takes which grain, a common clock, who is lost.
#pragma once
#include "base/executors.h"
#include "cluster/exchange/exchange.h"
#include "engine/pace/pace.h"

namespace paceline {

struct CrewOptions {
  PaceOptions pace;                  // executors: of every worker
  std::vector<std::string> hosts;    // of every worker, for messages
  bool on_one_network_stack = true;  // all of them reach each other by 127.0.0.1
  uint16_t port = 0;
};

class Crew {
 public:
  using Clock = Exchange::Clock;
  // Every worker of the exchange makes one at the same time: rank 0 opens the counter, all others find it.
  // Throws InputError (rank 0: the port is in use) or WorkError.
  Crew(Exchange& exchange, const CrewOptions& options);
  ~Crew();
  unsigned rank() const { return exchange_.rank(); }
  unsigned size() const { return exchange_.size(); }
  bool is_alone() const { return size() == 1; }
  Exchange& exchange() { return exchange_; }

  // Computes `count` grains from `first` on.
  using Task = std::function<void(uint64_t first, uint64_t count, unsigned executor)>;
  // Calls the task for the grains that this worker gets, for up to `at_once` of them where that delays
  // nobody, and done(executor) when an executor gets no more.
  void run(const Work& work, uint32_t at_once, Executors& executors, const Task& task,
           const std::function<void(unsigned executor)>& done);
  // False when the grains that the executor is at are its last ones of this work.
  bool has_more(const Work& work, unsigned executor);
  // After every step, the same on all workers.
  void add(const Work& work, uint64_t epoch, std::span<const WorkerStep> workers);

  // Seconds by rank 0's clock.
  double time_of(Clock::time_point moment) const;
  double now() const { return time_of(Clock::now()); }

  // Adds up the numbers of all workers (most are 0 but on one worker), and waits for it.
  void sum(std::span<int32_t> values);
  // What rank 0 says, when all have asked.
  bool ask_first(bool value);
  // The good end, on all workers together: nobody is missed from now on.
  void close();
  // Tells all others that this worker ends with an error of its own.
  void fail(const std::string& sentence);

 private:
  void open_counter(const CrewOptions& options);
  void lose(const std::string& sentence);
  bool asks_elsewhere() const;
  Deal next(const Claim& claim);

  Exchange& exchange_;
  unsigned all_executors_ = 0;
  uint32_t at_once_ = 1;  // of the work that is run
  std::unique_ptr<Pace> pace_;
  class Asked;
  std::mutex mutex_;  // of pace_
  std::unique_ptr<Asked> asked_;
  std::unique_ptr<CounterServer> server_;
  std::unique_ptr<CounterClient> client_;
  std::vector<std::atomic<uint32_t>> left_;  // as last heard, by executor
  std::atomic<double> clock_offset_{0};
};

// One text of each worker, in the order of ranks, on every worker.
std::vector<std::string> gather_texts(Exchange& exchange, const std::string& text);

}  // namespace paceline
