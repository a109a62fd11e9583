// The longest pieces of a vocabulary that a word is made of, found in one pass over the word.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/text/vocabulary.h"

namespace paceline {

// A trie with two roots, one for pieces that begin a word and one for those that continue it ("##ing"), as
// a double array. Where no child fits, a node's failure link leads to where matching goes on, and on the way
// the node's pieces are put out: the longest ones that its string begins with. So every byte of a word is
// looked at once, and a link is followed at most once a byte.
// Immutable.
class PieceTrie {
 public:
  static constexpr std::string_view continuation = "##";
  static constexpr size_t max_word_characters = 100;  // a longer word is unknown, whatever the pieces

  explicit PieceTrie(const Vocabulary& pieces);

  // Writes the ids of the word's pieces, at most one a byte, and returns how many; 0: it cannot be made of
  // them. The word is not empty.
  size_t match(std::string_view word, uint32_t* out) const;

 private:
  static constexpr uint32_t none = UINT32_MAX;
  struct Node {
    uint32_t base = 0;       // the child for byte b is at base ^ b, if its parent is this node
    uint32_t parent = none;  // none: the place is free, or a root
  };
  struct Failure {
    uint32_t link = none;  // none: there is no way on
    uint32_t last = none;  // the last of the pieces to put out
    uint32_t count = 0;    // of them
  };
  // Pieces to put out, each with the one before it: lists share their beginnings.
  struct Cell {
    uint32_t id, before;
  };
  // The trie while it is built: children as linked lists.
  struct Branch {
    uint32_t first_child = none, next_sibling = none, id = none;
    uint8_t byte = 0;
  };

  static std::vector<Branch> branches_of(const Vocabulary& pieces);
  static void insert(std::vector<Branch>& branches, uint32_t root, std::string_view piece, uint32_t id);
  void place(const std::vector<Branch>& branches);
  uint32_t find_base(std::span<const uint8_t> bytes);
  void add_block();
  void take_place(uint32_t place, uint32_t parent);
  void link(uint32_t node, uint32_t parent, uint8_t byte, uint32_t id);
  void append_pieces(Failure& to, const Failure& from);

  uint32_t child(uint32_t node, uint8_t byte) const {
    const uint32_t place = nodes_[node].base ^ byte;
    return nodes_[place].parent == node ? place : none;
  }

  std::vector<Node> nodes_;
  std::vector<Failure> failures_;  // of each node
  std::vector<Cell> cells_;
  uint32_t begin_ = 0, continue_ = 0;                // the roots
  std::vector<uint32_t> next_free_, previous_free_;  // while it is built: a ring of free places
  uint32_t first_free_ = none;
};

}  // namespace paceline
