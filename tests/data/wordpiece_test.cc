#include "data/text/wordpiece.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "../fuzz/wordpiece_target.h"
#include "base/random.h"

namespace paceline {
namespace {

const std::string special = "[UNK]\n[CLS]\n[SEP]\n";

WordPiece wordpiece_of(const std::string& pieces, const WordPieceRules& rules = {}) {
  return {Vocabulary::parse_pieces(special + pieces, "test"), rules};
}

std::string error_of(std::string bytes) {
  try {
    Vocabulary::parse_pieces(std::move(bytes), "vocab.txt");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// A text of the given characters, of random length.
std::string random_text(RandomStream& random, const std::vector<std::string>& characters, uint64_t longest) {
  std::string text;
  for (uint64_t n = random.below(longest + 1); n > 0; --n)
    text += characters[random.below(characters.size())];
  return text;
}

TEST(WordPieceMatching, TheLongestPiecesAreFoundWhateverTheVocabulary) {
  // Few letters, so that pieces overlap in every way and links are followed through several nodes.
  RandomStream random({61});
  const std::vector<std::string> letters = {"a", "b", "\xC3\xA9", "\xC3\xA8"};
  const std::vector<std::string> characters = {"a", "b", "a", "b", "\xC3\xA9", "\xC3\xA8", "c", " "};
  for (int round = 0; round < 300; ++round) {
    std::string pieces;
    std::set<std::string> seen;
    for (uint64_t n = 1 + random.below(40); n > 0; --n) {
      const std::string letter = random_text(random, letters, 1 + random.below(7));
      const std::string piece = (random.below(2) ? "##" : "") + letter;
      if (!letter.empty() && seen.insert(piece).second) pieces += piece + "\n";
    }
    const WordPiece wordpiece = wordpiece_of(pieces, WordPieceRules::cased());
    for (int text = 0; text < 50; ++text) check_encoding(wordpiece, random_text(random, characters, 60));
  }
}

TEST(WordPieceMatching, WordsBeginAndEndAnywhereInABlock) {
  RandomStream random({62});
  const WordPiece wordpiece(Vocabulary::parse_pieces(small_pieces, "test"), {});
  const std::vector<std::string> characters = {"a", "b", "a", "b", "A", "0", "the", " ", ".", "\xE4\xB8\xAD",
                                               "\n"};
  for (int round = 0; round < 2000; ++round) check_encoding(wordpiece, random_text(random, characters, 200));
}

TEST(WordPieceMatching, ScratchOfAnotherTextLeavesNoTrace) {
  const WordPiece wordpiece = wordpiece_of("a\nb\n##a\n##b\n");
  WordPiece::Scratch scratch;
  const std::string texts[] = {"abab ab a b [SEP] ab", "", "b", std::string(1000, 'a') + " b", "a", "  "};
  for (const auto& first : texts)
    for (const auto& second : texts) {
      wordpiece.encode(first, scratch);
      const auto ids = wordpiece.encode(second, scratch);
      EXPECT_TRUE(std::ranges::equal(ids, plain_encode(wordpiece, second))) << first << "|" << second;
    }
}

TEST(WordPieceMatching, ThreadsShareOneInstance) {
  const WordPiece wordpiece = wordpiece_of("a\nb\n##a\n##b\n##ab\nc\n\xC3\xA9\n");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      WordPiece::Scratch scratch;
      RandomStream random({uint64_t(t)});
      for (int i = 0; i < 500; ++i) {
        const std::string text = random_text(random, {"a", "b", "c", " ", "\xC3\x89", "."}, 80);
        EXPECT_TRUE(std::ranges::equal(wordpiece.encode(text, scratch), plain_encode(wordpiece, text)))
            << text;
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(WordPieceMatching, SpecialPiecesThatAVocabularyLacksAreText) {
  const WordPiece wordpiece = wordpiece_of("[\n]\nmask\n");
  EXPECT_FALSE(wordpiece.special().mask.has_value());
  WordPiece::Scratch scratch;
  const auto ids = wordpiece.encode("[MASK][SEP]", scratch);
  EXPECT_EQ(std::vector<uint32_t>(ids.begin(), ids.end()), (std::vector<uint32_t>{3, 5, 4, 2}));
}

TEST(PieceVocabulary, LinesMayEndAsOnWindows) {
  const auto pieces = Vocabulary::parse_pieces("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\nword", "test");
  EXPECT_EQ(pieces.find("word"), 4u);
  EXPECT_EQ(pieces.hash(), Vocabulary::parse_pieces("[PAD]\n[UNK]\n[CLS]\n[SEP]\nword\n", "test").hash());
}

TEST(PieceVocabulary, MistakesNameTheLineAndWhatToDo) {
  const auto expect = [](const std::string& bytes, const std::string& begin, const std::string& part) {
    const std::string message = error_of(bytes);
    EXPECT_TRUE(message.starts_with(begin)) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  expect("", "vocab.txt: ", "empty");
  expect(special + "a\n\nb\n", "vocab.txt:5: ", "empty");
  expect(special + "a\nb\na\n", "vocab.txt:6: ", "twice (first in line 4)");
  expect(special + "a\n\xFF\n", "vocab.txt:5: ", "UTF-8");
  expect(special + "a\rb\n", "vocab.txt:4: ", "carriage return");
  expect(special + std::string("a\0b\n", 4), "vocab.txt:4: ", "zero byte");
  expect(special + std::string(100000, 'x') + "\n", "vocab.txt:4: ", "longer than 1,000 bytes");
  expect("[CLS]\n[SEP]\na\n", "vocab.txt: ", "no line is [UNK]");
  expect("[UNK]\n[SEP]\na\n", "vocab.txt: ", "no line is [CLS]");
  expect("[UNK]\n[CLS]\na\n", "vocab.txt: ", "no line is [SEP]");
}

TEST(Segments, TheLongerTextIsCutFirst) {
  EXPECT_EQ(cut_longest_first({3, 4}, 7), (SegmentLengths{3, 4}));
  EXPECT_EQ(cut_longest_first({3, 40}, 10), (SegmentLengths{3, 7}));
  EXPECT_EQ(cut_longest_first({40, 3}, 10), (SegmentLengths{7, 3}));
  EXPECT_EQ(cut_longest_first({30, 30}, 11), (SegmentLengths{5, 6}));
  EXPECT_EQ(cut_longest_first({31, 30}, 11), (SegmentLengths{6, 5}));
  EXPECT_EQ(cut_longest_first({30, 30}, 0), (SegmentLengths{0, 0}));
}

TEST(Segments, ASequenceThatIsShortenedIsOneThatWasCut) {
  const WordPiece wordpiece = wordpiece_of("a\nb\n");
  WordPiece::Scratch scratch;
  const auto text = [](const char* word, uint64_t count) {
    std::string out;
    while (count-- > 0) out += word;
    return out;
  };
  for (uint64_t first = 1; first < 12; ++first)
    for (uint64_t second = 0; second < 12; ++second)
      for (uint64_t length = 5; length < 26; ++length) {
        const std::string a = text("a ", first), b = text("b ", second);
        std::optional<std::string_view> other;
        if (second > 0) other = b;
        Sequence whole, cut;
        encode_sequence(wordpiece, a, other, 0, scratch, whole);
        encode_sequence(wordpiece, a, other, length, scratch, cut);
        EXPECT_EQ(cut.truncated, whole.ids.size() > length);
        whole.ids.resize(shorten_sequence(whole.ids, whole.second_begin, length));
        EXPECT_EQ(whole.ids, cut.ids);
        EXPECT_EQ(whole.second_begin, cut.second_begin);
        EXPECT_LE(cut.ids.size(), length);
        EXPECT_EQ(cut.ids.back(), wordpiece.special().end);
      }
}

}  // namespace
}  // namespace paceline
