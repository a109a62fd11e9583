#include "engine/model/word_vectors.h"

#include <charconv>
#include <cmath>
#include <fstream>

#include "base/error.h"

namespace paceline {
namespace {

std::string_view next_field(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
  const std::string_view field = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return field;
}

uint64_t count_fields(std::string_view line) {
  uint64_t count = 0;
  while (!next_field(line).empty()) ++count;
  return count;
}

}  // namespace

WordVectorFacts read_word_vectors(const fs::path& file, const Vocabulary& vocabulary, uint64_t width,
                                  float* table) {
  std::ifstream in(file, std::ios::binary);
  if (!in) input_error("--word-vectors {}: cannot be read", file.string());
  WordVectorFacts facts;
  std::vector<float> values(width);
  std::string text;
  while (std::getline(in, text)) {
    ++facts.lines;
    std::string_view line = text;
    const std::string_view word = next_field(line);
    const uint64_t numbers = count_fields(line);
    if (facts.lines == 1 && numbers == 1) continue;  // counts of words and values
    if (word.empty() && numbers == 0) continue;
    if (numbers != width)
      input_error("{}:{}: {} numbers behind the word, --embedding is {}", file.string(), facts.lines, numbers,
                  width);
    const auto found = vocabulary.find(word);
    if (!found || *found == Vocabulary::unknown_id) continue;
    const uint32_t id = *found;
    for (float& value : values) {
      const std::string_view field = next_field(line);
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
      if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value))
        input_error("{}:{}: '{}' is not a number", file.string(), facts.lines, field);
    }
    std::copy(values.begin(), values.end(), table + id * width);
    ++facts.found;
  }
  if (facts.found == 0) input_error("--word-vectors {}: no line has a word of the vocabulary", file.string());
  return facts;
}

}  // namespace paceline
