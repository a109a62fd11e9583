#include "data/text/piece_trie.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

constexpr uint32_t block_size = 256;
// Places that are tried for a node's children before a new block is begun; this bounds the time.
constexpr int most_attempts = 64;

size_t characters_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

PieceTrie::PieceTrie(const Vocabulary& pieces) {
  place(branches_of(pieces));
  std::vector<uint32_t>().swap(next_free_);
  std::vector<uint32_t>().swap(previous_free_);
}

size_t PieceTrie::match(std::string_view word, uint32_t* out) const {
  uint32_t* const first = out;
  uint32_t node = begin_;
  const auto give_up_node = [&] {
    const Failure& failure = failures_[node];
    if (failure.link == none) return false;
    uint32_t cell = failure.last;
    for (uint32_t k = failure.count; k > 0; --k) {
      out[k - 1] = cells_[cell].id;
      cell = cells_[cell].before;
    }
    out += failure.count;
    node = failure.link;
    return true;
  };
  for (char c : word) {
    uint32_t next;
    while ((next = child(node, static_cast<uint8_t>(c))) == none)
      if (!give_up_node()) return 0;
    node = next;
  }
  while (node != continue_)
    if (!give_up_node()) return 0;
  return static_cast<size_t>(out - first);
}

void PieceTrie::insert(std::vector<Branch>& branches, uint32_t root, std::string_view piece, uint32_t id) {
  uint32_t at = root;
  for (char c : piece) {
    const auto byte = static_cast<uint8_t>(c);
    uint32_t next = branches[at].first_child;
    while (next != none && branches[next].byte != byte) next = branches[next].next_sibling;
    if (next == none) {
      next = static_cast<uint32_t>(branches.size());
      branches.push_back({none, branches[at].first_child, none, byte});
      branches[at].first_child = next;
    }
    at = next;
  }
  branches[at].id = id;
}

// Branch 0 begins words, branch 1 continues them. What can match no word is left out: the empty
// continuation, and pieces longer than a word can be.
std::vector<PieceTrie::Branch> PieceTrie::branches_of(const Vocabulary& pieces) {
  std::vector<Branch> branches(2);
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    std::string_view piece = pieces.word(id);
    const bool continues = piece.starts_with(continuation);
    if (continues) piece.remove_prefix(continuation.size());
    if (piece.empty() || characters_of(piece) > max_word_characters) continue;
    insert(branches, continues ? 1 : 0, piece, id);
  }
  return branches;
}

// Level by level, so that a node's failure link, which leads to a shorter string, is there before its own.
void PieceTrie::place(const std::vector<Branch>& branches) {
  struct Placed {
    uint32_t branch, node;
  };
  add_block();
  begin_ = 0;
  continue_ = 1;
  take_place(begin_, none);
  take_place(continue_, none);
  std::vector<Placed> level = {{0, begin_}, {1, continue_}}, following;
  std::vector<uint8_t> bytes;
  for (; !level.empty(); level.swap(following)) {
    following.clear();
    for (const auto [branch, node] : level) {
      bytes.clear();
      for (uint32_t b = branches[branch].first_child; b != none; b = branches[b].next_sibling)
        bytes.push_back(branches[b].byte);
      if (bytes.empty()) continue;
      const uint32_t base = find_base(bytes);
      nodes_[node].base = base;
      for (uint32_t b = branches[branch].first_child; b != none; b = branches[b].next_sibling) {
        take_place(base ^ branches[b].byte, node);
        following.push_back({b, base ^ branches[b].byte});
      }
    }
    for (const auto [branch, node] : following)
      link(node, nodes_[node].parent, branches[branch].byte, branches[branch].id);
  }
}

uint32_t PieceTrie::find_base(std::span<const uint8_t> bytes) {
  uint32_t candidate = first_free_;
  for (int attempt = 0; attempt < most_attempts && candidate != none; ++attempt) {
    const uint32_t base = candidate ^ bytes[0];
    if (std::ranges::all_of(bytes, [&](uint8_t byte) { return next_free_[base ^ byte] != none; }))
      return base;
    candidate = next_free_[candidate];
    if (candidate == first_free_) break;
  }
  const auto block = static_cast<uint32_t>(nodes_.size());
  add_block();
  return block;
}

// Free places form a ring; a place that is taken is in it no more, which next_free_ tells.
void PieceTrie::add_block() {
  const auto begin = static_cast<uint32_t>(nodes_.size());
  nodes_.resize(begin + block_size);
  failures_.resize(begin + block_size);
  next_free_.resize(begin + block_size);
  previous_free_.resize(begin + block_size);
  for (uint32_t place = begin; place < begin + block_size; ++place) {
    next_free_[place] = place + 1;
    previous_free_[place] = place - 1;
  }
  const uint32_t last = begin + block_size - 1;
  if (first_free_ == none) first_free_ = begin;
  const uint32_t end = first_free_ == begin ? last : previous_free_[first_free_];
  next_free_[end] = begin;
  previous_free_[begin] = end;
  next_free_[last] = first_free_;
  previous_free_[first_free_] = last;
}

void PieceTrie::take_place(uint32_t place, uint32_t parent) {
  const uint32_t next = next_free_[place], previous = previous_free_[place];
  PACELINE_ASSERT(next != none);
  next_free_[previous] = next;
  previous_free_[next] = previous;
  if (first_free_ == place) first_free_ = next == place ? none : next;
  next_free_[place] = none;
  nodes_[place].parent = parent;
}

void PieceTrie::append_pieces(Failure& to, const Failure& from) {
  std::vector<uint32_t> ids(from.count);
  uint32_t cell = from.last;
  for (uint32_t k = from.count; k > 0; --k) {
    ids[k - 1] = cells_[cell].id;
    cell = cells_[cell].before;
  }
  for (uint32_t id : ids) {
    cells_.push_back({id, to.last});
    to.last = static_cast<uint32_t>(cells_.size() - 1);
  }
  to.count += from.count;
}

// After a whole piece a word goes on at the continuation's root. Otherwise the longest pieces are those of
// the parent, and matching goes on where the parent's would, if that has this byte, or else further on.
void PieceTrie::link(uint32_t node, uint32_t parent, uint8_t byte, uint32_t id) {
  Failure failure;
  if (id != none) {
    cells_.push_back({id, none});
    failures_[node] = {continue_, static_cast<uint32_t>(cells_.size() - 1), 1};
    return;
  }
  failure = failures_[parent];
  uint32_t at = failure.link;
  while (at != none && child(at, byte) == none) {
    append_pieces(failure, failures_[at]);
    at = failures_[at].link;
  }
  if (at == none) return;
  failure.link = child(at, byte);
  failures_[node] = failure;
}

}  // namespace paceline
