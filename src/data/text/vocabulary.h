// Words and their ids.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/hash.h"

namespace paceline {

class Vocabulary {
 public:
  static constexpr uint32_t pad_id = 0, unknown_id = 1;
  static constexpr uint32_t max_size = uint32_t{1} << 24;

  // Ids in the order of the words, after <pad> (0) and <unk> (1), which are put in front. The words
  // must be distinct, not empty, without line breaks, and not one of those two (asserted).
  static Vocabulary from_words(std::vector<std::string> words);
  // One word a line, as save() writes it. Throws InputError ("FILE:LINE: ...") when it is anything else.
  static Vocabulary load(const fs::path& path);
  // BERT's vocab.txt: one piece a line, ended by a line feed or by carriage return and line feed, with [UNK],
  // [CLS] and [SEP] among them. Throws InputError as above.
  static Vocabulary load_pieces(const fs::path& path);
  // The same of a file's bytes; name is for messages.
  static Vocabulary parse_pieces(std::string bytes, const std::string& name);
  void save(const fs::path& path) const;

  std::optional<uint32_t> find(std::string_view word) const;
  // unknown_id when the word is not there. Not for pieces, whose unknown one has another id.
  uint32_t id(std::string_view word) const { return find(word).value_or(unknown_id); }
  // id < size().
  std::string_view word(uint32_t id) const;
  uint32_t size() const { return static_cast<uint32_t>(offsets_.size()) - 1; }
  // Of the bytes that save() writes.
  Hash128 hash() const;

 private:
  // Which id a hash leads to; the tag spares most comparisons of different words.
  struct Slot {
    uint32_t id = empty;
    uint32_t tag = 0;
    static constexpr uint32_t empty = UINT32_MAX;
  };

  Vocabulary() = default;
  void reserve(size_t words, size_t bytes);
  // False when the word is there already.
  bool add(std::string_view word);

  std::string arena_;                    // the words, each followed by a line break: the file's bytes
  std::vector<uint32_t> offsets_ = {0};  // where each word begins in the arena, and the arena's size
  std::vector<Slot> table_;              // open addressing, a power of two, at most half full
};

}  // namespace paceline
