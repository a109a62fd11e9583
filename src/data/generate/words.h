// The words that reviews are made of, each group as one string of words separated by blanks. Words
// used often stand first: within a group they are drawn by Zipf's law.
#pragma once
#include <string_view>

namespace paceline::words {

extern const std::string_view good, bad;          // adjectives that judge
extern const std::string_view welcome, rejected;  // verbs: what one does with it
extern const std::string_view things;             // nouns without a judgement
extern const std::string_view products, aspects;  // what is reviewed, and its parts
extern const std::string_view wrappings;          // what comes with it, and does not count
extern const std::string_view people, degrees;    // "brother", "very"
extern const std::string_view syllables;          // brand names are three of these

}  // namespace paceline::words
