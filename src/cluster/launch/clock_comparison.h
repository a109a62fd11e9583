// How far another machine's clock is ahead of this one's, from questions and answers.
#pragma once

namespace paceline {

class ClockComparison {
 public:
  // `theirs` was read at some moment between the question and the answer, both by this machine's clock. The
  // shortest round trip is the best; what was found earlier is worth less as the clocks drift apart.
  void add(double asked, double theirs, double answered) {
    const double error = (answered - asked) / 2;
    if (is_known_ && error > error_ + drift * (answered - found_)) return;
    is_known_ = true;
    offset_ = theirs - (asked + answered) / 2;
    error_ = error;
    found_ = answered;
  }
  double offset() const { return offset_; }

 private:
  static constexpr double drift = 1e-4;  // seconds a second: more than between computers' clocks
  bool is_known_ = false;
  double offset_ = 0, error_ = 0, found_ = 0;
};

}  // namespace paceline
