// One worker of tests/cluster/exchange_test.cc: exchange_worker TASK. Prints what the test looks for.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cluster/exchange/exchange.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;
using Clock = Exchange::Clock;

// One write a line: those of several workers do not mix.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string line = fmt::format(format, std::forward<Args>(args)...) + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(1);
}

// Differs for every worker, element and round, with both signs and large ones.
int32_t value_of(unsigned rank, size_t i, uint32_t round = 0) {
  return static_cast<int32_t>((rank + 1) * 2654435761u + static_cast<uint32_t>(i) * 40503u + round * 69069u) /
         8;
}

std::vector<int32_t> own_values(const Exchange& exchange, size_t count, uint32_t round = 0) {
  std::vector<int32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = value_of(exchange.rank(), i, round);
  return values;
}

void expect_sums(const Exchange& exchange, const std::vector<int32_t>& sums, uint32_t round = 0) {
  for (size_t i = 0; i < sums.size(); ++i) {
    int64_t sum = 0;
    for (unsigned rank = 0; rank < exchange.size(); ++rank) sum += value_of(rank, i, round);
    if (sums[i] != sum)
      work_error("sum {} of {} in round {} is {}, not {}", i, sums.size(), round, sums[i], sum);
  }
}

void add_up(Exchange& exchange, size_t count) {
  std::vector<int32_t> values = own_values(exchange, count);
  const uint64_t before = exchange.sent_bytes();
  exchange.wait(exchange.start_sum(values));
  expect_sums(exchange, values);
  const uint64_t sent = exchange.sent_bytes() - before;
  if (sent != 8 * count * (exchange.size() - 1) / exchange.size())
    work_error("{} values: {} bytes sent", count, sent);
}

void find_maxima(Exchange& exchange, size_t count) {
  std::vector<uint32_t> values(count);
  auto value = [](unsigned rank, size_t i) { return 4294967295u - ((static_cast<uint32_t>(i) + rank) % 5); };
  for (size_t i = 0; i < count; ++i) values[i] = value(exchange.rank(), i);
  exchange.wait(exchange.start_max(values));
  for (size_t i = 0; i < count; ++i) {
    uint32_t largest = 0;
    for (unsigned rank = 0; rank < exchange.size(); ++rank) largest = std::max(largest, value(rank, i));
    if (values[i] != largest) work_error("maximum {} of {} is {}, not {}", i, count, values[i], largest);
  }
}

void hand_out(Exchange& exchange, size_t count) {
  std::vector<int32_t> values = own_values(exchange, count);
  exchange.broadcast(std::as_writable_bytes(std::span(values)));
  for (size_t i = 0; i < count; ++i)
    if (values[i] != value_of(0, i)) work_error("value {} of {} is not that of rank 0", i, count);
}

