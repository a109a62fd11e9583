// The tokenizer that --tokenizer-from names.
#pragma once
#include <memory>
#include <string>

#include "data/prepare/prepare.h"
#include "data/text/vocabulary.h"
#include "data/text/wordpiece.h"

namespace paceline {

// Throws InputError when options of a tokenizer are given that do not fit it, or each other.
void check_tokenizer_options(const PrepareOptions& options);

// Words of a data set, run or model.
Vocabulary borrowed_vocabulary(const std::string& from);

// A vocab.txt, or a folder with one: a data set, run or model of this program, whose rules are taken over, or
// a model of BERT, whose tokenizer_config.json is read if it is there. Otherwise the rules are those of the
// uncased BERT, or of the cased one if asked for.
std::unique_ptr<WordPiece> borrowed_wordpiece(const std::string& from, bool cased);

}  // namespace paceline
