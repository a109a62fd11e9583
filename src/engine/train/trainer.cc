#include "engine/train/trainer.h"

#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/events/events.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/machine/limits.h"
#include "base/machine/resources.h"
#include "engine/evaluate/evaluate.h"
#include "engine/train/class_weights.h"
#include "engine/train/schedule.h"

namespace paceline {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Everything that a run is made of, checked and opened.
struct Run {
  TrainOptions options;
  DatasetInfo data;
  Task task;
  std::unique_ptr<Executors> executors;
  std::unique_ptr<Model> model;
  std::unique_ptr<Batches> batches;
  std::unique_ptr<EventLog> events;
  std::unique_ptr<RunLog> log;
  Schedule schedule;
  fs::path folder;
  TrainResult result;
  Clock::time_point started = Clock::now();
};

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
  if (options.batch_size < options.grain_size)
    input_error("--batch-size {} is smaller than --grain-size {}; make the grain smaller", options.batch_size,
                options.grain_size);
}

void open_folder(Run& run) {
  run.folder = run.options.out;
  std::error_code error;
  if (fs::exists(fs::symlink_status(run.folder, error)))
    input_error("--out {}: exists already; name another folder or remove it", run.options.out);
  if (!fs::create_directory(run.folder, error) || error)
    input_error("--out {}: cannot be made: {}", run.options.out, error ? error.message() : "it exists");
}

Run open_run(const TrainOptions& options) {
  Run run;
  run.options = options;
  run.data = read_dataset_info(options.data);
  check_task(options, run.data);
  const SplitInfo& split = run.data.split("train", options.data);
  run.task = {run.data.labels, run.data.classes, run.data.tokenizer,
              class_weights(options.class_weights, run.data, split)};
  run.executors = std::make_unique<Executors>(options.executors > 0 ? static_cast<unsigned>(options.executors)
                                                                    : usable_cores());
  run.batches =
      std::make_unique<Batches>(SplitReader(options.data, run.data, "train"), split, run.data.classes.size(),
                                options.seed, options.batch_size, options.grain_size);
  const uint64_t all = run.batches->steps_per_epoch() * options.epochs;
  run.options.steps = options.steps > 0 ? options.steps : all;
  run.schedule = {options.schedule, options.learning_rate, options.warmup, run.options.steps};
  run.model = make_model(run.options, run.task);
  run.batches->at(0);  // a damaged shard is found before anything is written
  return run;
}

void record_start(Run& run) {
  open_folder(run);
  FieldTable table;
  declare_train_fields(table, run.options);
  write_file_atomically(run.folder / "config.yaml", to_yaml(table));
  const SplitInfo& split = run.data.split("train", run.options.data);
  run.events =
      std::make_unique<EventLog>(run.folder / "events.jsonl", nlohmann::ordered_json{{"command", "train"}});
  nlohmann::ordered_json config;
  for (const auto& field : table.fields())
    if (field.recorded) config[field.name] = field.value_json();
  run.events->add("config", {{"config", config}});
  run.events->add("data", {{"path", run.options.data},
                           {"fingerprint", run.data.fingerprint()},
                           {"rows", split.rows},
                           {"tokens", split.tokens},
                           {"classes", run.data.classes},
                           {"class_rows", split.class_rows},
                           {"vocabulary", run.data.tokenizer.vocabulary_size}});
  run.log = std::make_unique<RunLog>(run.folder / "log.txt");
  run.log->info("paceline {}: {} on {} ({} rows), {} steps of {} samples, {} executors", PACELINE_VERSION,
                run.options.model, run.options.data, split.rows, run.options.steps, run.options.batch_size,
                run.executors->count());
  run.events->add("worker", {{"rank", 0}, {"executors", run.executors->count()}, {"device", "cpu"}});
}

void record_step(Run& run, const Batch& batch, double loss, double rate, double wait, double compute,
                 double update) {
  const double step = wait + compute + update;
  run.events->add("step",
                  {{"step", batch.step + 1},
                   {"epoch", batch.epoch},
                   {"loss", loss},
                   {"learning_rate", rate},
                   {"samples", batch.samples.size()},
                   {"tokens", batch.tokens},
                   {"padding", 0.0},
                   {"seconds", {{"data", wait}, {"compute", compute}, {"update", update}, {"step", step}}}});
}

