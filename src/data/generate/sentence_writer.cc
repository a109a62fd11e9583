#include "data/generate/sentence_writer.h"

namespace paceline {
namespace {

// How often a word has a slip of the finger, in 256ths.
constexpr unsigned kTypo = 2;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool needs_an(std::string_view word) {
  return std::string_view("aeiouAEIOU").find(word[0]) != std::string_view::npos && !word.starts_with("us");
}

}  // namespace

void SentenceWriter::begin_text(RandomStream random, std::string& text) {
  random_ = random;
  text_ = &text;
  text.clear();
}

void SentenceWriter::begin_sentence(std::string_view separator) {
  if (!text_->empty()) text_->append(separator);
  sentence_begin_ = text_->size();
}

void SentenceWriter::end_sentence(std::string_view mark, bool capital) {
  char& first = (*text_)[sentence_begin_];
  if (capital && first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
  text_->append(mark);
}

void SentenceWriter::word(std::string_view word) {
  fit_article(word);
  if (chance(kTypo))
    append_typo(word, random_, *text_);
  else
    text_->append(word);
}

void SentenceWriter::fit_article(std::string_view word) {
  if (needs_an(word) && text_->ends_with("a ") &&
      (text_->size() == sentence_begin_ + 2 || !is_letter((*text_)[text_->size() - 3])))
    text_->insert(text_->size() - 1, 1, 'n');
}

}  // namespace paceline
