#include "data/text/text_pipeline.h"

#include "data/text/clean.h"
#include "data/text/utf8.h"

namespace paceline {

std::string_view TextPipeline::clean(std::string_view text) {
  if (!valid_utf8(text)) {
    replace_invalid_utf8(text, repaired_);
    text = repaired_;
  }
  if (!clean_html_) return text;
  clean_html(text, cleaned_);
  return cleaned_;
}

const std::vector<std::string_view>& TextPipeline::words(std::string_view cleaned) {
  tokenizer_.split(cleaned, words_);
  return words_;
}

}  // namespace paceline
