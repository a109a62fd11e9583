// What `generate comments` promises: the same bytes for a seed, labels as rare as in the competition's files,
// telling words in disguise and in harmless places, and a best possible AUC that is known.
#include "data/generate/comments.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "../scratch.h"
#include "base/hash.h"
#include "data/generate/comment_rows.h"

namespace paceline {
namespace {

using Json = nlohmann::json;
using Strings = std::set<std::string, std::less<>>;

// Words in lower case, of letters and digits.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte))
      words.back().push_back(static_cast<char>(std::tolower(byte)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

class GenerateComments : public Scratch {
 protected:
  CommentOptions options(uint64_t rows, const std::string& name = "comments.jsonl") const {
    CommentOptions options;
    options.rows = rows;
    options.seed = 7;
    options.out = folder / name;
    options.threads = 2;
    return options;
  }
  static CommentFacts generate(const CommentOptions& options) {
    NoProgress progress;
    return generate_comments(options, progress);
  }
  static std::vector<Json> rows_of(const CommentOptions& options) {
    generate(options);
    std::istringstream lines(read_file(options.out));
    std::vector<Json> rows;
    for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
    return rows;
  }
  static std::string refusal(const CommentOptions& options) {
    try {
      generate(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  static bool any_label(const Json& row) {
    for (std::string_view label : comment_labels)
      if (row.at(std::string(label)) == 1) return true;
    return false;
  }
  Strings telling_words() const {
    Strings all;
    for (const WordList* list :
         {&lexicon.insults, &lexicon.coarse, &lexicon.oaths, &lexicon.wrecks, &lexicon.slurs})
      for (size_t i = 0; i < list->size(); ++i) all.emplace((*list)[i]);
    return all;
  }

  const CommentLexicon lexicon;
  const CommentGrammar grammar;
};

TEST_F(GenerateComments, SameBytesOnAnyNumberOfThreads) {
  auto bytes = [&](unsigned threads, const char* name) {
    CommentOptions wanted = options(9000, name);
    wanted.threads = threads;
    generate(wanted);
    return read_file(wanted.out);
  };
  const std::string one = bytes(1, "one");
  EXPECT_TRUE(one == bytes(2, "two"));
  EXPECT_TRUE(one == bytes(3, "three"));
}

TEST_F(GenerateComments, MoreRowsBeginWithTheSameRowsAndAnotherSeedGivesOthers) {
  generate(options(100, "short"));
  generate(options(300, "long"));
  CommentOptions other = options(100, "other");
  other.seed = 8;
  generate(other);
  const std::string few = read_file(folder / "short"), many = read_file(folder / "long");
  EXPECT_TRUE(many.starts_with(few));
  EXPECT_NE(read_file(folder / "other"), few);
}

TEST_F(GenerateComments, TheBytesOfASeedNeverChange) {
  generate(options(2000));
  EXPECT_EQ(file_checksum(folder / "comments.jsonl"), "xxh3:b05f80ae160a7e69e366449a244c2349");
}

TEST_F(GenerateComments, LabelsAreAsRareAsInTheCompetition) {
  CommentOptions wanted = options(50000);
  wanted.length = "3-12";
  const CommentFacts facts = generate(wanted);
  const double real[] = {0.096, 0.010, 0.053, 0.003, 0.049, 0.009};
  for (size_t i = 0; i < comment_labels.size(); ++i) {
    const CommentFacts::Label& label = facts.labels[i];
    EXPECT_NEAR(label.expected_share, real[i], 0.03 * real[i] + 0.0001) << comment_labels[i];
    const double deviation = std::sqrt(label.expected_share / 50000);
    EXPECT_NEAR(facts.share(label.rows), label.expected_share, 4 * deviation) << comment_labels[i];
  }
  EXPECT_NEAR(facts.share(facts.without_label), 0.9, 0.005);
  EXPECT_NEAR(facts.share(facts.of_another), 0.02, 0.003);
}

TEST_F(GenerateComments, TheShareOfToxicOnesIsWhatWasAskedForWhateverTheNoise) {
  for (double noise : {0.0, 0.3})
    for (double toxic : {0.01, 0.096, 0.3, 0.5}) {
      const CommentContents contents(toxic, noise);
      EXPECT_NEAR(contents.rate(0), toxic, 1e-6) << noise;
      double shares = 0, scores = 0;
      for (unsigned i = 0; i < comment_content_count; ++i) {
        EXPECT_GT(contents.share(i), 0) << i;
        shares += contents.share(i);
        scores += contents.share(i) * contents.score(i, 0);
      }
      EXPECT_NEAR(shares, 1, 1e-9);
      EXPECT_NEAR(scores, toxic, 1e-6) << "the mean score is the rate";
    }
}

TEST_F(GenerateComments, SevereImpliesToxicAndTheOthersAlmostDo) {
  const CommentRows rows(options(1), lexicon, grammar);
  double labelled = 0, without_toxic = 0, obscene = 0, obscene_insult = 0;
  for (uint64_t row = 0; row < 100000; ++row) {
    const CommentLabels labels = rows.truth(row).labels;
    ASSERT_TRUE(labels[0] || !labels[1]) << row;
    const bool other = labels[2] || labels[3] || labels[4] || labels[5];
    labelled += other;
    without_toxic += other && !labels[0];
    obscene += labels[2];
    obscene_insult += labels[2] && labels[4];
  }
  EXPECT_GT(without_toxic, 0);
  EXPECT_LT(without_toxic / labelled, 0.08);
  EXPECT_NEAR(obscene_insult / obscene, 0.72, 0.06) << "they overlap as in the competition's files";
}

// The chance that a row with the label has the higher score, by the ranks of all scores.
double auc_by_ranks(std::vector<std::pair<double, bool>> scored) {
  std::sort(scored.begin(), scored.end());
  double rank_sum = 0, positives = 0;
  for (size_t begin = 0, end; begin < scored.size(); begin = end) {
    for (end = begin; end < scored.size() && scored[end].first == scored[begin].first; ++end) {
    }
    const double rank = (static_cast<double>(begin + end) + 1) / 2;
    for (size_t i = begin; i < end; ++i)
      if (scored[i].second) {
        rank_sum += rank;
        ++positives;
      }
  }
  const double negatives = static_cast<double>(scored.size()) - positives;
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

TEST_F(GenerateComments, TheBestAucIsWhatTheGeneratorsOwnScoresReach) {
  CommentOptions wanted = options(200000);
  wanted.length = "3-5";
  const CommentFacts facts = generate(wanted);
  const CommentRows rows(wanted, lexicon, grammar);
  double mean = 0;
  for (size_t label = 0; label < comment_labels.size(); ++label) {
    std::vector<std::pair<double, bool>> scored;
    for (uint64_t row = 0; row < wanted.rows; ++row) {
      const CommentRows::Truth truth = rows.truth(row);
      scored.emplace_back(rows.contents().score(truth.content, label), truth.labels[label]);
    }
    const double measured = auc_by_ranks(std::move(scored));
    const CommentFacts::Label& known = facts.labels[label];
    const double deviation =
        std::sqrt(known.best.auc * (1 - known.best.auc) / static_cast<double>(known.rows));
    EXPECT_NEAR(known.best.auc, measured, 4 * deviation) << comment_labels[label];
    EXPECT_NEAR(known.best_here->auc, measured, 1e-9) << comment_labels[label];
    EXPECT_NEAR(known.best.average_precision, known.best_here->average_precision, 0.1);
    EXPECT_GT(known.best.auc, 0.97) << comment_labels[label];
    mean += known.best.auc / 6;
  }
  EXPECT_NEAR(facts.best.auc, mean, 1e-12);
}

// Labels of another comment say nothing about this one: that share of the pairs is ranked by a coin.
TEST_F(GenerateComments, NoiseTakesItsShareOfTheBestAuc) {
  const CommentContents clean(0.096, 0);
  for (double noise : {0.02, 0.25}) {
    const CommentContents noisy(0.096, noise);
    for (size_t label = 0; label < comment_labels.size(); ++label)
      EXPECT_NEAR(noisy.best(label).auc, (1 - noise) * clean.best(label).auc + noise / 2, 1e-7);
  }
}

TEST(Ranking, CountsTiesByHalvesAndIsAbsentWithoutBothKinds) {
  const auto ranking = rank_groups({{0.5, 1, 1}, {0.9, 2, 0}, {0.1, 0, 3}, {0.5, 1, 0}});
  ASSERT_TRUE(ranking);
  EXPECT_DOUBLE_EQ(ranking->auc, (2 * 4 + 2 * 3.5) / 16);
  EXPECT_DOUBLE_EQ(ranking->average_precision, 0.5 * 1 + 0.5 * 0.8);
  EXPECT_FALSE(rank_groups({{0.5, 0, 3}}));
  EXPECT_FALSE(rank_groups({{0.5, 2, 0}}));
  EXPECT_FALSE(rank_groups({}));
}

TEST_F(GenerateComments, FactsAreBesideTheFile) {
  const CommentFacts facts = generate(options(3000));
  const Json written = Json::parse(read_file(folder / "comments.jsonl.facts.json"));
  EXPECT_EQ(written.at("version"), 1);
  EXPECT_EQ(written.at("options").at("obfuscation"), 0.25);
  EXPECT_EQ(written.at("label"), "toxic,severe_toxic,obscene,threat,insult,identity_hate");
  EXPECT_EQ(written.at("null_auc"), 0.5);
  EXPECT_EQ(written.at("best_possible_auc"), facts.best.auc);
  EXPECT_EQ(written.at("bytes"), fs::file_size(folder / "comments.jsonl"));
  for (size_t i = 0; i < comment_labels.size(); ++i) {
    const Json& label = written.at("labels").at(std::string(comment_labels[i]));
    EXPECT_EQ(label.at("rows"), facts.labels[i].rows);
    EXPECT_EQ(label.at("best_possible_auc"), facts.labels[i].best.auc);
  }
  generate(options(1, "one"));
  const Json one = Json::parse(read_file(folder / "one.facts.json"));
  EXPECT_TRUE(one.at("best_possible_auc_on_this_file").is_null()) << "one row has no order";
}

TEST_F(GenerateComments, DisguisedWordsAreAsManyAsAskedFor) {
  const Strings telling = telling_words();
  std::map<double, double> plain;
  std::string disguised;
  for (double share : {0.0, 0.25, 1.0}) {
    CommentOptions wanted = options(20000, fmt::format("{}", share));
    wanted.obfuscation = share;
    for (const Json& row : rows_of(wanted)) {
      const std::string text = row.at("comment_text");
      if (share == 1.0) disguised += text + "\n";
      for (const std::string& word : words_of(text)) plain[share] += telling.contains(word);
    }
  }
  EXPECT_GT(plain[0.0], 2000);
  // Odd capitals are one disguise of eight, and look plain in lower case.
  EXPECT_NEAR(plain[0.25] / plain[0.0], 1 - 0.25 * 7 / 8, 0.05);
  EXPECT_NEAR(plain[1.0] / plain[0.0], 1.0 / 8, 0.03);
  for (const char* spelling : {"n1tw1t", "n.i.t.w.i.t", "n i t w i t", "n*twit", "dunc3"})
    EXPECT_TRUE(disguised.find(spelling) != std::string::npos) << spelling;
}

TEST_F(GenerateComments, TellingWordsAlsoStandInHarmlessComments) {
  const Strings telling = telling_words();
  CommentOptions wanted = options(20000);
  wanted.noise = wanted.obfuscation = 0;
  double with[2] = {0, 0}, all[2] = {0, 0};
  for (const Json& row : rows_of(wanted)) {
    bool found = false;
    for (const std::string& word : words_of(row.at("comment_text"))) found |= telling.contains(word);
    const bool labelled = any_label(row);
    ++all[labelled];
    with[labelled] += found;
  }
  EXPECT_GT(with[0] / all[0], 0.05);
  EXPECT_LT(with[0] / all[0], 0.15);
  EXPECT_GT(with[1] / all[1], 0.5);
}

// Else what a comment says could not be told from its text, and the best AUC would not be reachable.
TEST_F(GenerateComments, NoSentenceIsBothAnAttackAndHarmless) {
  auto spelled = [](const Pattern& pattern) {
    std::string text;
    for (const Piece& piece : pattern.pieces)
      text += piece.text + "{" + std::to_string(static_cast<int>(piece.slot)) + "}";
    return text;
  };
  std::map<std::string, std::string> seen;
  auto own = [&](const Patterns& patterns, const std::string& owner) {
    for (const Pattern& pattern : patterns) {
      const auto [found, is_new] = seen.emplace(spelled(pattern), owner);
      EXPECT_TRUE(is_new || found->second == owner) << found->first << ": " << found->second << ", " << owner;
    }
  };
  own(grammar.frames[0], "disowning");
  own(grammar.frames[1], "asserting");
  for (size_t i = 0; i < grammar.sayings.size(); ++i) {
    own(grammar.sayings[i].clauses, std::to_string(i));
    own(grammar.sayings[i].direct, std::to_string(i));
    own(grammar.sayings[i].harmless, "harmless");
  }
  own(grammar.edits, "neutral");
  own(grammar.facts, "neutral");
  own(grammar.questions, "neutral");
  for (size_t words = 1; words < grammar.brief.size(); ++words) {
    EXPECT_FALSE(grammar.brief[words].empty()) << words;
    own(grammar.brief[words], "neutral");
  }
}

TEST_F(GenerateComments, RowsHaveTheFieldsOfTheCompetition) {
  Strings ids;
  size_t quotes = 0, lines = 0, commas = 0;
  for (const Json& row : rows_of(options(3000))) {
    ASSERT_EQ(row.size(), 8u);
    const std::string id = row.at("id"), text = row.at("comment_text");
    EXPECT_EQ(id.size(), 16u);
    EXPECT_TRUE(ids.insert(id).second) << id << " stands there twice";
    for (std::string_view label : comment_labels) {
      const Json& value = row.at(std::string(label));
      EXPECT_TRUE(value == 0 || value == 1) << value;
    }
    quotes += text.find('"') != std::string::npos;
    lines += text.find('\n') != std::string::npos;
    commas += text.find(',') != std::string::npos;
  }
  EXPECT_GT(quotes, 200u) << "texts exercise the quoting of readers";
  EXPECT_GT(lines, 500u) << "texts exercise line breaks inside fields";
  EXPECT_GT(commas, 1000u);
}

TEST_F(GenerateComments, CsvHoldsTheSameRowsAsJsonl) {
  const std::vector<Json> rows = rows_of(options(500));
  CommentOptions csv = options(500, "comments.csv");
  csv.format = "csv";
  generate(csv);
  std::string expected = "id,comment_text,toxic,severe_toxic,obscene,threat,insult,identity_hate\n";
  for (const Json& row : rows) {
    std::string text;
    for (char c : row.at("comment_text").get<std::string>())
      text += c == '"' ? std::string("\"\"") : std::string(1, c);
    expected += fmt::format("{},\"{}\"", row.at("id").get<std::string>(), text);
    for (std::string_view label : comment_labels)
      expected += fmt::format(",{}", row.at(std::string(label)).get<int>());
    expected += "\n";
  }
  EXPECT_TRUE(read_file(csv.out) == expected);
}

TEST_F(GenerateComments, LengthsAreExactUnlessMoreHasToBeSaid) {
  CommentOptions wanted = options(5000);
  wanted.length = "3-8";
  wanted.obfuscation = 0;
  size_t words = 0, longer = 0;
  std::map<size_t, size_t> counts;
  for (const Json& row : rows_of(wanted)) {
    std::istringstream text(row.at("comment_text").get<std::string>());
    size_t count = 0;
    for (std::string word; text >> word;) ++count;
    ASSERT_GE(count, 3u) << row;
    longer += count > 8;
    words += count;
    ++counts[count];
  }
  EXPECT_LT(longer, 250u);
  for (size_t count = 3; count <= 8; ++count)
    EXPECT_NEAR(static_cast<double>(counts[count]), 5000 / 6.0, 130) << count;
  const Json facts = Json::parse(read_file(folder / "comments.jsonl.facts.json"));
  EXPECT_NEAR(facts.at("mean_words").get<double>(), static_cast<double>(words) / 5000, 1e-9);
}

TEST_F(GenerateComments, RefusesWhatItCannotDoAndSaysWhatIsAllowed) {
  auto refused = [&](auto change) {
    CommentOptions wanted = options(10);
    change(wanted);
    return refusal(wanted);
  };
  auto says = [](const std::string& message, const char* part) {
    EXPECT_TRUE(message.find(part) != std::string::npos) << message;
  };
  says(refused([](CommentOptions& o) { o.rows = 0; }), "--rows 0");
  says(refused([](CommentOptions& o) { o.toxic = 0.6; }), "--toxic 0.6: expected a number from 0.01 to 0.5");
  says(refused([](CommentOptions& o) { o.toxic = 0; }), "--toxic 0:");
  says(refused([](CommentOptions& o) { o.noise = std::nan(""); }), "--noise nan");
  says(refused([](CommentOptions& o) { o.noise = 0.5; }), "--noise 0.5");
  says(refused([](CommentOptions& o) { o.obfuscation = 1.5; }), "--obfuscation 1.5");
  says(refused([](CommentOptions& o) { o.length = "2"; }), "a median such as 40");
  says(refused([](CommentOptions& o) { o.format = "xml"; }), "expected jsonl or csv");
  says(refused([](CommentOptions& o) { o.out = o.out.parent_path() / "missing" / "x"; }),
       "there is no folder");
  EXPECT_TRUE(names().empty());
  write("comments.jsonl", "mine");
  says(refusal(options(10)), "exists already");
  EXPECT_EQ(read_file(folder / "comments.jsonl"), "mine");
}

}  // namespace
}  // namespace paceline
