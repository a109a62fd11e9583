// Composes the text of one review, of an exact number of words, that means what it is asked to mean.
#pragma once
#include <cstdint>
#include <string>

#include "data/generate/review_grammar.h"
#include "data/generate/sentence_writer.h"

namespace paceline {

// Who is reviewed: a name and a kind of product, which prefers its own part of the vocabulary.
struct Product {
  uint64_t number;  // mixed: its bits choose name, kind and parts
};

// Every statement about the product resolves to the same verdict, the last words are always such a
// statement, and longer reviews repeat it every thirty words or so; in between stand judgements that do not
// count and neutral sentences. So the verdict follows from the text, whether its head or its tail is
// kept, and is never in doubt to a reader of whole sentences.
class ReviewComposer : SentenceWriter {
 public:
  static constexpr unsigned fewest_words = 3;

  ReviewComposer(const Lexicon& lexicon, const ReviewGrammar& grammar)
      : lexicon_(lexicon), grammar_(grammar) {}
  // Replaces text. words >= fewest_words.
  void compose(RandomStream random, Product product, bool good, uint64_t words, std::string& text);

 private:
  struct Statement {
    const Pattern *opener, *rest;
    bool keeps, comma, gap_last;
    unsigned gap;
    unsigned words() const { return opener->words + gap + rest->words; }
  };

  void body_sentence(uint64_t room);
  void neutral_sentence(unsigned words);
  void other_product_sentence(uint64_t room);
  void plain_sentence();
  void last_sentence(uint64_t words);

  Statement choose_statement(uint64_t fewest, uint64_t most);
  void begin();
  void end();
  void statement(const Statement& chosen);
  void pattern(const Pattern& pattern, bool judged_good);
  void gap(unsigned words);
  void slot(Slot slot, bool judged_good);
  uint64_t thing_rank();

  const Lexicon& lexicon_;
  const ReviewGrammar& grammar_;
  Product product_{0};
  bool good_ = false, paragraphs_ = false;
  uint64_t left_ = 0;  // words still to write
};

}  // namespace paceline
