#include "engine/score/extremes.h"

#include <algorithm>

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

Json samples_json(const std::vector<ScoredSample>& samples) {
  Json out = Json::array();
  for (const auto& sample : samples)
    out.push_back(
        {{"row", sample.row}, {"score", sample.score}, {"truth", sample.truth}, {"text", sample.text}});
  return out;
}

// Whole characters, and a sign that there are more.
std::string shortened(const std::string& text, size_t columns) {
  if (columns == 0 || display_width(text) <= columns) return text;
  size_t end = 0;
  for (size_t next = 1; next <= text.size(); ++next) {
    const bool is_whole = next == text.size() || (static_cast<unsigned char>(text[next]) & 0xC0) != 0x80;
    if (!is_whole) continue;
    if (display_width(std::string_view(text).substr(0, next)) + 1 > columns) break;
    end = next;
  }
  return text.substr(0, end) + "…";
}

}  // namespace

void FirstFew::add(double key, uint64_t row, float score, bool truth, std::span<const uint32_t> ids) {
  if (count_ == 0) return;
  Entry entry{key, {row, score, truth, {}, {}}};
  if (entries_.size() == count_ && !is_before(entry, entries_.back())) return;
  entry.sample.ids.assign(ids.begin(), ids.end());
  if (entries_.size() == count_) entries_.pop_back();
  entries_.insert(std::ranges::upper_bound(entries_, entry, is_before), std::move(entry));
}

std::vector<ScoredSample> FirstFew::take() {
  std::vector<ScoredSample> samples;
  for (auto& entry : entries_) samples.push_back(std::move(entry.sample));
  entries_.clear();
  return samples;
}

void ExtremesCounter::add(uint64_t row, float score, bool truth, std::span<const uint32_t> ids) {
  highest_.add(score, row, score, truth, ids);
  lowest_.add(-static_cast<double>(score), row, score, truth, ids);
  const double wrong = truth ? 1 - static_cast<double>(score) : score;
  if (wrong > 0.5) most_wrong_.add(wrong, row, score, truth, ids);
}

Extremes ExtremesCounter::take() { return {of_, highest_.take(), lowest_.take(), most_wrong_.take()}; }

Json to_json(const Extremes& extremes) {
  return {{"of", extremes.of},
          {"highest", samples_json(extremes.highest)},
          {"lowest", samples_json(extremes.lowest)},
          {"most_wrong", samples_json(extremes.most_wrong)}};
}

Table samples_table(const std::vector<ScoredSample>& samples, const std::string& of, size_t text_columns) {
  Table table({"row", "score", "labelled", "text"});
  for (const auto& sample : samples)
    table.add(
        {sample.row, sample.score, sample.truth ? of : "not " + of, shortened(sample.text, text_columns)});
  return table;
}

}  // namespace paceline
