#include "engine/train/run.h"

#include "base/error.h"
#include "base/machine/limits.h"
#include "data/dataset/tokenizer.h"
#include "engine/kernels/gemm.h"
#include "engine/optim/learner.h"
#include "engine/train/agreement.h"
#include "engine/train/bert_start.h"
#include "engine/train/class_weights.h"
#include "engine/train/grain_memory.h"
#include "engine/train/precision.h"
#include "engine/train/resume.h"
#include "engine/train/share.h"

namespace paceline {
namespace {

void check_options(const TrainOptions& options, unsigned workers) {
  if (workers > 1 && options.sum != "exact")
    input_error("--sum {}: several workers need the exact sum; leave it out, or train with one", options.sum);
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
  const bool masked = data.labels == LabelKind::none;
  if (masked && options.model != "bert")
    input_error("{}: it has no labels, and --model {} learns from labels; prepare it with --label",
                options.data, options.model);
  const SplitInfo& split = data.split("train", options.data);
  if (data.labels == LabelKind::single)
    for (size_t c = 0; c < data.classes.size(); ++c)
      if (split.class_rows[c] == 0)
        input_error(
            "{}: class '{}' has no rows in the split train; prepare it with more data or without that class",
            options.data, data.classes[c]);
  const ScoreKind kind = data.labels == LabelKind::single     ? ScoreKind::classes
                         : data.labels == LabelKind::multiple ? ScoreKind::labels
                                                              : ScoreKind::masked_pieces;
  for (const auto& name : options.stop_on)
    if (!metric_exists(name, kind))
      input_error("--stop-on {}: it exists only {}; here there are {}", name, where_metric_exists(name),
                  metrics_of(kind));
}

StoppingRule stopping_rule(const TrainOptions& options) {
  StoppingRule rule;
  rule.metrics = options.stop_on;
  rule.when = options.stop_when;
  rule.patience = options.patience;
  return rule;
}

bool can_recompute(const TrainOptions& options) {
  return options.model == "bert" && options.kernels == "fused" && !options.bert.recompute;
}

// What follows from options and data, without any state.
void open_parts(Run& run, unsigned workers_here) {
  TrainOptions& options = run.options;
  const SplitInfo& split = run.data.split("train", options.data);
  run.task = {run.data.labels, run.data.classes, run.data.tokenizer,
              class_weights(options.class_weights, run.data, split), options.max_length};
  if (run.task.guesses_pieces() || options.bert.piece_dropout > 0) load_pieces(run.task, options.data);
  const auto wanted = options.device == "cuda" ? 1 : static_cast<unsigned>(options.executors);
  run.executors = std::make_unique<Executors>(wanted > 0 ? wanted : usable_cores());
  run.batches = std::make_unique<Batches>(
      SplitReader(options.data, run.data, "train"), split, run.data.classes.size(),
      BatchOptions{options.seed, options.batch_size, options.grain_size, options.grain_tokens,
                   options.bucket_batches, options.max_length, run.data.tokenizer.is_wordpiece()});
  if (options.steps == 0) options.steps = run.batches->steps_per_epoch() * options.epochs;
  run.schedule = {options.schedule, options.learning_rate, options.warmup,
                  options.schedule_steps > 0 ? options.schedule_steps : options.steps};
  run.stopping = Stopping(stopping_rule(options));
  const fs::path words = fs::path(options.data) / run.data.tokenizer.vocabulary;
  load_vocabulary(options.data, run.data.tokenizer);  // needed when the model is kept, hours from now perhaps
  run.learner = make_learner(options, run.task, words);
  const uint64_t longest =
      options.max_length > 0 ? std::min(options.max_length, split.longest) : split.longest;
  const uint64_t usable = usable_memory() / workers_here;
  const unsigned executors = run.executors->count();
  const GrainBytes bytes = [&](uint64_t tokens, uint64_t samples) {
    return run.learner->grain_bytes(tokens, samples);
  };
  if (can_recompute(options) && !grains_fit(options, longest, executors, usable, bytes)) {
    options.bert.recompute = true;
    run.learner = make_learner(options, run.task, words);
    run.remarks.push_back(
        "layers are computed again in the backward pass, with the same bits: keeping them needs more memory "
        "than there is");
  }
  check_grain_memory(options, longest, executors, usable, bytes);
  if (!options.bert.init.empty() && !options.resume) start_from_init(run);
  run.joining = joining_that_fits(run.learner->at_once(), options.grain_tokens, executors, usable, bytes);
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

namespace {

// "1:0.4" for this worker: 0.4.
double slowed_speed(const std::vector<std::string>& slow, const Exchange& exchange) {
  double speed = 1;
  for (const auto& text : slow) {
    unsigned rank = 0;
    double share = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%u:%lf%c", &rank, &share, &rest) != 2 || !(share >= 0.01 && share <= 1))
      input_error("--slow {}: not a worker and a share between 0.01 and 1, as in 1:0.4", text);
    if (rank >= exchange.size())
      input_error("--slow {}: there are {} workers, counted from 0", text, exchange.size());
    if (rank == exchange.rank()) speed = share;
  }
  return speed;
}

// What each worker can find out on its own.
void open_here(Run& run, const Exchange& exchange) {
  const TrainOptions& options = run.options;
  if (options.portable_bits) use_portable_kernels();
  if (options.resume && exchange.rank() == 0) {
    check_same_bits(options, read_run_options(options.out), options.out);
    run.folder = std::make_unique<RunFolder>(RunFolder::open(options.out));
  }
  check_options(options, exchange.size());
  check_precision(options);
  run.speed = slowed_speed(options.slow, exchange);
  run.data = read_dataset_info(options.data);
  check_task(options, run.data);
  if (options.stop_on.empty())
    run.options.stop_on = {run.data.labels == LabelKind::none ? "perplexity" : "macro_f1"};
  if (options.model == "bert") resolve_bert(run.options, run.data);
  open_parts(run, exchange.local_size());
}

bool is_complete(const Run& run) {
  std::error_code ignored;
  return run.resumed_from && run.has_ended() && !run.evaluation_is_due() &&
         fs::exists(run.folder->weights(), ignored);
}

// Whether all workers compute the same bits; alone, what another run's class is compared with.
void compare_kernels(Run& run, Exchange& exchange) {
  const Batch& batch = run.batches->at(run.position.step);
  std::vector<int32_t> probes(2 * exchange.size(), 0);
  const uint64_t probe = run.learner->probe(batch);
  probes[2 * exchange.rank()] = static_cast<int32_t>(static_cast<uint32_t>(probe));
  probes[2 * exchange.rank() + 1] = static_cast<int32_t>(static_cast<uint32_t>(probe >> 32));
  exchange.wait(exchange.start_sum(probes));
  for (unsigned w = 0; w < exchange.size(); ++w)
    run.workers[w].probe = static_cast<uint64_t>(static_cast<uint32_t>(probes[2 * w + 1])) << 32 |
                           static_cast<uint32_t>(probes[2 * w]);
  const std::string remark =
      remark_on_kernels(run.workers, !run.options.portable_bits && run.options.kernels == "fused");
  if (!remark.empty()) run.remarks.push_back(remark);
}

void open_folder(Run& run) {
  const std::string config = config_yaml(run.options);
  if (run.folder)
    write_file_atomically(run.folder->path() / "config.yaml", config);
  else
    run.folder = std::make_unique<RunFolder>(RunFolder::make(run.options.out, config));
}

void open_crew(Run& run, Exchange& exchange) {
  CrewOptions options;
  options.pace.policy = run.options.pace;
  options.pace.interval = run.options.pace_interval;
  options.port = static_cast<uint16_t>(run.options.port);
  for (const auto& worker : run.workers) {
    options.pace.executors.push_back(worker.executors);
    options.hosts.push_back(worker.host);
    options.on_one_network_stack &= worker.network_stack == run.workers[0].network_stack;
  }
  run.crew = std::make_unique<Crew>(exchange, options);
}

}  // namespace

Run open_run(const TrainOptions& options, Exchange& exchange) {
  Run run;
  const bool first = exchange.rank() == 0;
  run.options = share_options(options, exchange);
  do_together(exchange, [&] { open_here(run, exchange); });
  run.workers = exchange_facts(exchange, run);
  do_together(exchange, [&] {
    if (options.resume && first) load_newest_checkpoint(run);
  });
  share_state(run, exchange);
  run.was_complete = first && is_complete(run);
  exchange.broadcast(std::as_writable_bytes(std::span(&run.was_complete, 1)));
  if (run.was_complete) return run;
  // A damaged shard is found before anything is written.
  do_together(exchange, [&] { run.batches->at(run.position.step); });
  compare_kernels(run, exchange);
  open_crew(run, exchange);
  do_together(exchange, [&] {
    if (first) open_folder(run);
  });
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
