#include "engine/model/pooling.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/portable_math.h"

namespace paceline {
namespace {

double dot(const float* a, const float* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void pool_max(const PackedGrains& packed, size_t s, const float* states, size_t width, uint32_t* chosen,
              float* to) {
  for (size_t u = 0; u < width; ++u) {
    to[u] = states[s * width + u];
    chosen[u] = static_cast<uint32_t>(s);
  }
  for (size_t p = 1; p < packed.length(s); ++p) {
    const size_t row = packed.row(s, p);
    const float* values = states + row * width;
    for (size_t u = 0; u < width; ++u) {
      chosen[u] = values[u] > to[u] ? static_cast<uint32_t>(row) : chosen[u];
      to[u] = std::max(to[u], values[u]);
    }
  }
}

// Softmax over the positions of the products with the query.
void attention_shares(const PackedGrains& packed, size_t s, const float* states, size_t width,
                      const float* query, float* shares) {
  std::vector<double> scores(packed.length(s));
  double largest = -1e300, sum = 0;
  for (size_t p = 0; p < scores.size(); ++p) {
    scores[p] = dot(states + packed.row(s, p) * width, query, width);
    largest = std::max(largest, scores[p]);
  }
  for (double& score : scores) sum += score = portable_exp(score - largest);
  for (size_t p = 0; p < scores.size(); ++p) shares[packed.row(s, p)] = static_cast<float>(scores[p] / sum);
}

void attention_backward(const PackedGrains& packed, size_t s, const float* states, size_t width,
                        const float* query, const float* shares, const float* d, float* d_states,
                        float* d_query) {
  double mean = 0;
  std::vector<double> products(packed.length(s));
  for (size_t p = 0; p < products.size(); ++p) {
    const size_t row = packed.row(s, p);
    products[p] = dot(states + row * width, d, width);
    mean += shares[row] * products[p];
  }
  for (size_t p = 0; p < products.size(); ++p) {
    const size_t row = packed.row(s, p);
    const float share = shares[row], d_score = static_cast<float>(share * (products[p] - mean));
    for (size_t u = 0; u < width; ++u) {
      d_states[row * width + u] = share * d[u] + d_score * query[u];
      d_query[u] += d_score * states[row * width + u];
    }
  }
}

}  // namespace

Pooling pooling_of(const std::string& name) {
  if (name == "last") return Pooling::last;
  if (name == "mean") return Pooling::mean;
  if (name == "max") return Pooling::max;
  PACELINE_ASSERT(name == "attention");
  return Pooling::attention;
}

void pool(Pooling kind, const PackedGrains& packed, const float* states, size_t width, size_t forward,
          const float* query, PoolingCache& cache, float* pooled) {
  if (kind == Pooling::max) cache.chosen.resize(packed.sequences() * width);
  if (kind == Pooling::attention) cache.shares.resize(packed.tokens());
  for (size_t s = 0; s < packed.sequences(); ++s) {
    float* to = pooled + s * width;
    const size_t length = packed.length(s);
    if (kind == Pooling::last) {
      std::memcpy(to, states + packed.row(s, length - 1) * width, forward * sizeof(float));
      std::memcpy(to + forward, states + s * width + forward, (width - forward) * sizeof(float));
      continue;
    }
    if (kind == Pooling::max) {
      pool_max(packed, s, states, width, cache.chosen.data() + s * width, to);
      continue;
    }
    if (kind == Pooling::attention) attention_shares(packed, s, states, width, query, cache.shares.data());
    std::fill_n(to, width, 0.f);
    const float equal = 1.f / static_cast<float>(length);
    for (size_t p = 0; p < length; ++p) {
      const size_t row = packed.row(s, p);
      const float share = kind == Pooling::mean ? equal : cache.shares[row];
      for (size_t u = 0; u < width; ++u) to[u] += share * states[row * width + u];
    }
  }
}

void pool_backward(Pooling kind, const PackedGrains& packed, const float* states, size_t width,
                   size_t forward, const float* query, const PoolingCache& cache, const float* d_pooled,
                   float* d_states, float* d_query) {
  if (kind == Pooling::last || kind == Pooling::max)
    std::memset(d_states, 0, packed.tokens() * width * sizeof(float));
  for (size_t s = 0; s < packed.sequences(); ++s) {
    const float* d = d_pooled + s * width;
    const size_t length = packed.length(s);
    if (kind == Pooling::last) {
      std::memcpy(d_states + packed.row(s, length - 1) * width, d, forward * sizeof(float));
      std::memcpy(d_states + s * width + forward, d + forward, (width - forward) * sizeof(float));
    } else if (kind == Pooling::max) {
      const uint32_t* chosen = cache.chosen.data() + s * width;
      for (size_t u = 0; u < width; ++u) d_states[chosen[u] * width + u] = d[u];
    } else if (kind == Pooling::mean) {
      const float equal = 1.f / static_cast<float>(length);
      for (size_t p = 0; p < length; ++p)
        for (size_t u = 0; u < width; ++u) d_states[packed.row(s, p) * width + u] = equal * d[u];
    } else {
      attention_backward(packed, s, states, width, query, cache.shares.data(), d, d_states,
                         d_query + packed.grains[s] * width);
    }
  }
}

}  // namespace paceline
