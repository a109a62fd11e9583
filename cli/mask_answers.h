// How the words are shown that a model puts in the place of [MASK].
#pragma once
#include "base/table.h"
#include "engine/api/engine.h"

namespace paceline::cli {

nlohmann::ordered_json masks_json(const Prediction& prediction);
// The best word of each mask and its probability, then the text, between tabs.
std::string masks_tsv(std::string_view text, const Prediction& prediction);
// A row for each mask.
Table masks_table();
void add_masks(Table& table, std::string_view text, const Prediction& prediction);
// Every guess for every mask.
std::string mask_details(const Prediction& prediction);

}  // namespace paceline::cli
