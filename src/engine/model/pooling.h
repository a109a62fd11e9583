// From the states of a sequence to one vector, and back.
#pragma once
#include <string>

#include "engine/model/packed_grains.h"

namespace paceline {

enum class Pooling { last, mean, max, attention };
Pooling pooling_of(const std::string& name);

// What forward leaves for backward.
struct PoolingCache {
  std::vector<uint32_t> chosen;  // max: row of each unit of each sequence
  std::vector<float> shares;     // attention: of each row
};

// states: tokens x width rows; of `width` units the first `forward` belong to the forward direction, the
// rest to the reverse one. pooled: sequences x width. query: attention.weight.
void pool(Pooling kind, const PackedGrains& packed, const float* states, size_t width, size_t forward,
          const float* query, PoolingCache& cache, float* pooled);
// Writes all of d_states; adds to d_query, a row for each grain.
void pool_backward(Pooling kind, const PackedGrains& packed, const float* states, size_t width,
                   size_t forward, const float* query, const PoolingCache& cache, const float* d_pooled,
                   float* d_states, float* d_query);

}  // namespace paceline
