// What a model computes when it does not learn.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "engine/model/bert.h"

namespace paceline {
namespace {

constexpr size_t tokens_at_once = 1024;

}  // namespace

class BertModel::Borrowed {
 public:
  explicit Borrowed(const BertModel& model) : model_(model) {
    std::lock_guard lock(model_.mutex_);
    if (model_.idle_.empty()) {
      space_ = std::make_unique<BertWorkspace>();
    } else {
      space_ = std::move(model_.idle_.back());
      model_.idle_.pop_back();
    }
  }
  ~Borrowed() {
    std::lock_guard lock(model_.mutex_);
    model_.idle_.push_back(std::move(space_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  BertWorkspace& space() { return *space_; }

 private:
  const BertModel& model_;
  std::unique_ptr<BertWorkspace> space_;
};

namespace {

// Where the texts end that are computed together with the first one.
size_t end_of_part(std::span<const Text> texts, size_t first) {
  size_t end = first, tokens = 0;
  while (end < texts.size() && (end == first || tokens + texts[end].size() <= tokens_at_once))
    tokens += texts[end++].size();
  return end;
}

}  // namespace

void BertModel::logits(std::span<const Text> texts, std::span<float> out) const {
  PACELINE_ASSERT(!masked_);
  Borrowed borrowed(*this);
  BertWorkspace& w = borrowed.space();
  const Dropouts none = no_dropouts();
  for (size_t first = 0, end; first < texts.size(); first = end) {
    end = end_of_part(texts, first);
    clear(w);
    for (size_t i = first; i < end; ++i) add_text(texts[i], first_token, w);
    forward(w, none, false);
    head_forward(w, none.pooled);
    std::copy_n(w.logits.data(), (end - first) * classes_, out.data() + first * classes_);
  }
}

void BertModel::guess(std::span<const Text> texts, std::span<const uint64_t> keys,
                      std::span<GrainLoss> out) const {
  PACELINE_ASSERT(masked_);
  Borrowed borrowed(*this);
  BertWorkspace& w = borrowed.space();
  const Dropouts none = no_dropouts();
  std::vector<RowLoss> losses;
  for (size_t first = 0, end; first < texts.size(); first = end) {
    end = end_of_part(texts, first);
    clear(w);
    for (size_t i = first; i < end; ++i) add_masked_text(texts[i], keys[i], false, w);
    forward(w, none, false);
    losses.resize(w.truths.size());
    masked_->score(w.truths, w.outputs.back().data(), w.masked_space, losses);
    size_t text = 0;
    for (size_t i = first; i < end; ++i) out[i] = {};
    for (size_t i = 0; i < losses.size(); ++i) {
      while (i >= w.asking.begin[text + 1]) ++text;
      GrainLoss& of_text = out[first + text];
      of_text.loss += losses[i].loss;
      of_text.weight += 1;
      of_text.right += losses[i].right ? 1 : 0;
    }
  }
}

void BertModel::probabilities(const Text& text, std::span<const uint32_t> positions,
                              std::span<float> out) const {
  PACELINE_ASSERT(masked_ && out.size() == positions.size() * pieces());
  Borrowed borrowed(*this);
  BertWorkspace& w = borrowed.space();
  clear(w);
  add_text(text, positions, w);
  for (uint32_t position : positions) PACELINE_ASSERT(position < w.texts.rows());
  forward(w, no_dropouts(), false);
  masked_->probabilities(positions.size(), w.outputs.back().data(), w.masked_space, out.data());
}

std::vector<float> BertModel::states(const Text& text) const {
  Borrowed borrowed(*this);
  BertWorkspace& w = borrowed.space();
  clear(w);
  add_tokens(text, w);
  std::vector<uint32_t> all(w.texts.rows());
  std::iota(all.begin(), all.end(), 0u);
  w.asking.add_text(w.texts, all);
  forward(w, no_dropouts(), false);
  std::vector<float> states;
  for (const AlignedFloats& output : w.outputs)
    states.insert(states.end(), output.data(), output.data() + w.texts.rows() * width_);
  return states;
}

}  // namespace paceline