// One step: batch, grains, update, record.
void take_step(Run& run, uint64_t step, bool record) {
  const auto begin = Clock::now();
  const Batch& batch = run.batches->at(step);
  const double wait = seconds_since(begin);
  std::vector<GrainLoss> losses(batch.grains());
  run.model->begin_step(batch);
  run.executors->run(batch.grains(), [&](uint64_t grain, unsigned) {
    losses[grain] = run.model->compute_grain(batch, grain);
  });
  GrainLoss total;
  for (const auto& part : losses) {  // in the order of the grains, so that the sum has the same bits
    total.loss += part.loss;
    total.weight += part.weight;
  }
  const double computed = seconds_since(begin);
  const double rate = run.schedule.at(step), loss = total.loss / total.weight;
  if (!std::isfinite(loss))
    work_error("step {}: the loss is not a number; a smaller --learning-rate may help", step + 1);
  run.model->update(batch, rate, total.weight, *run.executors);
  const double all = seconds_since(begin);
  run.result.last_loss = loss;
  run.result.samples += batch.samples.size();
  run.result.tokens += batch.tokens;
  run.result.steps = step + 1;
  if (record) record_step(run, batch, loss, rate, wait, computed - wait, all - computed);
}

// Scores the split valid, and keeps the model when it is the best so far.
void evaluate_and_keep(Run& run) {
  const auto begin = Clock::now();
  const SplitInfo* valid = run.data.find_split("valid");
  bool best = true;
  if (valid != nullptr && valid->rows > 0) {
    NoProgress quiet;
    const Scores scores =
        evaluate_split(*run.model, run.task, run.options.data, run.data, "valid", *run.executors, quiet);
    best = !run.result.best_score || scores.macro_f1 > *run.result.best_score;
    if (best) run.result.best_score = scores.macro_f1;
    run.log->info("step {}: loss {:.4f}, on valid accuracy {:.4f}, macro-F1 {:.4f}{}", run.result.steps,
                  run.result.last_loss, scores.accuracy, scores.macro_f1, best ? " (best so far)" : "");
    run.events->add("evaluation", {{"step", run.result.steps},
                                   {"split", "valid"},
                                   {"scores", to_json(scores)},
                                   {"best", best},
                                   {"seconds", seconds_since(begin)}});
  }
  if (!best) return;
  run.result.best_step = run.result.steps;
  save_model(*run.model, run.task, fs::path(run.options.data) / "vocab.txt", run.folder / "model");
  run.events->add("model", {{"step", run.result.steps}, {"path", "model"}});
}

void record_resources(Run& run) {
  const ResourceSample sample = sample_resources();
  run.events->add("resources", {{"rank", 0},
                                {"rss_bytes", sample.resident_bytes},
                                {"peak_rss_bytes", sample.peak_resident_bytes},
                                {"user_seconds", sample.user_seconds},
                                {"system_seconds", sample.system_seconds}});
}

}  // namespace

TrainResult train(const TrainOptions& options, Progress& progress) {
  Run run = open_run(options);
  record_start(run);
  const uint64_t steps = run.options.steps, epoch = run.batches->steps_per_epoch();
  // A line per step for short runs; long ones keep about ten thousand.
  const uint64_t every = std::max<uint64_t>(1, steps / 10000);
  progress.begin("training", steps * run.options.batch_size, "samples");
  try {
    for (uint64_t step = 0; step < steps; ++step) {
      throw_if_interrupted();
      take_step(run, step, step % every == 0 || step + 1 == steps);
      progress.update(run.result.samples,
                      fmt::format("step {}  loss {:.4f}", step + 1, run.result.last_loss));
      if ((step + 1) % epoch == 0 || step + 1 == steps) {
        evaluate_and_keep(run);
        record_resources(run);
      }
    }
  } catch (const std::exception& problem) {
    run.log->error("step {}: {}", run.result.steps, problem.what());
    const bool asked = dynamic_cast<const Interrupted*>(&problem) != nullptr;
    run.events->add("end", {{"status", asked ? "interrupted" : "failed"},
                            {"step", run.result.steps},
                            {"reason", problem.what()}});
    throw;
  }
  progress.end();
  run.result.seconds = seconds_since(run.started);
  run.result.model_hash = file_checksum(run.folder / "model" / "model.safetensors");
  run.log->info("done: {} steps, {} samples in {:.1f} s, model {}", run.result.steps, run.result.samples,
                run.result.seconds, run.result.model_hash);
  run.events->add("end", {{"status", "done"},
                          {"step", run.result.steps},
                          {"seconds", run.result.seconds},
                          {"samples", run.result.samples},
                          {"tokens", run.result.tokens},
                          {"model", run.result.model_hash}});
  return run.result;
}

}  // namespace paceline
