#include "data/text/vocabulary.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline {
namespace {

class VocabularyTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::path(testing::TempDir()) / ("paceline_vocab_" + std::to_string(::getpid()));
  }
  void TearDown() override { fs::remove(path_); }

  std::string error_of(std::string_view bytes) {
    write_file_atomically(path_, bytes);
    try {
      Vocabulary::load(path_);
    } catch (const InputError& error) {
      return std::string(error.what()).substr(path_.string().size());
    }
    return "";
  }
  fs::path path_;
};

TEST_F(VocabularyTest, IdsFollowTheOrderAfterPadAndUnknown) {
  const Vocabulary vocabulary = Vocabulary::from_words({"the", "é", "a"});
  EXPECT_EQ(vocabulary.size(), 5u);
  EXPECT_EQ(vocabulary.word(0), "<pad>");
  EXPECT_EQ(vocabulary.word(1), "<unk>");
  EXPECT_EQ(vocabulary.id("the"), 2u);
  EXPECT_EQ(vocabulary.id("é"), 3u);
  EXPECT_EQ(vocabulary.word(4), "a");
  EXPECT_EQ(vocabulary.id("th"), Vocabulary::unknown_id);
  EXPECT_EQ(vocabulary.id(""), Vocabulary::unknown_id);
  EXPECT_EQ(Vocabulary::from_words({}).id("x"), Vocabulary::unknown_id);
}

TEST_F(VocabularyTest, SavedAndLoadedItIsTheSame) {
  std::vector<std::string> words;
  for (int k = 0; k < 100'000; ++k) words.push_back("w" + std::to_string(k));
  const Vocabulary made = Vocabulary::from_words(words);
  made.save(path_);
  const Vocabulary loaded = Vocabulary::load(path_);
  ASSERT_EQ(loaded.size(), made.size());
  EXPECT_EQ(loaded.hash(), made.hash());
  for (uint32_t id = 0; id < made.size(); ++id) {
    ASSERT_EQ(loaded.word(id), made.word(id));
    ASSERT_EQ(loaded.id(made.word(id)), id);
  }
  std::swap(words[0], words[1]);
  EXPECT_NE(Vocabulary::from_words(words).hash(), made.hash());
}

TEST_F(VocabularyTest, FilesOfAnythingElseAreRefusedWithTheLine) {
  EXPECT_EQ(error_of("<pad>\n<unk>\nword"), "");
  EXPECT_EQ(error_of("<pad>\n<unk>\n"), "");
  EXPECT_TRUE(error_of("the\n<unk>\n").starts_with(":1: a vocabulary begins with")) << error_of("the\n");
  EXPECT_TRUE(error_of("<pad>\r\n<unk>\r\n").starts_with(":1:"));
  EXPECT_TRUE(error_of("<pad>\nword\n").starts_with(":2:"));
  EXPECT_TRUE(error_of("<pad>\n").starts_with(": a vocabulary begins with"));
  EXPECT_TRUE(error_of("").starts_with(": a vocabulary begins with")) << error_of("");
  EXPECT_TRUE(error_of("<pad>\n<unk>\na\n\nb\n").starts_with(":4: the line is empty"));
  EXPECT_TRUE(error_of("<pad>\n<unk>\na\nb\na\n").starts_with(":5: the word \"a\" is there twice"));
  EXPECT_TRUE(error_of("<pad>\n<unk>\n\xFF\n").starts_with(":3: the word is not valid UTF-8"));
}

}  // namespace
}  // namespace paceline