// Small and large ones mixed, all started before the first is waited for, and that in another order.
void keep_many_under_way(Exchange& exchange) {
  std::vector<std::vector<int32_t>> values;
  std::vector<uint64_t> operations;
  for (uint32_t round = 0; round < 60; ++round) {
    values.push_back(own_values(exchange, round % 7 == 0 ? 100'003 : round, round));
    operations.push_back(exchange.start_sum(values.back()));
  }
  for (uint32_t round = 60; round-- > 0;) {
    exchange.wait(operations[round]);
    expect_sums(exchange, values[round], round);
  }
}

// Workers in turn have nothing to add; in the end nobody has.
void add_nothing(Exchange& exchange) {
  for (unsigned idle = 0; idle <= exchange.size(); ++idle)
    for (size_t count : {1, 3000, 2'500'000}) {
      const bool all_idle = idle == exchange.size();
      std::vector<int32_t> values = own_values(exchange, count);
      if (all_idle || exchange.rank() == idle) std::ranges::fill(values, 0);
      exchange.wait(exchange.start_sum(values));
      for (size_t i = 0; i < count; ++i) {
        int64_t sum = 0;
        for (unsigned rank = 0; rank < exchange.size(); ++rank)
          if (!all_idle && rank != idle) sum += value_of(rank, i);
        if (values[i] != sum)
          work_error("sum {} of {} without worker {} is {}, not {}", i, count, idle, values[i], sum);
      }
    }
}

void exchange_all_kinds(Exchange& exchange) {
  for (size_t count : {0, 1, 7, 1000, 3'000'001}) {
    add_up(exchange, count);
    find_maxima(exchange, count);
    hand_out(exchange, count);
  }
  keep_many_under_way(exchange);
  add_nothing(exchange);
  say("worker {} of {}, {} of {} here: right", exchange.rank(), exchange.size(), exchange.local_rank(),
      exchange.local_size());
  exchange.leave();
}

double cpu_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The last worker comes two seconds late.
void wait_for_a_late_worker(Exchange& exchange) {
  std::vector<int32_t> values = own_values(exchange, 1000);
  exchange.wait(exchange.start_sum(values));
  if (exchange.rank() + 1 == exchange.size()) std::this_thread::sleep_for(2s);
  const double before = cpu_seconds();
  const Clock::time_point begin = Clock::now();
  exchange.wait(exchange.start_sum(values));
  const double waited = std::chrono::duration<double>(Clock::now() - begin).count();
  if (exchange.rank() == 0) say("waited {:.3f} s, cpu {:.4f} s", waited, cpu_seconds() - before);
  exchange.leave();
}

// Worker 1 has nothing to add to these, and is stopped while worker 0 ends them.
void end_without_the_idle(Exchange& exchange) {
  std::vector<int32_t> pid = {exchange.rank() == 1 ? getpid() : 0};
  exchange.wait(exchange.start_sum(pid));
  const bool idle = exchange.rank() == 1;
  std::vector<std::vector<int32_t>> values;
  for (size_t count : {1'000'000, 3000, 2'000'000, 1'000'000, 100'000, 1'000'000, 3})
    values.push_back(idle ? std::vector<int32_t>(count, 0) : own_values(exchange, count));
  std::vector<uint64_t> operations;
  if (!idle) {
    std::this_thread::sleep_for(500ms);
    kill(pid[0], SIGSTOP);
  }
  const Clock::time_point begin = Clock::now();
  std::thread waker([&] {
    if (idle) return;
    std::this_thread::sleep_for(3s);
    kill(pid[0], SIGCONT);
  });
  for (auto& numbers : values) operations.push_back(exchange.start_sum(numbers));
  for (uint64_t operation : operations) exchange.wait(operation);
  const double waited = std::chrono::duration<double>(Clock::now() - begin).count();
  for (const auto& numbers : values)
    for (size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != value_of(0, i)) work_error("value {} of {} is not that of rank 0", i, numbers.size());
  if (!idle) say("waited {:.3f} s", waited);
  waker.join();
  exchange.leave();
}

void compute_meanwhile(Exchange& exchange) {
  std::vector<int32_t> values = own_values(exchange, 500'000);
  exchange.wait(exchange.start_sum(values));
  const uint64_t operation = exchange.start_sum(values);
  const Clock::time_point end = Clock::now() + 1s;
  volatile uint64_t work = 0;
  while (Clock::now() < end) work = work + 1;
  if (exchange.wait(operation) >= end) work_error("it was still under way after a second of computing");
  say("worker {}: done meanwhile", exchange.rank());
  exchange.leave();
}

// Waits for an operation that no other worker starts.
[[noreturn]] void give_up_waiting(Exchange& exchange) {
  std::vector<int32_t> values = own_values(exchange, 1000);
  exchange.wait(exchange.start_sum(values));
  if (exchange.rank() != 0) std::this_thread::sleep_for(60s);
  Clock::time_point given_up;
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    given_up = Clock::now();
    exchange.give_up("worker 1 does not answer");
  });
  try {
    exchange.wait(exchange.start_sum(values));
  } catch (const WorkError& error) {
    const double late = std::chrono::duration<double>(Clock::now() - given_up).count();
    other.join();
    say("after {:.6f} s: {}", late, error.what());
  }
  _exit(3);
}

void die_or_wait(Exchange& exchange) {
  std::vector<int32_t> values = own_values(exchange, 1000);
  exchange.wait(exchange.start_sum(values));
  if (exchange.rank() == 1) raise(SIGKILL);
  exchange.wait(exchange.start_sum(values));
  say("this is never said");
}

int run(const std::string& task) {
  if (task == "nccl") {
    open_exchange("nccl")->leave();
    return 0;
  }
  static const std::map<std::string, void (*)(Exchange&)> tasks = {
      {"all-kinds", exchange_all_kinds},     {"late-worker", wait_for_a_late_worker},
      {"idle-worker", end_without_the_idle}, {"compute", compute_meanwhile},
      {"give-up", give_up_waiting},          {"die", die_or_wait},
  };
  tasks.at(task)(*open_exchange("mpi"));
  return 0;
}

}  // namespace
}  // namespace paceline

int main(int count, char** arguments) {
  try {
    return paceline::run(count > 1 ? arguments[1] : "");
  } catch (const std::exception& error) {
    paceline::say("{}", error.what());
    return 1;
  }
}
