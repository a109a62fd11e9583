#include "cli/dataset_tables.h"

#include "base/table.h"

namespace paceline::cli {

std::string dataset_summary(const DatasetInfo& info, const std::string& folder) {
  uint64_t records = 0, rows = 0;
  for (const auto& input : info.inputs) records += input.records;
  for (const auto& split : info.splits) rows += split.rows;
  std::string out = fmt::format("{}: {} {} {} records, vocabulary of {}, {}\n\n", folder, with_commas(rows),
                                info.packed ? "rows from" : "of", with_commas(records),
                                with_commas(info.tokenizer.vocabulary_size), info.fingerprint());
  std::vector<std::string> columns = {"split", "rows", "tokens", "mean", "longest", "unknown %"};
  for (const auto& name : info.classes) columns.push_back(name);
  if (info.classes.size() > 12) columns.resize(6);
  Table table(columns);
  for (const auto& split : info.splits) {
    const double n = static_cast<double>(std::max<uint64_t>(1, split.rows)),
                 tokens = static_cast<double>(split.tokens);
    std::vector<nlohmann::ordered_json> cells = {
        split.name,
        split.rows,
        split.tokens,
        fmt::format("{:.1f}", tokens / n),
        split.longest,
        fmt::format("{:.1f}", 100 * static_cast<double>(split.unknown_tokens) / std::max(1.0, tokens))};
    if (columns.size() > 6)
      for (uint64_t count : split.class_rows) cells.emplace_back(count);
    table.add(std::move(cells));
  }
  out += table.text();
  uint64_t truncated = 0;
  for (const auto& split : info.splits) truncated += split.truncated_rows;
  if (info.packed)
    out += fmt::format("\nwordpiece, {}; texts one after another in rows of {} ids\n",
                       info.tokenizer.rules.lowercase ? "uncased" : "cased", info.tokenizer.max_length);
  else if (info.tokenizer.is_wordpiece())
    out += fmt::format("\nwordpiece, {}{}; {} of {} rows were cut to {} ids\n",
                       info.tokenizer.rules.lowercase ? "uncased" : "cased",
                       info.pairs ? ", pairs of texts" : "", with_commas(truncated), with_commas(rows),
                       info.tokenizer.max_length);
  if (info.repaired_utf8 > 0)
    out +=
        fmt::format("\nin {} records broken UTF-8 was replaced by U+FFFD\n", with_commas(info.repaired_utf8));
  if (!info.rejects.empty()) {
    Table rejects({"not used, because", "records"});
    for (const auto& [reason, count] : info.rejects) rejects.add({reason, count});
    out += "\n" + rejects.text() + fmt::format("each with its file and line in {}/rejects.jsonl\n", folder);
  }
  return out;
}

}  // namespace paceline::cli
