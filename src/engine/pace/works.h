// The last few works that a policy deals, each with the policy's own state.
#pragma once
#include <deque>
#include <utility>
#include <vector>

#include "cluster/launch/counter.h"

namespace paceline {

// Works are ordered by when they were first heard of, because their numbers need not grow. A worker never
// goes back: for a work before its newest one there is nothing. Only when all who asked in a work were told
// that nothing is left may its number name a new work, after another one.
template <typename State>
class Works {
 public:
  explicit Works(const std::vector<unsigned>& executors)
      : executors_(executors), newest_of_(executors.size(), 0) {}

  // The claim's work, made by make() if it is new; nullptr when there is nothing for this executor.
  template <typename Make>
  State* open(const Claim& claim, const Make& make) {
    if (claim.worker >= executors_.size() || claim.executor >= executors_[claim.worker]) return nullptr;
    Entry* entry = find(claim.work);
    const bool is_newest = entry && entry->number == count_;
    if (!entry || (!is_newest && is_over(*entry, claim.worker)))
      entry = &begin(claim.work, make());
    else if (entry->number < newest_of_[claim.worker])
      return nullptr;
    newest_of_[claim.worker] = entry->number;
    auto& asked = entry->told_none[claim.worker];
    if (asked.empty()) asked.resize(executors_[claim.worker], false);
    return asked[claim.executor] ? nullptr : &entry->state;
  }

  // To be called for every none that open()'s work leads to.
  void tell_none(const Claim& claim) {
    if (Entry* entry = find(claim.work)) entry->told_none[claim.worker][claim.executor] = true;
  }

  // nullptr: not heard of yet, or long ago.
  const State* known(const Work& work) const {
    const Entry* entry = const_cast<Works*>(this)->find(work);
    return entry ? &entry->state : nullptr;
  }

 private:
  // The workers of a run meet after every work, so two are open at most; the others catch late claims.
  static constexpr size_t kept = 4;

  struct Entry {
    Work work;
    uint64_t number;
    State state;
    std::vector<std::vector<bool>> told_none;  // of a worker: empty until it asks
  };

  Entry* find(const Work& work) {
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
      if (entry->work.step == work.step && entry->work.attempt == work.attempt) return &*entry;
    return nullptr;
  }

  // For a worker that was in it and has come to its end, as all others have who were.
  static bool is_over(const Entry& entry, uint32_t worker) {
    for (const auto& executors : entry.told_none)
      for (bool told : executors)
        if (!told) return false;
    return !entry.told_none[worker].empty();
  }

  Entry& begin(const Work& work, State state) {
    if (entries_.size() == kept) entries_.pop_front();
    entries_.push_back({work, ++count_, std::move(state), std::vector<std::vector<bool>>(executors_.size())});
    return entries_.back();
  }

  std::vector<unsigned> executors_;
  std::vector<uint64_t> newest_of_;  // number of each worker's newest work
  std::deque<Entry> entries_;
  uint64_t count_ = 0;
};

}  // namespace paceline
