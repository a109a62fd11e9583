// The samples that a model scores highest, lowest and most wrongly for one class.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/table.h"

namespace paceline {

struct ScoredSample {
  uint64_t row = 0;  // of the split
  float score = 0;
  bool truth = false;
  std::vector<uint32_t> ids;
  std::string text;  // filled in by whoever knows the vocabulary
};

// The first few in an order, of any number that are added. Equal ones are ordered by row, so the result does
// not depend on the order of add().
class FirstFew {
 public:
  explicit FirstFew(size_t count) : count_(count) {}
  // key: the larger, the earlier.
  void add(double key, uint64_t row, float score, bool truth, std::span<const uint32_t> ids);
  std::vector<ScoredSample> take();

 private:
  struct Entry {
    double key;
    ScoredSample sample;
  };
  static bool is_before(const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key > b.key : a.sample.row < b.sample.row;
  }
  size_t count_;
  std::vector<Entry> entries_;  // in order
};

struct Extremes {
  std::string of;  // the class
  std::vector<ScoredSample> highest, lowest, most_wrong;
};

class ExtremesCounter {
 public:
  ExtremesCounter(size_t count, std::string of)
      : of_(std::move(of)), highest_(count), lowest_(count), most_wrong_(count) {}
  // score: the probability of the class; truth: whether the sample has it.
  void add(uint64_t row, float score, bool truth, std::span<const uint32_t> ids);
  Extremes take();

 private:
  std::string of_;
  FirstFew highest_, lowest_, most_wrong_;
};

nlohmann::ordered_json to_json(const Extremes& extremes);
// Texts are cut to this many columns. 0: not at all.
Table samples_table(const std::vector<ScoredSample>& samples, const std::string& of, size_t text_columns);

}  // namespace paceline
