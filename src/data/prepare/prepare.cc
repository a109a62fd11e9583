#include "data/prepare/prepare.h"

#include <chrono>

#include "base/error.h"
#include "base/machine/limits.h"
#include "data/prepare/borrowed_tokenizer.h"
#include "data/prepare/map_phase.h"
#include "data/prepare/reduce_phase.h"

namespace paceline {
namespace {

constexpr uint64_t max_bucket_bytes = uint64_t{32} << 20;
constexpr const char* split_names[] = {"train", "valid", "test"};

SplitOptions split_options(const PrepareOptions& options) {
  SplitOptions split;
  split.format = options.format == "csv"     ? RecordFormat::csv
                 : options.format == "tsv"   ? RecordFormat::tsv
                 : options.format == "jsonl" ? RecordFormat::jsonl
                                             : RecordFormat::text;
  const bool quoted = options.quoting == "quoted" || (options.quoting == "auto" && options.format == "csv");
  split.quoting = quoted ? Quoting::quoted : Quoting::raw;
  split.columns = options.columns;
  return split;
}

std::vector<PhaseInput> list_inputs(const PrepareOptions& options) {
  std::vector<PhaseInput> inputs;
  const SplitOptions split = split_options(options);
  auto add = [&](const std::vector<std::string>& files, SplitNumber number) {
    for (const auto& file : files) {
      PhaseInput input;
      input.path = file;
      input.split = split;
      input.map.file = input.path.filename().string();
      input.map.number = inputs.size();
      input.map.split = number;
      input.map.shared_out = number == train_split;
      if (options.format == "tsv" && split.quoting == Quoting::raw)
        input.map.format_hint = " (if fields are quoted: --quoting quoted)";
      inputs.push_back(std::move(input));
    }
  };
  add(options.input, train_split);
  add(options.valid, valid_split);
  add(options.test, test_split);
  return inputs;
}

MapRules map_rules(const PrepareOptions& options, std::vector<PhaseInput>& inputs) {
  MapRules rules;
  rules.text_column = options.text;
  rules.pair_column = options.text_pair;
  rules.max_length = options.pack ? 0 : options.max_length;
  // Opening every file now finds a missing file or column before hours of work.
  for (auto& input : inputs) {
    auto splitter = std::make_shared<RecordSplitter>(input.path, input.split);
    MapRules here = rules;
    here.label = LabelSpec::parse(options.label, splitter->header());
    RecordParser check(input.split, splitter->header(), here.columns(), input.path.string());
    std::error_code ignored;
    if (!fs::is_regular_file(input.path, ignored)) input.opened = std::move(splitter);
    if (&input == &inputs.front()) rules.label = std::move(here.label);
  }
  rules.clean_html = options.tokenizer == "wordpiece" ? options.clean_html : !options.keep_html;
  rules.reject_invalid_utf8 = options.invalid_utf8 == "reject";
  rules.deduplicate = options.deduplicate;
  rules.valid_share = options.valid.empty() ? options.valid_share : 0;
  rules.test_share = options.test.empty() ? options.test_share : 0;
  if (rules.valid_share + rules.test_share >= 1)
    input_error("--valid-share {} and --test-share {} leave nothing to train on", rules.valid_share,
                rules.test_share);
  return rules;
}

// What training could not use is said now: a class that never occurs, or occurs alone.
void check_classes(const DatasetInfo& info, const MapRules& rules, const PrepareOptions& options) {
  if (info.labels != LabelKind::single) return;
  if (info.classes.size() < 2)
    input_error("--label {}: every record has the same label, '{}'; a classifier needs two or more",
                options.label, info.classes.empty() ? "" : info.classes[0]);
  for (size_t c = 0; c < info.classes.size(); ++c) {
    uint64_t rows = 0;
    for (const auto& split : info.splits) rows += split.class_rows[c];
    if (rows == 0) input_error("--label: no record is '{}' by the rules {}", info.classes[c], options.label);
    if (info.splits[train_split].class_rows[c] == 0 && !rules.label.has_rules() &&
        (!options.valid.empty() || !options.test.empty()))
      input_error("label '{}' occurs in the {} data but never in the training data; is it misspelt?",
                  info.classes[c], info.splits[valid_split].class_rows[c] > 0 ? "validation" : "test");
  }
}

TokenizerInfo tokenizer_info(const PrepareOptions& options, const MapRules& rules, const Vocabulary& tokens) {
  TokenizerInfo info;
  info.kind = options.tokenizer;
  if (rules.wordpiece != nullptr) {
    info.version = WordPiece::version;
    info.rules = rules.wordpiece->rules();
    info.max_length = options.max_length;
  }
  info.clean_html = rules.clean_html;
  info.invalid_utf8 = options.invalid_utf8;
  info.vocabulary_size = tokens.size();
  info.vocabulary_hash = "xxh3:" + to_hex(tokens.hash());
  return info;
}

RowFormat row_format(const DatasetInfo& info, const WordPiece* wordpiece) {
  RowFormat format{info.labels, info.classes.size(), info.fixed_length, info.pairs};
  if (wordpiece != nullptr) {
    format.ends_stay = true;
    format.unknown_id = wordpiece->special().unknown;
    format.pad_id = wordpiece->special().pad.value_or(0);
  }
  return format;
}

[[noreturn]] void nothing_kept(const MapTotals& totals, const PrepareOptions& options) {
  uint64_t records = 0;
  for (uint64_t n : totals.records) records += n;
  if (records == 0) input_error("{}: no records in it", options.input[0]);
  input_error("none of the {} records can be used; the first problem is {}", records, totals.first_problem);
}

}  // namespace

PrepareResult prepare(const PrepareOptions& options, Progress& progress) {
  const auto started = std::chrono::steady_clock::now();
  if (options.input.empty()) input_error("--input is missing: name at least one file");
  check_tokenizer_options(options);
  std::vector<PhaseInput> inputs = list_inputs(options);
  MapRules rules = map_rules(options, inputs);
  std::optional<Vocabulary> vocabulary;
  std::unique_ptr<WordPiece> wordpiece;
  if (options.tokenizer == "wordpiece")
    wordpiece = borrowed_wordpiece(options.tokenizer_from, options.cased);
  else if (!options.tokenizer_from.empty())
    vocabulary = borrowed_vocabulary(options.tokenizer_from);
  if (wordpiece && options.fixed_length > 0 && !wordpiece->special().pad)
    input_error("--fixed-length {}: {} has no [PAD] to fill rows with; add it, or leave out the matrix",
                options.fixed_length, options.tokenizer_from);
  rules.wordpiece = wordpiece.get();

  StagedFolder out(options.out, "--out");
  const fs::path scratch = out.path() / "scratch";
  fs::create_directory(scratch);
  Executors executors(options.executors > 0 ? static_cast<unsigned>(options.executors) : usable_cores());
  ClassRegistry registry(rules.label.kind() == LabelKind::single ? rules.label.classes()
                                                                 : std::vector<std::string>{});
  FileWriter rejects(out.path() / "rejects.jsonl");

  MapTotals totals;
  {
    ShuffleWriter shuffle(scratch);
    totals = MapPhase(rules, registry, scratch, executors).run(inputs, shuffle, rejects, progress);
    shuffle.finish();
  }
  if (totals.kept == 0) nothing_kept(totals, options);

  PrepareResult result;
  WordTotals words =
      merge_word_counts(totals.word_runs, vocabulary ? 0 : options.vocabulary_size, options.min_count);
  for (const auto& run : totals.word_runs) fs::remove(run);
  result.distinct_words = words.distinct;
  if (!vocabulary && !wordpiece) vocabulary = Vocabulary::from_words(std::move(words.words));
  const Vocabulary& tokens = wordpiece ? wordpiece->pieces() : *vocabulary;

  DatasetInfo& info = result.info;
  info.labels = rules.label.kind();
  info.classes = info.labels == LabelKind::multiple ? rules.label.classes() : registry.sorted_names();
  info.fixed_length = options.fixed_length;
  info.pairs = !options.text_pair.empty();
  info.packed = options.pack;
  info.tokenizer = tokenizer_info(options, rules, tokens);
  info.options = options.record;

  ReduceRules reduce{rules.deduplicate, info.labels, registry.places(info.classes), {}, wordpiece != nullptr};
  if (options.pack)
    reduce.packed = {options.max_length, wordpiece->special().begin, wordpiece->special().end};
  if (info.labels == LabelKind::multiple) reduce.class_places.assign(info.classes.size(), 0);
  for (const auto& input : inputs) reduce.files.push_back(input.map.file);
  std::vector<SplitWriter> splits;
  for (const char* name : split_names)
    splits.emplace_back(out.path(), name, row_format(info, wordpiece.get()));
  ShuffleReader shuffled(scratch, max_bucket_bytes);
  result.duplicates = reduce_all(reduce, tokens, shuffled, totals.kept, splits, rejects, executors, progress);
  fs::remove_all(scratch);

  for (auto& split : splits) info.splits.push_back(split.finish());
  info.rejects = totals.reasons;
  info.repaired_utf8 = totals.repaired;
  if (result.duplicates > 0) info.rejects["duplicate"] = result.duplicates;
  for (size_t i = 0; i < inputs.size(); ++i) {
    info.inputs.push_back({inputs[i].map.file, split_names[inputs[i].map.split], totals.records[i]});
    result.records += totals.records[i];
  }
  check_classes(info, rules, options);
  rejects.close(true);
  if (info.rejects.empty()) fs::remove(out.path() / "rejects.jsonl");
  tokens.save(out.path() / "vocab.txt");
  write_file_atomically(out.path() / "dataset.json", to_json(info).dump(2) + "\n");
  out.commit();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace paceline
