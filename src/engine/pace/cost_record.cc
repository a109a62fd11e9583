#include "engine/pace/cost_record.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace paceline {
namespace {

constexpr size_t window = 16, recent = 3;

// A change of speed is what differs from the cost so far by more than both, relative to it: a little if the
// middle of the recent costs does, much if a single one does.
struct Jump {
  double least, over_noise;
};
constexpr Jump of_recent = {0.05, 3}, of_one = {0.25, 8};
// A single one is believed at once when it is at least twice the usual one, as with a quota that changed, or
// at most half of it. Less may be somebody else on the machine for a moment, more than four times a worker
// that was held up: either is believed when the next one is as far off.
constexpr double at_least = 2, at_most = 4;

}  // namespace

double middle_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t cut = (values.size() + 1) / 4;
  double sum = 0;
  for (size_t i = cut; i < values.size() - cut; ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - 2 * cut);
}

// From neighbours, so that a drift does not count as noise.
double CostRecord::noise() const {
  if (costs_.size() <= recent) return noise_before_;
  std::vector<double> differences;
  for (size_t i = 1; i < costs_.size(); ++i) differences.push_back(std::abs(costs_[i] - costs_[i - 1]));
  return middle_mean(std::move(differences)) / cost_;
}

double CostRecord::uncertainty() const {
  if (costs_.empty()) return 0;  // it has had no grain, so nothing is known that could be doubted
  return noise() / std::sqrt(static_cast<double>(costs_.size()));
}

void CostRecord::forget(const std::vector<double>& all_but) {
  noise_before_ = noise();
  has_jumped_ = true;
  costs_.assign(all_but.begin(), all_but.end());
}

void CostRecord::add(double cost) {
  auto differs = [this](double now, const Jump& jump) {
    return std::abs(now - cost_) / cost_ > std::max(jump.least, jump.over_noise * noise());
  };
  const bool is_far = !costs_.empty() && differs(cost, of_one),
             is_held_up = !costs_.empty() && cost > at_most * cost_,
             is_odd = is_held_up || (is_far && cost < at_least * cost_ && cost_ < at_least * cost);
  if (is_odd && !std::exchange(was_odd_, true)) return;
  was_odd_ = false;
  if (is_far) {
    forget({});
  } else if (costs_.size() > recent) {
    std::vector<double> last(costs_.end() - (recent - 1), costs_.end());
    last.push_back(cost);
    const double middle = middle_mean(last);
    last.pop_back();
    std::erase_if(last, [&](double old) { return std::abs(old - cost_) < std::abs(old - middle); });
    if (differs(middle, of_recent)) forget(last);
  }
  costs_.push_back(cost);
  if (costs_.size() > window) costs_.pop_front();
  cost_ = middle_mean({costs_.begin(), costs_.end()});
}

}  // namespace paceline
