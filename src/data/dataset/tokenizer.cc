#include "data/dataset/tokenizer.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {

Vocabulary load_vocabulary(const fs::path& folder, const TokenizerInfo& info) {
  const fs::path file = folder / info.vocabulary;
  Vocabulary vocabulary = info.is_wordpiece() ? Vocabulary::load_pieces(file) : Vocabulary::load(file);
  if (vocabulary.size() != info.vocabulary_size)
    input_error("{}: the vocabulary has {} words, {} were expected; prepare or train again", file.string(),
                vocabulary.size(), info.vocabulary_size);
  if ("xxh3:" + to_hex(vocabulary.hash()) != info.vocabulary_hash)
    input_error("{}: the vocabulary is not the one that this was made with; prepare or train again",
                file.string());
  return vocabulary;
}

std::string text_of(std::span<const uint32_t> ids, const Vocabulary& vocabulary, const TokenizerInfo& info) {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    std::string_view word = vocabulary.word(ids[i]);
    const bool is_special = info.is_wordpiece() && (word == "[CLS]" || word == "[SEP]" || word == "[PAD]");
    if (is_special && (word != "[SEP]" || i + 1 == ids.size())) continue;
    if (is_special) word = "|";
    if (info.is_wordpiece() && word.starts_with("##") && word.size() > 2)
      word.remove_prefix(2);
    else if (!text.empty())
      text += ' ';
    text += word;
  }
  return text;
}

Tokenizer::Tokenizer(const fs::path& folder, const TokenizerInfo& info)
    : info_(info), pipeline_(info.clean_html) {
  if (info.is_wordpiece())
    wordpiece_ = std::make_unique<WordPiece>(load_vocabulary(folder, info), info.rules);
  else
    words_ = load_vocabulary(folder, info);
}

void Tokenizer::encode(std::string_view text, std::optional<std::string_view> second, uint64_t max_length,
                       Result& out) {
  out = {};
  std::string_view cleaned = pipeline_.clean(text);
  if (second && !wordpiece_) input_error("pairs of texts need a model whose tokenizer is wordpiece");
  if (!wordpiece_) return encode_words(cleaned, max_length, out);
  if (second) {  // cleaning it takes the memory of the first
    cleaned = first_ = cleaned;
    second = pipeline_.clean(*second);
  }
  if (max_length == 0 || (info_.max_length > 0 && info_.max_length < max_length))
    max_length = info_.max_length;
  encode_sequence(*wordpiece_, cleaned, second, max_length, scratch_, sequence_);
  out.ids = sequence_.ids;
  out.second_begin = sequence_.second_begin;
  for (uint32_t id : out.ids) out.tokens.emplace_back(wordpiece_->pieces().word(id));
}

void Tokenizer::encode_words(std::string_view cleaned, uint64_t max_length, Result& out) {
  for (std::string_view word : pipeline_.words(cleaned)) {
    if (max_length > 0 && out.ids.size() == max_length) break;
    out.ids.push_back(words_->id(word));
    out.tokens.emplace_back(word);
  }
}

}  // namespace paceline
