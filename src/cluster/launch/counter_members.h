// Which workers the counter's server has heard of, and how each of them is.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cluster/launch/counter_connection.h"

namespace paceline {

class CounterMembers {
 public:
  // gone: called once for each worker that is lost, after all others were told.
  CounterMembers(unsigned workers, double silence_seconds,
                 std::function<void(unsigned worker, const std::string& sentence)> gone);

  // If granted, the connection is that worker's until it is given to end(), which has to come before it goes.
  Admission admit(CounterConnection& connection, const Hello& hello);
  void end(CounterConnection& connection);

  void hear(unsigned worker) { members_[worker].heard = SteadyClock::now(); }
  void say_goodbye(unsigned worker);
  void lose(unsigned worker, const std::string& how);
  // Those not heard of for too long are lost, and their connections closed. asleep: how long this process
  // itself could not hear anybody.
  void lose_silent_ones(SteadyClock::time_point now, SteadyClock::duration asleep);
  void tell_all(const std::string& sentence);

 private:
  enum class Presence { not_yet, here, left, lost };

  struct Member {
    Presence presence = Presence::not_yet;
    std::string host;
    CounterConnection* requests = nullptr;
    CounterConnection* heartbeats = nullptr;
    SteadyClock::time_point heard;
  };

  Admission admission_of(const Hello& hello) const;
  std::string name_of(unsigned worker) const;

  std::vector<Member> members_;
  double silence_seconds_;
  std::function<void(unsigned, const std::string&)> gone_;
};

}  // namespace paceline
