// What Python's transformers looks for in the folder of a model, beside the weights and their shapes.
#pragma once
#include "engine/model/model.h"

namespace paceline {

// Adds the names of the classes, and which loss they are for.
void add_label_keys(const Task& task, nlohmann::ordered_json& config);

// tokenizer_config.json and special_tokens_map.json of a WordPiece tokenizer; vocab.txt is the caller's.
// config: the model's config.json.
void write_tokenizer_files(const Task& task, const nlohmann::ordered_json& config, const fs::path& folder);

}  // namespace paceline
