// Dropout whose masks are a function of (seed, step, grain, kind, layer, element) alone.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/random.h"
#include "engine/kernels/gradient_loops.h"

namespace paceline {

enum class DropoutKind : uint64_t {
  word = 1,
  embedding = 2,
  recurrent = 3,
  layer = 4,
  output = 5,
  probabilities = 6,
  attention = 7,
  feed_forward = 8,
  masking = 9  // which pieces are hidden (masking.h)
};

class Dropout {
 public:
  Dropout() = default;
  Dropout(double probability, uint64_t seed, uint64_t step, uint64_t grain, DropoutKind kind, uint64_t layer)
      : key_(stream_key({seed, step, grain, static_cast<uint64_t>(kind), layer})),
        threshold_(static_cast<uint32_t>(probability * 0x1p32)),
        scale_(static_cast<float>(1 / (1 - probability))) {}
  bool active() const { return threshold_ > 0; }
  // to[i] = values[i] times the factor of element first + i: 0 or 1 / (1 - probability).
  void apply(uint64_t first, const float* values, size_t count, float* to) const {
    apply_dropout(key_, first, threshold_, scale_, values, count, to);
  }
  float factor(uint64_t element) const {
    const float one = 1;
    float out = 0;
    apply(element, &one, 1, &out);
    return out;
  }

 private:
  uint64_t key_ = 0;
  uint32_t threshold_ = 0;
  float scale_ = 1;
};

}  // namespace paceline
