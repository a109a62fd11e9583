// What distinguishes one BERT tokenizer from another, beside its vocabulary.
#pragma once

namespace paceline {

struct WordPieceRules {
  bool lowercase = true;
  bool strip_accents = true;           // decompose (NFD) and leave out nonspacing marks
  bool tokenize_chinese_chars = true;  // an ideograph is a word of its own

  static WordPieceRules cased() { return {false, false, true}; }
  bool operator==(const WordPieceRules&) const = default;
};

}  // namespace paceline
