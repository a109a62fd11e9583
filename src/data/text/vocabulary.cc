#include "data/text/vocabulary.h"

#include <bit>

#include "base/error.h"
#include "data/text/find_byte.h"
#include "data/text/utf8.h"

namespace paceline {
namespace {

constexpr std::string_view pad_word = "<pad>", unknown_word = "<unk>";

}  // namespace

void Vocabulary::reserve(size_t words, size_t bytes) {
  PACELINE_ASSERT(words <= max_size && bytes <= UINT32_MAX);
  arena_.reserve(bytes);
  offsets_.reserve(words + 1);
  table_.assign(std::bit_ceil(2 * words + 2), Slot{});
}

bool Vocabulary::add(std::string_view word) {
  const uint64_t hash = hash64(word);
  const uint32_t tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = table_.size() - 1;
  size_t index = hash & mask;
  for (; table_[index].id != Slot::empty; index = (index + 1) & mask) {
    if (table_[index].tag == tag && this->word(table_[index].id) == word) return false;
  }
  table_[index] = {size(), tag};
  arena_.append(word);
  arena_.push_back('\n');
  offsets_.push_back(static_cast<uint32_t>(arena_.size()));
  return true;
}

Vocabulary Vocabulary::from_words(std::vector<std::string> words) {
  size_t bytes = pad_word.size() + unknown_word.size() + 2;
  for (const std::string& word : words) bytes += word.size() + 1;
  Vocabulary vocabulary;
  vocabulary.reserve(words.size() + 2, bytes);
  vocabulary.add(pad_word);
  vocabulary.add(unknown_word);
  for (const std::string& word : words) {
    PACELINE_ASSERT(!word.empty() && word.find('\n') == std::string::npos && valid_utf8(word));
    const bool added = vocabulary.add(word);
    PACELINE_ASSERT(added);
  }
  return vocabulary;
}

Vocabulary Vocabulary::load(const fs::path& path) {
  std::string bytes = read_file(path, UINT32_MAX);
  if (!bytes.empty() && bytes.back() != '\n') bytes.push_back('\n');
  const auto lines = static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  if (lines > max_size) input_error("{}: {} words are more than {} can be", path.string(), lines, max_size);
  Vocabulary vocabulary;
  vocabulary.reserve(lines, bytes.size());
  for (size_t begin = 0, line = 1; begin < bytes.size(); ++line) {
    const size_t end = find_byte(bytes, '\n', begin);
    const std::string_view word = std::string_view(bytes).substr(begin, end - begin);
    if (!valid_utf8(word)) input_error("{}:{}: the word is not valid UTF-8", path.string(), line);
    if (line <= 2 && word != (line == 1 ? pad_word : unknown_word)) {
      input_error("{}:{}: a vocabulary begins with the lines {} and {}, found \"{}\"{}", path.string(), line,
                  pad_word, unknown_word, word.substr(0, code_point_boundary(word, 40)),
                  bytes.find("[UNK]") != std::string::npos ? "; this one is for --tokenizer wordpiece" : "");
    }
    if (word.empty())
      input_error("{}:{}: the line is empty; a vocabulary holds one word a line", path.string(), line);
    if (!vocabulary.add(word))
      input_error("{}:{}: the word \"{}\" is there twice", path.string(), line, word);
    begin = end + 1;
  }
  if (vocabulary.size() < 2) {
    input_error("{}: a vocabulary begins with the lines {} and {}", path.string(), pad_word, unknown_word);
  }
  return vocabulary;
}

void Vocabulary::save(const fs::path& path) const { write_file_atomically(path, arena_); }

std::optional<uint32_t> Vocabulary::find(std::string_view word) const {
  const uint64_t hash = hash64(word);
  const uint32_t tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = table_.size() - 1;
  for (size_t index = hash & mask;; index = (index + 1) & mask) {
    const Slot slot = table_[index];
    if (slot.id == Slot::empty) return std::nullopt;
    if (slot.tag == tag && this->word(slot.id) == word) return slot.id;
  }
}

std::string_view Vocabulary::word(uint32_t id) const {
  const uint32_t begin = offsets_[id];
  return {arena_.data() + begin, offsets_[id + 1] - begin - 1};
}

Hash128 Vocabulary::hash() const { return hash128(arena_); }

}  // namespace paceline
