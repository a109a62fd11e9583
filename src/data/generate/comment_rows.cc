#include "data/generate/comment_rows.h"

#include <algorithm>

#include "data/generate/row_fields.h"

namespace paceline {
namespace {

// Apart from the streams of other kinds of rows.
constexpr uint64_t kStream = 0x636F6D6D656E74;

}  // namespace

CommentRows::CommentRows(const CommentOptions& options, const CommentLexicon& lexicon,
                         const CommentGrammar& grammar)
    : lexicon_(lexicon),
      grammar_(grammar),
      lengths_(options.length),
      contents_(options.toxic, options.noise),
      seed_(options.seed),
      csv_(is_csv(options.format)),
      disguised_of_2_32_(share_of_2_32(options.obfuscation, "--obfuscation", 0, 1)) {}

std::string CommentRows::header() const {
  return csv_ ? csv_header({"id", "comment_text", "toxic", "severe_toxic", "obscene", "threat", "insult",
                            "identity_hate"})
              : "";
}

RandomStream CommentRows::stream(uint64_t row) const { return {seed_, row, kStream}; }

CommentRows::Truth CommentRows::truth(RandomStream& random) const {
  Truth truth{};
  truth.content = contents_.draw(random);
  truth.labels = contents_.draw_labels(random, truth.content, truth.of_another);
  return truth;
}

CommentRows::Truth CommentRows::truth(uint64_t row) const {
  RandomStream random = stream(row);
  return truth(random);
}

void CommentRows::append(uint64_t row, Scratch& scratch, std::string& out, CommentFacts& facts) const {
  RandomStream random = stream(row);
  const Truth drawn = truth(random);
  uint64_t words = lengths_.draw(random);
  words = scratch.composer.compose(random, contents_.content(drawn.content), words, scratch.text);

  RowFields fields(csv_, out);
  // One to one with the row's number, so no two rows of a file share it.
  fields.code("id", fmt::format("{:016x}", mix64(row + mix64(seed_ + kStream))));
  fields.text("comment_text", scratch.text);
  for (size_t label = 0; label < drawn.labels.size(); ++label)
    fields.number(comment_labels[label], drawn.labels[label] ? "1" : "0");
  fields.end();

  facts.count(words);
  facts.of_another += drawn.of_another;
  facts.without_label += std::count(drawn.labels.begin(), drawn.labels.end(), true) == 0;
  CommentFacts::Counts& counts = facts.by_content[drawn.content];
  ++counts.rows;
  for (size_t label = 0; label < drawn.labels.size(); ++label) counts.labelled[label] += drawn.labels[label];
}

}  // namespace paceline
