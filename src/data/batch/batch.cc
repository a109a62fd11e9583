#include "data/batch/batch.h"

#include <algorithm>

#include "base/error.h"
#include "data/text/vocabulary.h"

namespace paceline {
namespace {

constexpr uint32_t empty_text[] = {Vocabulary::unknown_id};

uint64_t parts(uint64_t total, uint64_t each) { return (total + each - 1) / each; }

// Cuts samples, the longest first, into exactly so many grains, none of them empty.
void cut_evenly(std::span<const Sample> samples, uint64_t tokens, uint64_t grains,
                std::vector<uint64_t>& begin) {
  begin.assign(1, 0);
  uint64_t i = 0;
  // A text as long as an even share or longer is a grain of its own, and the others share what is left.
  for (; grains > 1 && samples[i].ids.size() * grains >= tokens; --grains) {
    tokens -= samples[i].ids.size();
    begin.push_back(++i);
  }
  // A sample goes to the share in which its middle lies. Middles are now less than a share apart, so no
  // grain is left out.
  uint64_t grain = 0, before = 0;
  for (; i < samples.size(); ++i) {
    const uint64_t length = samples[i].ids.size();
    const uint64_t share = (2 * before + length) * grains / (2 * tokens);
    if (share != grain) begin.push_back(i);
    grain = share;
    before += length;
  }
  begin.push_back(samples.size());
}

bool grains_fit(const Batch& batch, uint64_t grain_tokens) {
  for (uint64_t g = 0; g < batch.grains(); ++g) {
    const auto grain = batch.grain(g);
    uint64_t tokens = 0;
    for (const Sample& sample : grain) tokens += sample.ids.size();
    if (grain.size() > 1 && tokens > grain_tokens) return false;
  }
  return true;
}

}  // namespace

Sample sample_of(const Rows& rows, uint64_t classes, size_t row) {
  Sample sample;
  sample.ids = rows.row(row);
  if (sample.ids.empty()) sample.ids = empty_text;
  if (!rows.labels.empty()) sample.label = rows.labels[row];
  if (!rows.flags.empty()) sample.flags = std::span(rows.flags).subspan(row * classes, classes);
  if (!rows.second_begins.empty()) sample.second_begin = rows.second_begins[row];
  return sample;
}

void cut_into_grains(Batch& batch, uint64_t grain_size, uint64_t grain_tokens) {
  auto& samples = batch.samples;
  PACELINE_ASSERT(!samples.empty() && grain_size > 0 && grain_tokens > 0);
  std::ranges::stable_sort(samples, std::ranges::greater(), [](const Sample& s) { return s.ids.size(); });
  PACELINE_ASSERT(!samples.back().ids.empty());
  batch.longest = samples.front().ids.size();
  batch.tokens = 0;
  for (const Sample& sample : samples) batch.tokens += sample.ids.size();
  // One grain for each sample fits by definition, so this ends.
  uint64_t grains = std::max(parts(samples.size(), grain_size), parts(batch.tokens, grain_tokens));
  for (;; grains += 1 + grains / 16) {
    cut_evenly(samples, batch.tokens, std::min<uint64_t>(grains, samples.size()), batch.grain_begin);
    if (grains_fit(batch, grain_tokens)) return;
  }
}

}  // namespace paceline
