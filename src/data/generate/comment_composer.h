// Composes the text of one comment that says what it is asked to say, and nothing else that counts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/generate/comment_contents.h"
#include "data/generate/comment_grammar.h"
#include "data/generate/sentence_writer.h"

namespace paceline {

// Everything the content asks for is said in the first hundred words or two, between sentences about
// articles, and again in long comments. Telling words also stand in sentences that deny or quote them, so the
// words alone do not give the content away; whole sentences do.
class CommentComposer : SentenceWriter {
 public:
  // lexicon and grammar outlive it. disguised: how many telling words are, in 2^-32.
  CommentComposer(const CommentLexicon& lexicon, const CommentGrammar& grammar, uint64_t disguised)
      : lexicon_(lexicon), grammar_(grammar), disguised_of_2_32_(disguised) {}
  // Replaces text and returns its number of words: as many as asked for, or as the content needs if those are
  // more. A disguised word counts as one, however it is spaced.
  uint64_t compose(RandomStream random, Content content, uint64_t words, std::string& text);

 private:
  struct Statement {
    const Pattern *frame, *aside;  // either may be missing
    const Pattern* rest;           // a clause behind a frame, else a sentence
    bool attacks;
    unsigned words() const {
      return rest->words + (frame ? frame->words + 1 : 0) + (aside ? aside->words : 0);
    }
  };

  void plan(Content content, uint64_t room);
  Statement choose_mention(uint64_t room);
  Statement choose_statement(Saying saying, bool attacks, uint64_t room);
  Statement repeat(Content content, uint64_t room);

  void statement(const Statement& chosen);
  void neutral_sentence();
  const Pattern& next(const Patterns& patterns);
  void brief_sentence(uint64_t words);
  void heading();
  void signature(const Pattern& signed_by);

  void begin();
  void end(bool heated);
  void put(const Pattern& pattern);
  void slot(Slot slot);
  void telling(std::string_view word);
  void editor(uint64_t number);

  const CommentLexicon& lexicon_;
  const CommentGrammar& grammar_;
  uint64_t disguised_of_2_32_;
  std::vector<Statement> due_;  // what is to be said, and not yet chosen where
  uint64_t room_ = 0;           // words for everything else
  uint64_t written_ = 0;
  uint64_t topic_ = 0, addressee_ = 0;  // the article's rank among names; who is answered
  uint64_t stride_ = 0, turn_ = 0;      // which sentences about articles come next
  bool casual_ = false, paragraphs_ = false, headed_ = false;
};

}  // namespace paceline
