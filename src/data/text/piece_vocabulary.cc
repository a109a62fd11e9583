// Reading a vocabulary of WordPiece.
#include <algorithm>

#include "base/error.h"
#include "data/text/find_byte.h"
#include "data/text/utf8.h"
#include "data/text/vocabulary.h"

namespace paceline {
namespace {

// Far beyond every vocabulary that is in use (half a million pieces in 5 MB), and small enough to be
// believed.
constexpr uint64_t max_file_bytes = uint64_t{64} << 20;
constexpr size_t max_piece_bytes = 1000;

// nullptr when the line can be a piece.
const char* problem_of(std::string_view piece) {
  if (piece.empty()) return "the line is empty; remove it, or take the file as its model was published";
  if (piece.size() > max_piece_bytes) return "the line is longer than 1,000 bytes, so this is no vocabulary";
  if (piece.find('\0') != std::string_view::npos) return "a zero byte in it, so this is no vocabulary";
  if (piece.find('\r') != std::string_view::npos)
    return "a carriage return inside of the line; write the file with one piece a line";
  if (!valid_utf8(piece)) return "the piece is not valid UTF-8; convert the file to UTF-8";
  return nullptr;
}

}  // namespace

Vocabulary Vocabulary::load_pieces(const fs::path& path) {
  return parse_pieces(read_file(path, max_file_bytes), path.string());
}

Vocabulary Vocabulary::parse_pieces(std::string bytes, const std::string& name) {
  if (bytes.empty()) input_error("{}: the file is empty; a WordPiece vocabulary has one piece a line", name);
  if (bytes.back() != '\n') bytes.push_back('\n');
  Vocabulary vocabulary;
  const auto lines = static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  if (lines > max_size) input_error("{}: {} pieces are more than {} can be", name, lines, max_size);
  vocabulary.reserve(lines, bytes.size());
  for (size_t begin = 0, line = 1; begin < bytes.size(); ++line) {
    const size_t end = find_byte(bytes, '\n', begin);
    std::string_view piece = std::string_view(bytes).substr(begin, end - begin);
    if (piece.ends_with('\r')) piece.remove_suffix(1);
    if (const char* problem = problem_of(piece)) input_error("{}:{}: {}", name, line, problem);
    if (!vocabulary.add(piece))
      input_error(
          "{}:{}: the piece \"{}\" is there twice (first in line {}), so its id is not clear; remove one",
          name, line, piece, *vocabulary.find(piece) + 1);
    begin = end + 1;
  }
  for (const char* needed : {"[UNK]", "[CLS]", "[SEP]"})
    if (!vocabulary.find(needed))
      input_error("{}: no line is {}; a WordPiece vocabulary has the lines [UNK], [CLS] and [SEP]", name,
                  needed);
  return vocabulary;
}

}  // namespace paceline
