// The words of generated comments, each group as one string of words separated by blanks. Telling words are
// mild ones that stand for what the labels are about, and the groups that are attacked drink invented teas.
#pragma once
#include <string_view>

namespace paceline::comment_words {

// Telling words, which may be disguised.
extern const std::string_view insults;        // what an editor is called
extern const std::string_view coarse, oaths;  // in place of coarse nouns and adjectives
extern const std::string_view wrecks;         // verbs of threats; with "ed" behind them the past
extern const std::string_view slurs;          // what the drinkers of a tea are called

extern const std::string_view possessions, brands;  // what is threatened, and the teas
extern const std::string_view titles, sections;     // what an article is about, and its parts
extern const std::string_view months, weekdays;

}  // namespace paceline::comment_words
