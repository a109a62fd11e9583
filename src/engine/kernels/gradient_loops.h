// Loops over gradients and parameters: fixed-point conversion, optimizers, averages. Element by element,
// so any division of the work gives the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace paceline {

// sums[i] (+)= round(gradient[i] * scale); returns the largest |gradient[i]| as the bits of a float, whose
// order as integers is the order of the values, with infinity and NaN above all numbers.
uint32_t add_fixed(const float* gradient, size_t count, float scale, int32_t* sums, bool first);
// A block of a matrix, to be rounded in the same way: round(gradient * scale) + before.
struct FixedBlock {
  const float* gradient;
  const int32_t* before;  // rounded blocks that were added up already, or nullptr
  size_t rows, columns, stride;
  float scale;
};
// What is there is replaced, or added to, or replaced past the caches: where it is not read again soon, that
// spares reading it before.
enum class RowsGo { there, onto, past_caches };
uint32_t put_fixed(const FixedBlock& block, int32_t* to, size_t to_stride, RowsGo go);
// sums[i] (+)= gradient[i]; the same maximum.
uint32_t add_float(const float* gradient, size_t count, float* sums, bool first);
void add_integers(const int32_t* from, size_t count, int32_t* sums);
void add_floats(const float* from, size_t count, float* sums);
// Before other threads read what went past the caches.
void end_streams();
// values[i] = sums[i] * unit
void to_float(const int32_t* sums, size_t count, float unit, float* values);

// Squares in eight fixed lanes, added up in double, so that the order does not depend on the width of
// vectors.
double sum_of_squares(const float* values, size_t count);

struct AdamNumbers {
  float rate;  // learning rate / (1 - beta1^t)
  float beta1, beta2;
  float root_correction;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
  float decay;     // decoupled: values shrink by this share before the step (adamw)
  float l2;        // added to the gradient (adam with weight decay)
  float gradient;  // every gradient is multiplied by it (clipping)
};
void adam_step(const AdamNumbers& numbers, size_t count, const float* gradient, float* values, float* first,
               float* second);

// The same where gradient and moments are zero: values shrink by this share.
void shrink(float decay, size_t count, float* values);

struct SgdNumbers {
  float rate, momentum, l2, gradient;
};
void sgd_step(const SgdNumbers& numbers, size_t count, const float* gradient, float* values, float* velocity);

// average += share * (values - average)
void move_average(float share, const float* values, size_t count, float* average);

// to[i] = values[i] * mask-scale where kept, 0 where dropped; element i draws number first + i of the
// stream `key`: the low half of a draw for even numbers, the high half for odd ones.
void apply_dropout(uint64_t key, uint64_t first, uint32_t threshold, float scale, const float* values,
                   size_t count, float* to);

}  // namespace paceline
