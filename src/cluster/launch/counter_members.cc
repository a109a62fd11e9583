#include "cluster/launch/counter_members.h"

#include <fmt/core.h>

#include <algorithm>

namespace paceline {
namespace {

Frame sentence_frame(const std::string& sentence) {
  Frame frame = frame_of(FrameKind::sentence);
  frame.sentence = sentence;
  return frame;
}

}  // namespace

CounterMembers::CounterMembers(unsigned workers, double silence_seconds,
                               std::function<void(unsigned, const std::string&)> gone)
    : members_(workers), silence_seconds_(silence_seconds), gone_(std::move(gone)) {}

Admission CounterMembers::admission_of(const Hello& hello) const {
  if (hello.version != counter_version) return Admission::other_version;
  if (hello.worker >= members_.size() || hello.role > CounterRole::heartbeats)
    return Admission::no_such_worker;
  const Member& member = members_[hello.worker];
  const bool is_there = hello.role == CounterRole::requests ? member.requests : member.heartbeats;
  return is_there || member.presence == Presence::lost ? Admission::already_here : Admission::granted;
}

Admission CounterMembers::admit(CounterConnection& connection, const Hello& hello) {
  const Admission admission = admission_of(hello);
  if (admission != Admission::granted) return admission;
  connection.worker = hello.worker;
  connection.role = hello.role;
  Member& member = members_[hello.worker];
  member.host = hello.host;
  member.heard = SteadyClock::now();
  if (hello.role == CounterRole::requests) {
    member.requests = &connection;
  } else {
    member.heartbeats = &connection;
    member.presence = Presence::here;
  }
  return admission;
}

// A worker's two connections close in any order; the one with heartbeats tells that it died.
void CounterMembers::end(CounterConnection& connection) {
  if (!connection.worker) return;
  const unsigned worker = *std::exchange(connection.worker, std::nullopt);
  if (connection.role == CounterRole::requests) {
    members_[worker].requests = nullptr;
  } else {
    members_[worker].heartbeats = nullptr;
    lose(worker, "died (its connection closed)");
  }
}

void CounterMembers::say_goodbye(unsigned worker) {
  if (members_[worker].presence == Presence::here) members_[worker].presence = Presence::left;
}

void CounterMembers::lose(unsigned worker, const std::string& how) {
  if (members_[worker].presence != Presence::here) return;
  members_[worker].presence = Presence::lost;
  const std::string sentence = name_of(worker) + " " + how;
  for (unsigned other = 0; other < members_.size(); ++other)
    if (other != worker && members_[other].heartbeats)
      members_[other].heartbeats->send(sentence_frame(sentence));
  if (gone_) gone_(worker, sentence);
}

void CounterMembers::lose_silent_ones(SteadyClock::time_point now, SteadyClock::duration asleep) {
  for (unsigned worker = 0; worker < members_.size(); ++worker) {
    Member& member = members_[worker];
    member.heard = std::min(now, member.heard + asleep);
    if (member.presence != Presence::here) continue;
    if (std::chrono::duration<double>(now - member.heard).count() < silence_seconds_) continue;
    lose(worker, fmt::format("has not been heard of for {:g} s", silence_seconds_));
    if (member.requests) member.requests->close();
    if (member.heartbeats) member.heartbeats->close();
  }
}

void CounterMembers::tell_all(const std::string& sentence) {
  for (const Member& member : members_)
    if (member.heartbeats) member.heartbeats->send(sentence_frame(sentence));
}

std::string CounterMembers::name_of(unsigned worker) const {
  const std::string& host = members_[worker].host;
  return host.empty() ? fmt::format("worker {}", worker) : fmt::format("worker {} on host {}", worker, host);
}

}  // namespace paceline
