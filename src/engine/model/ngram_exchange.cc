#include "base/hash.h"
#include "engine/model/ngram.h"

namespace paceline {
namespace {

// A sum of the output layer has more than 32 bits: it travels as three numbers, with room in each for the
// sum over thousands of workers.
constexpr int limb_bits = 18;
constexpr size_t limbs = 3;

void to_limbs(int64_t value, int32_t* out) {
  for (size_t i = 0; i + 1 < limbs; ++i, value >>= limb_bits)
    out[i] = static_cast<int32_t>(value & ((1 << limb_bits) - 1));
  out[limbs - 1] = static_cast<int32_t>(value);
}

int64_t from_limbs(const int32_t* in) {
  int64_t value = 0;
  for (size_t i = limbs; i-- > 0;) value = (value << limb_bits) + in[i];
  return value;
}

}  // namespace

std::span<int32_t> NgramModel::gather(const Batch& batch, size_t) {
  const uint64_t dim = options_.dim;
  exchanged_.assign(batch.samples.size() * dim + output_.size() * limbs, 0);
  std::vector<int64_t> sums(output_.size(), 0);
  for (uint64_t g = 0; g < batch.grains(); ++g) {
    if (!grains_[g].computed) continue;
    for (uint64_t s = batch.grain_begin[g]; s < batch.grain_begin[g + 1]; ++s)
      std::copy_n(sample_gradients_.data() + s * stride_, dim, exchanged_.data() + s * dim);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += grains_[g].output[i];
  }
  int32_t* out = exchanged_.data() + batch.samples.size() * dim;
  for (size_t i = 0; i < sums.size(); ++i) to_limbs(sums[i], out + i * limbs);
  return exchanged_;
}

// Takes what the exchange brought: gradients of samples, the rows that the others' samples touch, sums.
void NgramModel::scatter(const Batch& batch, Executors& executors) {
  const uint64_t dim = options_.dim;
  executors.run(batch.grains(), [&](uint64_t g, unsigned) {
    GrainGradient& grain = grains_[g];
    if (grain.computed) return;
    for (auto& list : grain.touched) list.clear();
    for (uint64_t s = batch.grain_begin[g]; s < batch.grain_begin[g + 1]; ++s) {
      rows_of(batch.samples[s].ids, grain.rows);
      touch(grain.rows, static_cast<uint32_t>(s), grain);
      int32_t* gradient = sample_gradients_.data() + s * stride_;
      std::fill_n(gradient, stride_, 0);
      std::copy_n(exchanged_.data() + s * dim, dim, gradient);
    }
  });
  const int32_t* in = exchanged_.data() + batch.samples.size() * dim;
  for (size_t i = 0; i < output_sums_.size(); ++i) output_sums_[i] = from_limbs(in + i * limbs);
}

bool NgramModel::finish_grains(const Batch& batch, Executors& executors) {
  output_sums_.assign(output_.size(), 0);
  if (!exchanged_.empty()) {
    scatter(batch, executors);
    return true;
  }
  for (uint64_t g = 0; g < batch.grains(); ++g)
    for (size_t i = 0; i < output_sums_.size(); ++i) output_sums_[i] += grains_[g].output[i];
  return true;
}

uint64_t NgramModel::probe(const Batch& batch) {
  begin_step(batch, 1);
  compute_grain(batch, 0);
  const auto& sums = grains_[0].output;
  const uint64_t rows = hash64({reinterpret_cast<const char*>(sample_gradients_.data()),
                                batch.grain_begin[1] * stride_ * sizeof(int32_t)});
  return hash64({reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(int64_t)}, rows);
}

}  // namespace paceline
