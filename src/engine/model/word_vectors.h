// Pretrained embeddings in text form: a word and its numbers on each line (GloVe), with or without a
// first line of two counts (word2vec, fastText).
#pragma once
#include "base/files.h"
#include "data/text/vocabulary.h"

namespace paceline {

struct WordVectorFacts {
  uint64_t lines = 0, found = 0;  // found: words of the vocabulary that have a vector
};

// Fills row id of the table for every word of the vocabulary that the file has; the rest stay. Throws
// InputError with the line: another number of values than `width`, a value that is no finite number.
WordVectorFacts read_word_vectors(const fs::path& file, const Vocabulary& vocabulary, uint64_t width,
                                  float* table);

}  // namespace paceline
