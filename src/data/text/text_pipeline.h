// From a text as found to its words: the same steps when a data set is prepared and when a model is used.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "data/text/word_tokenizer.h"

namespace paceline {

// One per thread.
class TextPipeline {
 public:
  explicit TextPipeline(bool clean_html) : clean_html_(clean_html) {}

  // The text as the tokenizer sees it: valid UTF-8, HTML taken out when asked. Valid until the next call.
  std::string_view clean(std::string_view text);
  // The words of a cleaned text. Valid until the next call.
  const std::vector<std::string_view>& words(std::string_view cleaned);

 private:
  bool clean_html_;
  WordTokenizer tokenizer_;
  std::string repaired_, cleaned_;
  std::vector<std::string_view> words_;
};

}  // namespace paceline
