// Vocabularies for tests of models that guess masked pieces.
#pragma once
#include <set>

#include "engine/model/model.h"

namespace paceline {

// Ids 0 to 4 are [PAD] [UNK] [CLS] [SEP] [MASK]; of the others those named continue a word.
inline Task masked_task(uint32_t size, const std::set<uint32_t>& continuations = {}) {
  std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (uint32_t id = 5; id < size; ++id)
    lines += (continuations.contains(id) ? "##p" : "p") + std::to_string(id) + "\n";
  Task task;
  task.labels = LabelKind::none;
  task.tokenizer.vocabulary_size = size;
  task.pieces = std::make_shared<PieceKinds>(Vocabulary::parse_pieces(lines, "vocab.txt"), "vocab.txt");
  return task;
}

}  // namespace paceline
