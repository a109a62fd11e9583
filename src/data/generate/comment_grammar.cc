#include "data/generate/comment_grammar.h"

#include "data/generate/comment_phrases.h"
#include "data/generate/comment_words.h"

namespace paceline {
namespace {

CommentGrammar::Wordings parse(const comment_phrases::Wordings& wordings) {
  return {parse_patterns(wordings.clauses), parse_patterns(wordings.direct),
          parse_patterns(wordings.harmless)};
}

}  // namespace

CommentLexicon::CommentLexicon()
    : insults(comment_words::insults),
      coarse(comment_words::coarse),
      oaths(comment_words::oaths),
      wrecks(comment_words::wrecks),
      slurs(comment_words::slurs),
      possessions(comment_words::possessions),
      brands(comment_words::brands),
      titles(comment_words::titles),
      sections(comment_words::sections),
      months(comment_words::months),
      weekdays(comment_words::weekdays) {}

CommentGrammar::CommentGrammar()
    : sayings{parse(comment_phrases::hostile),  parse(comment_phrases::coarse),
              parse(comment_phrases::insult),   parse(comment_phrases::threat),
              parse(comment_phrases::identity), parse(comment_phrases::fury),
              parse(comment_phrases::grumble),  parse(comment_phrases::tease)},
      frames{parse_patterns(comment_phrases::disowning), parse_patterns(comment_phrases::asserting)},
      asides(parse_patterns(comment_phrases::asides)),
      greetings(parse_patterns(comment_phrases::greetings)),
      openers(parse_patterns(comment_phrases::openers)),
      edits(parse_patterns(comment_phrases::edits)),
      reasons(parse_patterns(comment_phrases::reasons)),
      facts(parse_patterns(comment_phrases::facts)),
      remarks(parse_patterns(comment_phrases::remarks)),
      questions(parse_patterns(comment_phrases::questions)),
      headings(parse_patterns(comment_phrases::headings)),
      signatures(parse_patterns(comment_phrases::signatures)),
      brief(parse_patterns_by_words(comment_phrases::brief)) {}

}  // namespace paceline
