// WordPiece against the reference (golden/make_wordpiece.py).
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "../fuzz/wordpiece_target.h"
#include "data/text/byte_source.h"
#include "data/text/utf8.h"

namespace paceline {
namespace {

using Json = nlohmann::json;

constexpr uint32_t block_size = 4096;
const fs::path golden_folder = fs::path(PACELINE_SOURCE_DIR) / "tests/data/golden";

const Json& golden() {
  static const Json value = Json::parse(read_file(golden_folder / "wordpiece.json"));
  return value;
}

std::vector<std::pair<std::string, WordPieceRules>> casings() {
  return {{"uncased", WordPieceRules{}}, {"cased", WordPieceRules::cased()}};
}

std::vector<std::pair<std::string, WordPieceRules>> all_rules() {
  return {{"lower-strip", {true, true, true}},
          {"lower-keep", {true, false, true}},
          {"keep-strip", {false, true, true}},
          {"keep-keep", {false, false, true}}};
}

WordPiece small_wordpiece(const WordPieceRules& rules) {
  return {Vocabulary::load_pieces(golden_folder / "wordpiece_vocab.txt"), rules};
}

// Calls action for every code point of a block alone and between two letters.
template <typename Action>
void for_each_text(uint32_t block, Action action) {
  for (uint32_t value = block * block_size; value < (block + 1) * block_size; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) continue;
    std::string character;
    append_code_point(character, value);
    action(character);
    action("a" + character + "b");
  }
}

uint32_t checksum(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

TEST(WordPieceGolden, IdsOfLinesAreTheReferences) {
  for (const auto& [casing, rules] : casings()) {
    const WordPiece wordpiece = small_wordpiece(rules);
    WordPiece::Scratch scratch;
    Sequence sequence;
    for (const Json& line : golden().at("lines")) {
      encode_sequence(wordpiece, line.at("text").get<std::string>(), std::nullopt, 512, scratch, sequence);
      EXPECT_EQ(Json(sequence.ids), line.at(casing).at("ids")) << casing << ": " << line.at("text");
    }
  }
}

TEST(WordPieceGolden, PairsAreCutLikeTheReferences) {
  for (const auto& [casing, rules] : casings()) {
    const WordPiece wordpiece = small_wordpiece(rules);
    WordPiece::Scratch scratch;
    Sequence sequence;
    for (const Json& row : golden().at("cut")) {
      std::string text = row.at("text"), second_text;
      std::optional<std::string_view> second;
      if (row.at("second").is_string()) second = second_text = row.at("second");
      encode_sequence(wordpiece, text, second, row.at("length"), scratch, sequence);
      EXPECT_EQ(Json(sequence.ids), row.at(casing).at("ids")) << casing << ": " << row;
      EXPECT_EQ(sequence.second_begin, row.at(casing).at("second_begin")) << casing << ": " << row;
    }
  }
}

TEST(WordPieceGolden, MarksComeInCanonicalOrder) {
  for (const auto& [name, rules] : all_rules()) {
    const WordPieceNormalizer normalizer(rules);
    for (const Json& row : golden().at("mixtures"))
      EXPECT_EQ(Json(plain_words(normalized(normalizer, row.at("text").get<std::string>()))), row.at(name))
          << name << ": " << row.at("text");
  }
}

TEST(WordPieceGolden, EveryCodePointBecomesTheReferencesWords) {
  for (const auto& [name, rules] : all_rules()) {
    const WordPieceNormalizer normalizer(rules);
    const Json& sums = golden().at("code_point_words").at(name);
    ASSERT_EQ(sums.size(), 0x110000 / block_size);
    for (uint32_t block = 0; block < sums.size(); ++block) {
      std::string bytes;
      for_each_text(block, [&](const std::string& text) {
        const auto words = plain_words(normalized(normalizer, text));
        for (size_t i = 0; i < words.size(); ++i) bytes += (i > 0 ? "\n" : "") + words[i];
        bytes += '\0';
      });
      EXPECT_EQ(checksum(bytes), sums[block]) << name << ", from U+" << std::hex << block * block_size;
    }
  }
}

TEST(WordPieceGolden, EveryCodePointHasTheReferencesIdsOfBert) {
  const fs::path file = fs::path(PACELINE_SOURCE_DIR) / "../shared/data/bert/vocab.txt.gz";
  if (!fs::exists(file)) GTEST_SKIP() << "no vocabulary of BERT at ../shared/data/bert";
  const auto source = open_byte_source(file);
  std::string pieces(size_t{1} << 22, '\0');
  size_t size = 0;
  while (const size_t got = source->read(std::span(pieces).subspan(size))) size += got;
  pieces.resize(size);
  for (const auto& [casing, rules] : casings()) {
    const WordPiece wordpiece(Vocabulary::parse_pieces(pieces, file.string()), rules);
    WordPiece::Scratch scratch;
    Sequence sequence;
    const Json& sums = golden().at("code_point_ids").at(casing);
    for (uint32_t block = 0; block < sums.size(); ++block) {
      std::vector<uint32_t> ids;
      for_each_text(block, [&](const std::string& text) {
        encode_sequence(wordpiece, text, std::nullopt, 0, scratch, sequence);
        ids.insert(ids.end(), sequence.ids.begin(), sequence.ids.end());
        ids.push_back(UINT32_MAX);
      });
      const std::string_view bytes(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(uint32_t));
      EXPECT_EQ(checksum(bytes), sums[block]) << casing << ", from U+" << std::hex << block * block_size;
    }
  }
}

}  // namespace
}  // namespace paceline
