// The tokenizer of a data set or a model, opened from its folder.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "data/dataset/info.h"
#include "data/text/segments.h"
#include "data/text/text_pipeline.h"
#include "data/text/vocabulary.h"

namespace paceline {

// Loads the vocabulary that lies in the folder. Throws InputError when it is not the one that the info names.
Vocabulary load_vocabulary(const fs::path& folder, const TokenizerInfo& info);

// The text that ids stand for, as far as they tell: words and pieces joined by spaces, pieces that continue a
// word without one, special pieces left out, " | " between two texts.
std::string text_of(std::span<const uint32_t> ids, const Vocabulary& vocabulary, const TokenizerInfo& info);

// Not safe for two threads at once.
class Tokenizer {
 public:
  // Throws InputError, as load_vocabulary.
  Tokenizer(const fs::path& folder, const TokenizerInfo& info);

  struct Result {
    std::vector<uint32_t> ids;        // cut to max_length; of wordpiece with [CLS] and [SEP]
    std::vector<std::string> tokens;  // as words or pieces
    uint32_t second_begin = 0;        // where the second text's ids begin; 0: there is none
  };
  // max_length: 0: all, up to what the data set was prepared with. Throws InputError for a second text where
  // the tokenizer knows no pairs.
  void encode(std::string_view text, std::optional<std::string_view> second, uint64_t max_length,
              Result& out);

 private:
  void encode_words(std::string_view cleaned, uint64_t max_length, Result& out);

  TokenizerInfo info_;
  TextPipeline pipeline_;
  std::optional<Vocabulary> words_;       // of kind word
  std::unique_ptr<WordPiece> wordpiece_;  // of kind wordpiece
  WordPiece::Scratch scratch_;
  Sequence sequence_;
  std::string first_;  // of a pair, cleaned
};

}  // namespace paceline
