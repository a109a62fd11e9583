#include "engine/train/divergence.h"

#include <algorithm>

namespace paceline {
namespace {

constexpr double short_share = 1.0 / 50, long_share = 1.0 / 500;
constexpr double most = 4, factor = 2;
// A loss near zero may double and mean nothing.
constexpr double smallest_rise = 0.1, smallest_start = 0.5;

}  // namespace

bool DivergenceWatch::add(uint64_t step, double loss) {
  if (seen_ < first_steps) {
    // A run that explodes at once must not make that its measure.
    if (seen_ == 0) start_ = std::max(loss, smallest_start);
    ++seen_;
    first_ += (std::min(loss, most * start_) - first_) / static_cast<double>(seen_);
    short_ = long_ = first_;
    calm_step_ = step;
    return false;
  }
  ++seen_;
  const double usual = std::max(first_, long_);
  const double counted = std::min(loss, most * usual + smallest_rise * most);
  short_ += short_share * (counted - short_);
  long_ += long_share * (counted - long_);
  if (short_ <= 1.1 * long_ || short_ <= first_) calm_step_ = step;
  return seen_ > quiet_steps && short_ > factor * usual && short_ > usual + smallest_rise;
}

nlohmann::ordered_json DivergenceWatch::state() const {
  return {{"seen", seen_},   {"calm_step", calm_step_}, {"start", start_},
          {"first", first_}, {"short", short_},         {"long", long_}};
}

void DivergenceWatch::load(const nlohmann::json& state) {
  state.at("seen").get_to(seen_);
  state.at("calm_step").get_to(calm_step_);
  state.at("start").get_to(start_);
  state.at("first").get_to(first_);
  state.at("short").get_to(short_);
  state.at("long").get_to(long_);
}

}  // namespace paceline
