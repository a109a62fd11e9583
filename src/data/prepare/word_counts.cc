#include "data/prepare/word_counts.h"

#include <cstring>
#include <fstream>
#include <queue>

#include "base/error.h"
#include "base/hash.h"

namespace paceline {

WordCounter::WordCounter(fs::path folder, std::string prefix, size_t capacity)
    : folder_(std::move(folder)), prefix_(std::move(prefix)), capacity_(capacity), slots_(1 << 12) {}

void WordCounter::add(std::string_view word) {
  const uint64_t hash = hash64(word);
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].count != 0) {
    Slot& slot = slots_[at];
    if (slot.hash == hash && slot.length == word.size() &&
        std::memcmp(arena_.data() + slot.begin, word.data(), word.size()) == 0) {
      ++slot.count;
      return;
    }
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at] = {hash, 1, static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(word.size())};
  arena_.append(word);
  if (++used_ >= capacity_) {
    spill();
  } else if (used_ * 2 > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.count == 0) continue;
      size_t place = slot.hash & (slots_.size() - 1);
      while (slots_[place].count != 0) place = (place + 1) & (slots_.size() - 1);
      slots_[place] = slot;
    }
  }
}

// A run: [length u8][word][count u64], sorted by word.
void WordCounter::spill() {
  std::vector<const Slot*> order;
  for (const Slot& slot : slots_)
    if (slot.count != 0) order.push_back(&slot);
  auto word = [&](const Slot* slot) { return std::string_view(arena_).substr(slot->begin, slot->length); };
  std::sort(order.begin(), order.end(), [&](const Slot* a, const Slot* b) { return word(a) < word(b); });
  runs_.push_back(folder_ / fmt::format("{}-{}", prefix_, runs_.size()));
  FileWriter out(runs_.back());
  for (const Slot* slot : order) {
    PACELINE_ASSERT(slot->length < 256);
    const char length = static_cast<char>(slot->length);
    out.write({&length, 1});
    out.write(word(slot));
    out.write({reinterpret_cast<const char*>(&slot->count), sizeof slot->count});
  }
  out.close();
  std::fill(slots_.begin(), slots_.end(), Slot{});
  arena_.clear();
  used_ = 0;
}

std::vector<fs::path> WordCounter::finish() {
  if (used_ > 0) spill();
  std::vector<Slot>().swap(slots_);
  std::string().swap(arena_);
  return std::move(runs_);
}

namespace {

class Run {
 public:
  explicit Run(const fs::path& path) : in_(path, std::ios::binary), path_(path) {
    if (!in_) work_error("{}: a temporary file of prepare cannot be opened", path.string());
    advance();
  }
  bool good() const { return good_; }
  const std::string& word() const { return word_; }
  uint64_t count() const { return count_; }
  void advance() {
    const int length = in_.get();
    good_ = length != std::char_traits<char>::eof();
    if (!good_) return;
    word_.resize(static_cast<size_t>(length));
    in_.read(word_.data(), length);
    in_.read(reinterpret_cast<char*>(&count_), sizeof count_);
    if (!in_) work_error("{}: a temporary file of prepare is cut short", path_.string());
  }

 private:
  std::ifstream in_;
  fs::path path_;
  std::string word_;
  uint64_t count_ = 0;
  bool good_ = false;
};

}  // namespace

WordTotals merge_word_counts(const std::vector<fs::path>& paths, size_t limit, uint64_t minimum) {
  std::vector<std::unique_ptr<Run>> runs;
  for (const auto& path : paths) runs.push_back(std::make_unique<Run>(path));
  auto later = [](const Run* a, const Run* b) { return a->word() > b->word(); };
  std::priority_queue<Run*, std::vector<Run*>, decltype(later)> front(later);
  for (auto& run : runs)
    if (run->good()) front.push(run.get());

  using Entry = std::pair<uint64_t, std::string>;
  auto better = [](const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::priority_queue<Entry, std::vector<Entry>, decltype(better)> kept(better);  // the worst on top
  WordTotals totals;
  while (!front.empty()) {
    Entry entry{0, front.top()->word()};
    while (!front.empty() && front.top()->word() == entry.second) {
      Run* run = front.top();
      front.pop();
      entry.first += run->count();
      run->advance();
      if (run->good()) front.push(run);
    }
    ++totals.distinct;
    totals.total += entry.first;
    if (entry.first < minimum || limit == 0) continue;
    if (kept.size() < limit) {
      kept.push(std::move(entry));
    } else if (better(entry, kept.top())) {
      kept.pop();
      kept.push(std::move(entry));
    }
  }
  totals.words.resize(kept.size());
  for (size_t i = kept.size(); i > 0; --i) {
    totals.words[i - 1] = kept.top().second;
    kept.pop();
  }
  return totals;
}

}  // namespace paceline
