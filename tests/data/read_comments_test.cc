// Reads generated comments sentence by sentence: what they say follows from the text, so the best possible
// AUC, which takes it for known, can be reached.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <vector>

#include "data/generate/comment_rows.h"

namespace paceline {
namespace {

struct Token {
  std::string word;
  bool begins;  // a sentence
};

std::string stripped(std::string word) {
  constexpr std::string_view marks = ".,!?:\"";
  while (!word.empty() && marks.find(word.back()) != std::string_view::npos) word.pop_back();
  size_t from = 0;
  while (from < word.size() && marks.find(word[from]) != std::string_view::npos) ++from;
  return word.substr(from);
}

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> tokens;
  std::istringstream words(text);
  bool begins = true;
  for (std::string word; words >> word;) {
    for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    tokens.push_back({stripped(word), begins});
    while (word.size() > 1 && word.back() == '"') word.pop_back();
    begins = std::string_view(".!?=").find(word.back()) != std::string_view::npos;
  }
  return tokens;
}

// A pattern as words, some of which stand for any word, or for any of a list.
class Template {
 public:
  Template(const Pattern& pattern, const CommentLexicon& lexicon) {
    std::string text;
    std::vector<Slot> slots;
    for (const Piece& piece : pattern.pieces) {
      text += piece.text;
      if (piece.slot == Slot::none) continue;
      text += '\1';
      slots.push_back(piece.slot);
    }
    std::istringstream words(text);
    size_t next = 0;
    for (std::string word; words >> word;) {
      for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      word = stripped(word);
      const size_t at = word.find('\1');
      if (at == std::string::npos)
        parts_.push_back({{word}, false});
      else
        parts_.push_back(words_for(slots[next++], word.substr(0, at), word.substr(at + 1), lexicon));
    }
  }
  // Whether it stands at the position, which is then moved behind it.
  bool takes(const std::vector<Token>& tokens, size_t& at) const {
    if (at + parts_.size() > tokens.size()) return false;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (!parts_[i].any && !parts_[i].words.contains(tokens[at + i].word)) return false;
    at += parts_.size();
    return true;
  }

 private:
  struct Part {
    std::set<std::string> words;
    bool any;
  };
  static Part words_for(Slot slot, const std::string& before, const std::string& behind,
                        const CommentLexicon& lexicon) {
    const WordList* list = slot == Slot::insult   ? &lexicon.insults
                           : slot == Slot::coarse ? &lexicon.coarse
                           : slot == Slot::oath   ? &lexicon.oaths
                           : slot == Slot::wreck  ? &lexicon.wrecks
                           : slot == Slot::slur   ? &lexicon.slurs
                                                  : nullptr;
    Part part{{}, list == nullptr};
    for (size_t i = 0; list && i < list->size(); ++i)
      part.words.insert(before + std::string((*list)[i]) + behind);
    return part;
  }
  std::vector<Part> parts_;
};

class Reader {
 public:
  Reader(const CommentGrammar& grammar, const CommentLexicon& lexicon) {
    auto all = [&](const Patterns& patterns) {
      std::vector<Template> templates;
      for (const Pattern& pattern : patterns) templates.emplace_back(pattern, lexicon);
      return templates;
    };
    for (const CommentGrammar::Wordings& wordings : grammar.sayings) {
      clauses_.push_back(all(wordings.clauses));
      direct_.push_back(all(wordings.direct));
      harmless_.push_back(all(wordings.harmless));
    }
    frames_[0] = all(grammar.frames[0]);
    frames_[1] = all(grammar.frames[1]);
    asides_ = all(grammar.asides);
  }

  Content read(const std::string& text) const {
    const std::vector<Token> tokens = tokens_of(text);
    Content content;
    for (size_t at = 0; at < tokens.size(); ++at) {
      if (!tokens[at].begins) continue;
      for (unsigned saying = 0; saying < saying_count; ++saying) {
        if (is_sentence(direct_[saying], tokens, at)) content.sayings |= static_cast<uint8_t>(1u << saying);
        if (is_sentence(harmless_[saying], tokens, at)) content.mentions = true;
        for (bool asserted : {false, true})
          for (size_t clause : behind_frame(frames_[asserted], tokens, at))
            if (is_sentence(clauses_[saying], tokens, clause)) {
              if (asserted)
                content.sayings |= static_cast<uint8_t>(1u << saying);
              else
                content.mentions = true;
            }
      }
    }
    return content;
  }

 private:
  using Templates = std::vector<Template>;
  static bool is_sentence(const Templates& templates, const std::vector<Token>& tokens, size_t at) {
    for (const Template& one : templates) {
      size_t end = at;
      if (one.takes(tokens, end) && (end == tokens.size() || tokens[end].begins)) return true;
    }
    return false;
  }
  // Where clauses can begin: behind a frame, an aside or none, and "that".
  std::vector<size_t> behind_frame(const Templates& frames, const std::vector<Token>& tokens,
                                   size_t at) const {
    std::vector<size_t> places;
    auto add = [&](size_t place) {
      if (place < tokens.size() && tokens[place].word == "that") places.push_back(place + 1);
    };
    for (const Template& frame : frames) {
      size_t end = at;
      if (!frame.takes(tokens, end)) continue;
      add(end);
      for (const Template& aside : asides_)
        if (size_t behind = end; aside.takes(tokens, behind)) add(behind);
    }
    return places;
  }

  std::vector<Templates> clauses_, direct_, harmless_;
  Templates frames_[2], asides_;
};

TEST(ReadComments, WhatACommentSaysFollowsFromItsSentences) {
  const CommentLexicon lexicon;
  const CommentGrammar grammar;
  CommentOptions options;
  options.length = "3-60";
  options.obfuscation = 0;
  options.toxic = 0.3;
  const CommentRows rows(options, lexicon, grammar);
  const Reader reader(grammar, lexicon);
  CommentRows::Scratch scratch = rows.scratch();
  std::string out;
  CommentFacts facts;
  unsigned misread = 0;
  constexpr unsigned count = 6000;
  std::set<unsigned> seen;
  for (uint64_t row = 0; row < count; ++row) {
    rows.append(row, scratch, out, facts);
    const unsigned number = rows.truth(row).content;
    const Content written = rows.contents().content(number), read = reader.read(scratch.text);
    seen.insert(number);
    const bool right =
        written.sayings == read.sayings && (written.sayings || written.mentions == read.mentions);
    misread += !right;
    // What is missing may be a slip of the finger; nothing may be read that was not meant.
    EXPECT_EQ(read.sayings & ~written.sayings, 0) << scratch.text;
    EXPECT_TRUE(written.sayings || written.mentions || !read.mentions) << scratch.text;
  }
  EXPECT_EQ(seen.size(), comment_content_count);
  EXPECT_LT(misread, count / 50) << "slips of the finger";
}

}  // namespace
}  // namespace paceline
