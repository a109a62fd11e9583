#include "cluster/exchange/communication.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quick_thread.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

// How long a call of the collectives may last that a failure has overtaken, before nobody waits for it.
constexpr auto patience = 100ms;

// A nap costs 20 us of a core, however short it is, and a look 1 us (on a virtual machine).
constexpr int looks_before_a_nap = 3;

// While somebody waits: short while something happens, longer while nothing does; in a long wait by a
// twentieth of what was waited, so that looking costs neither the wait nor a core much. While everybody
// computes: long, since looking takes time from them; with a quota of processor time that was a twentieth of
// what a worker had. Whoever begins to wait ends such a nap.
class Nap {
 public:
  std::chrono::microseconds length() const { return length_; }
  void shorten(bool awaited) { length_ = awaited ? shortest : usual; }
  void lengthen(bool awaited) {
    const auto more = !awaited ? length_ : length_ / (length_ < usual ? 2 : 20);
    length_ = std::min(length_ + more, awaited ? longest : longest_beside_work);
  }

 private:
  static constexpr std::chrono::microseconds shortest = 20us, usual = 400us, longest = 2ms,
                                             longest_beside_work = 8ms;
  std::chrono::microseconds length_ = shortest;
};

uint64_t bytes_to_send(CollectiveKind kind, uint64_t bytes, const Place& place) {
  if (kind == CollectiveKind::broadcast) return place.rank == 0 && place.size > 1 ? bytes : 0;
  return 2 * bytes * (place.size - 1) / place.size;
}

}  // namespace

Communication::Communication(std::unique_ptr<Collectives> collectives)
    : collectives_(std::move(collectives)) {}

void Communication::run() {
  // Timers may be late by 50 us otherwise, longer than a short nap.
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  wake_quickly();
  open();
  try {
    serve();
    if (is_closing()) collectives_->close();
  } catch (const std::exception& error) {
    fail(error.what());
  }
  std::lock_guard lock(mutex_);
  stopped_ = true;
  news_.notify_all();
}

void Communication::open() {
  std::exception_ptr problem;
  Place place;
  try {
    place = collectives_->open();
  } catch (...) {
    problem = std::current_exception();
  }
  std::lock_guard lock(mutex_);
  place_ = place;
  opened_ = true;
  unopened_ = problem;
  if (problem) failure_ = "the exchange was not opened";
  news_.notify_all();
}

void Communication::serve() {
  Nap nap;
  for (Order order = next_order(nap.length()); !order.stop; order = next_order(nap.length())) {
    for (const Collective& collective : order.fresh) collectives_->start(collective);
    under_way_ += order.fresh.size();
    const bool moved = look();
    if (moved || order.hurry || !order.fresh.empty()) {
      nap.shorten(order.awaited);
    } else {
      nap.lengthen(order.awaited);
    }
  }
}

// Looks until nothing moves any more; says whether anything did.
bool Communication::look() {
  bool moved = false;
  std::vector<uint64_t> ended;
  for (int idle = 0; idle < looks_before_a_nap && is_busy(); ++idle) {
    if (!collectives_->advance(ended)) continue;
    note_end_of(ended);
    under_way_ -= ended.size();
    ended.clear();
    moved = true;
    idle = 0;
  }
  return moved;
}

// Sleeps until there is something new, for a nap at most if something is under way.
Communication::Order Communication::next_order(std::chrono::microseconds nap) {
  std::unique_lock lock(mutex_);
  auto awake = [&] { return closing_ || failure_ || hurry_ || !queue_.empty(); };
  if (!is_busy()) {
    work_.wait(lock, awake);
  } else {
    work_.wait_for(lock, nap, awake);
  }
  Order order{
      {queue_.begin(), queue_.end()}, closing_ || failure_, waiting_ > 0, std::exchange(hurry_, false)};
  queue_.clear();
  return order;
}

void Communication::note_end_of(const std::vector<uint64_t>& operations) {
  if (operations.empty()) return;
  std::lock_guard lock(mutex_);
  for (uint64_t number : operations) moments_[number] = Clock::now();
  news_.notify_all();
}

bool Communication::is_closing() const {
  std::lock_guard lock(mutex_);
  return closing_ && !failure_;
}

void Communication::wait_until_open() {
  std::unique_lock lock(mutex_);
  news_.wait(lock, [&] { return opened_; });
  if (unopened_) std::rethrow_exception(unopened_);
}

uint64_t Communication::start(CollectiveKind kind, std::span<std::byte> bytes) {
  std::unique_lock lock(mutex_);
  throw_if_failed(lock);
  const uint64_t number = ++last_number_;
  sent_bytes_ += bytes_to_send(kind, bytes.size(), place_);
  // Every worker gives as many bytes, so that all of them leave out the same.
  if (bytes.empty() && kind != CollectiveKind::barrier) {
    moments_[number] = Clock::now();
    return number;
  }
  moments_[number] = std::nullopt;
  queue_.push_back({number, kind, bytes});
  work_.notify_all();
  return number;
}

Communication::Clock::time_point Communication::wait(uint64_t operation) {
  std::unique_lock lock(mutex_);
  auto found = moments_.find(operation);
  PACELINE_ASSERT(found != moments_.end());
  if (!found->second && !failure_) {
    ++waiting_;
    hurry_ = true;
    work_.notify_all();
    news_.wait(lock, [&] { return found->second || failure_; });
    --waiting_;
  }
  throw_if_failed(lock);
  const Clock::time_point moment = *found->second;
  moments_.erase(found);
  return moment;
}

void Communication::close() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  work_.notify_all();
  news_.wait(lock, [&] { return stopped_ || failure_; });
  throw_if_failed(lock);
}

uint64_t Communication::sent_bytes() const {
  std::lock_guard lock(mutex_);
  return sent_bytes_;
}

void Communication::fail(const std::string& reason) {
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = reason;
  work_.notify_all();
  news_.notify_all();
}

bool Communication::has_stopped_after_failure() {
  std::unique_lock lock(mutex_);
  return news_.wait_for(lock, patience, [&] { return stopped_; });
}

// Until the thread has stopped it may be writing into the values of whoever waits.
void Communication::throw_if_failed(std::unique_lock<std::mutex>& lock) {
  if (!failure_) return;
  news_.wait_for(lock, patience, [&] { return stopped_; });
  throw WorkError(*failure_);
}

}  // namespace paceline
