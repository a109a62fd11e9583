#include "cli/mask_answers.h"

#include <fmt/core.h>

namespace paceline::cli {

using Json = nlohmann::ordered_json;

Json masks_json(const Prediction& prediction) {
  Json masks = Json::array();
  for (const FilledMask& mask : prediction.masks) {
    Json words = Json::array();
    for (const auto& guess : mask.guesses)
      words.push_back({{"word", guess.piece}, {"probability", guess.probability}});
    masks.push_back({{"position", mask.position}, {"words", words}});
  }
  return masks;
}

std::string masks_tsv(std::string_view text, const Prediction& prediction) {
  std::string line;
  for (const FilledMask& mask : prediction.masks)
    line += fmt::format("{}\t{:.6f}\t", mask.guesses[0].piece, mask.guesses[0].probability);
  for (char c : text) line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  return line + "\n";
}

Table masks_table() { return Table({"position", "word", "probability", "others", "text"}); }

void add_masks(Table& table, std::string_view text, const Prediction& prediction) {
  if (prediction.masks.empty())
    table.add({nlohmann::ordered_json(), "no [MASK]", nlohmann::ordered_json(), "", std::string(text)});
  for (const FilledMask& mask : prediction.masks) {
    std::string others;
    for (size_t i = 1; i < mask.guesses.size(); ++i)
      others +=
          fmt::format("{}{} {:.4f}", i > 1 ? ", " : "", mask.guesses[i].piece, mask.guesses[i].probability);
    table.add({mask.position, mask.guesses[0].piece, mask.guesses[0].probability, others, std::string(text)});
  }
}

std::string mask_details(const Prediction& prediction) {
  Table table({"position", "word", "probability"});
  for (const FilledMask& mask : prediction.masks)
    for (const auto& guess : mask.guesses) table.add({mask.position, guess.piece, guess.probability});
  return table.text();
}

}  // namespace paceline::cli
