// What one step learns from: samples, cut into grains.
#pragma once
#include <span>
#include <vector>

#include "data/dataset/reader.h"

namespace paceline {

struct Sample {
  std::span<const uint32_t> ids;   // at least one
  uint32_t label = 0;              // LabelKind::single
  std::span<const uint8_t> flags;  // LabelKind::multiple
  uint32_t second_begin = 0;       // where the second text of a pair begins; 0: there is none
};

// The sample of a row in memory, whose ids it views; Vocabulary::unknown_id alone for an empty text.
Sample sample_of(const Rows& rows, uint64_t classes, size_t row);

struct Batch {
  uint64_t step = 0, epoch = 0, step_in_epoch = 0;  // step counts over all epochs
  std::vector<Sample> samples;                      // the longest first
  std::vector<uint64_t> grain_begin = {0};          // grains() + 1 numbers: where each begins, and the end
  uint64_t tokens = 0, longest = 0;

  uint64_t grains() const { return grain_begin.size() - 1; }
  uint64_t first_sample(uint64_t g) const { return grain_begin[g]; }
  std::span<const Sample> grain(uint64_t g) const {
    return std::span(samples).subspan(grain_begin[g], grain_begin[g + 1] - grain_begin[g]);
  }
  uint64_t tokens_of(uint64_t g) const {
    uint64_t sum = 0;
    for (const Sample& sample : grain(g)) sum += sample.ids.size();
    return sum;
  }
};

// Sorts the samples by length, the longest first (equal ones stay in their order), and cuts them into
// grains of about equal numbers of tokens. There are as many grains as it takes for grain_size samples
// and grain_tokens tokens each on average, and more where one would have over grain_tokens; none is
// empty, and a text of more than grain_tokens is a grain of its own. Sets tokens and longest.
void cut_into_grains(Batch& batch, uint64_t grain_size, uint64_t grain_tokens);

}  // namespace paceline
