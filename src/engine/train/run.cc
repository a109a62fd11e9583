#include "engine/train/run.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/machine/limits.h"
#include "data/text/vocabulary.h"
#include "engine/optim/learner.h"
#include "engine/train/class_weights.h"
#include "engine/train/grain_memory.h"
#include "engine/train/resume.h"

namespace paceline {
namespace {

// The words are needed when the model is kept, which may be hours from now.
void check_vocabulary(const fs::path& file, const TokenizerInfo& tokenizer) {
  const Vocabulary vocabulary = Vocabulary::load(file);
  if (vocabulary.size() != tokenizer.vocabulary_size ||
      "xxh3:" + to_hex(vocabulary.hash()) != tokenizer.vocabulary_hash)
    input_error("{}: not the vocabulary that the data set was prepared with; prepare it again",
                file.string());
}

void check_options(const TrainOptions& options) {
  if (options.batch_size < options.grain_size)
    input_error("--batch-size {} is smaller than --grain-size {}; make the grain smaller", options.batch_size,
                options.grain_size);
  if (options.model == "ngram" && options.optimizer != "adagrad")
    input_error("--optimizer {}: --model ngram has its own, adagrad", options.optimizer);
  if (options.model != "ngram" && options.optimizer == "adagrad")
    input_error("--optimizer adagrad is that of --model ngram; {} takes adam, adamw or sgd", options.model);
  if (options.schedule == "noam" && options.warmup == 0)
    input_error("--schedule noam needs a --warmup: its learning rate peaks at the end of it");
}

void check_task(const TrainOptions& options, const DatasetInfo& data) {
  if (data.labels == LabelKind::none)
    input_error("{}: it has no labels, and --model {} learns from labels; prepare it with --label",
                options.data, options.model);
  const SplitInfo& split = data.split("train", options.data);
  if (data.labels == LabelKind::single)
    for (size_t c = 0; c < data.classes.size(); ++c)
      if (split.class_rows[c] == 0)
        input_error(
            "{}: class '{}' has no rows in the split train; prepare it with more data or without that class",
            options.data, data.classes[c]);
  const bool multi_label = data.labels == LabelKind::multiple;
  for (const auto& name : options.stop_on)
    if (!metric_exists(name, multi_label))
      input_error("--stop-on {}: it exists only where a text has {}", name,
                  multi_label ? "one class" : "any number of labels");
}

StoppingRule stopping_rule(const TrainOptions& options) {
  StoppingRule rule;
  if (!options.stop_on.empty()) rule.metrics = options.stop_on;
  rule.when = options.stop_when;
  rule.patience = options.patience;
  return rule;
}

// What follows from options and data, without any state.
void open_parts(Run& run) {
  TrainOptions& options = run.options;
  const SplitInfo& split = run.data.split("train", options.data);
  run.task = {run.data.labels, run.data.classes, run.data.tokenizer,
              class_weights(options.class_weights, run.data, split)};
  const auto wanted = static_cast<unsigned>(options.executors);
  run.executors = std::make_unique<Executors>(wanted > 0 ? wanted : usable_cores());
  run.batches = std::make_unique<Batches>(
      SplitReader(options.data, run.data, "train"), split, run.data.classes.size(),
      BatchOptions{options.seed, options.batch_size, options.grain_size, options.grain_tokens,
                   options.bucket_batches, options.max_length});
  if (options.steps == 0) options.steps = run.batches->steps_per_epoch() * options.epochs;
  run.schedule = {options.schedule, options.learning_rate, options.warmup,
                  options.schedule_steps > 0 ? options.schedule_steps : options.steps};
  run.stopping = Stopping(stopping_rule(options));
  const fs::path words = fs::path(options.data) / run.data.tokenizer.vocabulary;
  check_vocabulary(words, run.data.tokenizer);
  run.learner = make_learner(options, run.task, words);
  const uint64_t longest =
      options.max_length > 0 ? std::min(options.max_length, split.longest) : split.longest;
  check_grain_memory(
      options, longest, run.executors->count(), usable_memory(),
      [&](uint64_t tokens, uint64_t samples) { return run.learner->grain_bytes(tokens, samples); });
}

}  // namespace

bool Run::has_valid() const {
  const SplitInfo* valid = data.find_split("valid");
  return valid != nullptr && valid->rows > 0;
}

bool Run::evaluation_is_due() const {
  if (position.step == 0 || position.evaluated_step == position.step) return false;
  const uint64_t every = options.evaluate_every > 0 ? options.evaluate_every : batches->steps_per_epoch();
  return position.step % every == 0 || position.step >= options.steps;
}

bool Run::is_complete() const {
  std::error_code ignored;
  return has_ended() && !evaluation_is_due() && fs::exists(folder->weights(), ignored);
}

Run open_run(const TrainOptions& options) {
  Run run;
  run.options = options;
  if (options.resume) {
    check_same_bits(options, read_run_options(options.out), options.out);
    run.folder = std::make_unique<RunFolder>(RunFolder::open(options.out));
  }
  check_options(options);
  run.data = read_dataset_info(options.data);
  check_task(options, run.data);
  open_parts(run);
  if (options.resume) load_newest_checkpoint(run);
  run.batches->at(run.position.step);  // a damaged shard is found before anything is written
  if (options.resume)
    write_file_atomically(run.folder->path() / "config.yaml", config_yaml(run.options));
  else
    run.folder = std::make_unique<RunFolder>(RunFolder::make(options.out, config_yaml(run.options)));
  return run;
}

nlohmann::ordered_json config_json(const TrainOptions& options) {
  TrainOptions copy = options;
  FieldTable table;
  declare_train_fields(table, copy);
  nlohmann::ordered_json config;
  for (const auto& field : table.fields())
    if (field.recorded) config[field.name] = field.value_json();
  return config;
}

std::string config_yaml(const TrainOptions& options) {
  TrainOptions copy = options;
  FieldTable table;
  declare_train_fields(table, copy);
  return to_yaml(table);
}

}  // namespace paceline
