#include "engine/train/record.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/machine/resources.h"
#include "base/portable_math.h"
#include "engine/train/bert_start.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;
constexpr uint64_t recorded_steps = 10000;
constexpr uint64_t first_timelines = 20, timeline_every = 100;  // steps

Json run_fields(const Run& run) {
  Json fields = {{"command", "train"}, {"workers", run.workers.size()}};
  if (run.resumed_from) fields["resumed_from"] = *run.resumed_from;
  return fields;
}

// Samples of the first steps of the run, all epochs together.
uint64_t samples_of(const Run& run, uint64_t steps) {
  const uint64_t rows = run.train_split().rows, epoch = run.batches->steps_per_epoch();
  return steps / epoch * rows + std::min(rows, steps % epoch * run.options.batch_size);
}

}  // namespace

Record::Record(const Run& run, Progress& progress)
    : run_(run), progress_(progress), log_(run.folder ? run.folder->path() / "log.txt" : "/dev/null") {
  if (run.folder)
    events_.emplace(run.folder->path() / "events.jsonl", run_fields(run),
                    run.resumed_from ? EventLog::Open::append : EventLog::Open::create);
  progress_.begin("training", samples_of(run, run.options.steps), "samples");
  progress_.skip(run.position.samples);
  begin();
  for (const auto& remark : run.remarks) say(remark);
}

void Record::begin() {
  const TrainOptions& options = run_.options;
  const SplitInfo& split = run_.train_split();
  add("config", {{"config", config_json(options)}});
  nlohmann::ordered_json data = {{"path", options.data},
                                 {"fingerprint", run_.data.fingerprint()},
                                 {"rows", split.rows},
                                 {"tokens", split.tokens},
                                 {"classes", run_.data.classes},
                                 {"class_rows", split.class_rows},
                                 {"vocabulary", run_.data.tokenizer.vocabulary_size}};
  if (!options.lstm.word_vectors.empty()) data["word_vectors"] = file_checksum(options.lstm.word_vectors);
  if (!options.bert.init.empty() && !run_.resumed_from) data["init"] = init_checksums(options);
  add("data", data);
  unsigned executors = 0;
  for (size_t rank = 0; rank < run_.workers.size(); ++rank) {
    const WorkerFacts& worker = run_.workers[rank];
    executors += worker.executors;
    Json fields = {{"rank", rank}, {"executors", worker.executors}, {"device", options.device}};
    fields.update({{"host", worker.host},
                   {"processor", worker.processor},
                   {"kernels", worker.kernels},
                   {"class", fmt::format("{:016x}", worker.probe)}});
    add("worker", fields);
  }
  log_.info("paceline {}: {} on {} ({} rows), {} steps of {} samples, {} workers, {} executors",
            PACELINE_VERSION, options.model, options.data, split.rows, options.steps, options.batch_size,
            run_.workers.size(), executors);
  if (run_.resumed_from) log_.info("resumed at step {}", *run_.resumed_from);
}

void Record::add(std::string_view kind, const Json& fields) {
  if (!events_) return;
  try {
    events_->add(kind, fields);
    if (lost_ == 0) return;
    const uint64_t lost = std::exchange(lost_, 0);
    fault("events_lost", run_.position.step, fmt::format("{} events could not be written", lost));
  } catch (const WorkError& problem) {
    if (lost_++ == 0) say(fmt::format("{}; training goes on", problem.what()));
  }
}

bool Record::is_recorded(uint64_t step) const {
  const uint64_t every = std::max<uint64_t>(1, run_.options.steps / recorded_steps);
  return (step - 1) % every == 0 || step == run_.options.steps;
}

void Record::step(const StepFacts& facts, const StepSeconds& seconds) {
  const Position& at = run_.position;
  const double share = smooth_loss_ == 0 ? 1 : 0.05;
  smooth_loss_ += share * (facts.loss - smooth_loss_);
  std::string note = fmt::format("step {} of {}  loss {:.4f}", at.step, run_.options.steps, smooth_loss_);
  if (facts.masked_accuracy) {
    smooth_accuracy_ += share * (*facts.masked_accuracy - smooth_accuracy_);
    note += fmt::format("  perplexity {:.1f}  masked accuracy {:.3f}", portable_exp(smooth_loss_),
                        smooth_accuracy_);
  }
  progress_.update(at.samples, note + "  padding 0 %");
  add_held_step();
  if (!is_recorded(at.step)) return;
  Json fields = {{"step", at.step},          {"epoch", facts.epoch},
                 {"loss", facts.loss},       {"learning_rate", facts.learning_rate},
                 {"samples", facts.samples}, {"tokens", facts.tokens},
                 {"padding", 0.0},           {"seconds", seconds.to_json()}};
  if (facts.masked_accuracy) {
    fields["perplexity"] = portable_exp(facts.loss);
    fields["masked_accuracy"] = *facts.masked_accuracy;
  }
  if (facts.gradient_norm > 0) fields["gradient_norm"] = facts.gradient_norm;
  fields["attempts"] = facts.attempts;
  if (run_.workers.size() == 1) return add("step", fields);
  for (size_t rank = 0; rank < facts.workers.size(); ++rank)
    fields["workers"].push_back(
        {{"rank", rank}, {"grains", facts.workers[rank].grains}, {"tokens", facts.workers[rank].tokens}});
  held_step_ = std::move(fields);
  if (at.step <= first_timelines || at.step % timeline_every == 0) add_timeline(facts);
}

void Record::workers_of_step(const std::vector<StepSeconds>& seconds) {
  if (held_step_.is_null()) return;
  for (size_t rank = 0; rank < seconds.size(); ++rank)
    held_step_["workers"][rank]["seconds"] = seconds[rank].to_json();
  add_held_step();
}

void Record::add_held_step() {
  if (!held_step_.is_null()) add("step", std::exchange(held_step_, {}));
}

void Record::add_timeline(const StepFacts& facts) {
  Json grains;
  for (const GrainTrace& grain : facts.grains)
    grains.push_back({grain.worker, grain.executor, grain.begin, grain.end});
  add("timeline", {{"step", run_.position.step}, {"grains", grains}});
}

void Record::evaluation(const Scores& scores, const std::vector<std::string>& best_for, double seconds) {
  const std::string& first = run_.stopping.first_metric();
  const bool best = std::find(best_for.begin(), best_for.end(), first) != best_for.end();
  std::string line = fmt::format("step {}: loss {:.4f}, on valid ", run_.position.step, run_.position.loss);
  if (scores.masked)
    line += fmt::format("perplexity {:.4f}, masked accuracy {:.4f}", scores.masked->perplexity,
                        scores.masked->accuracy);
  else
    line += fmt::format("accuracy {:.4f}, macro-F1 {:.4f}", scores.accuracy, scores.macro_f1);
  if (!scores.masked && first != "macro_f1" && first != "accuracy")
    if (const auto value = metric(scores, first)) line += fmt::format(", {} {:.4f}", first, *value);
  log_.info("{}{}", line, best ? " (best so far)" : "");
  add("evaluation", {{"step", run_.position.step},
                     {"split", "valid"},
                     {"scores", to_json(scores)},
                     {"best", best},
                     {"seconds", seconds},
                     {"epoch", run_.position.step / run_.batches->steps_per_epoch()}});
}

void Record::weights(const std::vector<TensorSketch>& sketches) {
  Json tensors = Json::array();
  uint64_t hash = 0;
  for (const auto& sketch : sketches) {
    tensors.push_back({{"name", sketch.name},
                       {"values", sketch.values},
                       {"norm", sketch.norm},
                       {"sketch", sketch.sums},
                       {"hash", fmt::format("{:016x}", sketch.hash)}});
    hash = mix64(hash ^ sketch.hash);
  }
  add("weights",
      {{"step", run_.position.step}, {"hash", fmt::format("{:016x}", hash)}, {"tensors", tensors}});
}

void Record::model() { add("model", {{"step", run_.position.step}, {"path", "model"}}); }

void Record::resources() {
  const ResourceSample sample = sample_resources();
  add("resources", {{"rank", 0},
                    {"rss_bytes", sample.resident_bytes},
                    {"peak_rss_bytes", sample.peak_resident_bytes},
                    {"user_seconds", sample.user_seconds},
                    {"system_seconds", sample.system_seconds}});
}

void Record::checkpoint(const CheckpointReport& report) {
  if (!report.failure.empty()) {
    fault("checkpoint_failed", report.step,
          fmt::format("no checkpoint of step {}: {}; training goes on", report.step, report.failure));
    return;
  }
  log_.info("step {}: checkpoint saved ({}, {:.2f} s)", report.step, human_bytes(report.bytes),
            report.copy_seconds + report.write_seconds);
  add("checkpoint", {{"step", report.step},
                     {"path", fmt::format("checkpoints/step-{}", report.step)},
                     {"bytes", report.bytes},
                     {"seconds", report.copy_seconds},
                     {"background_seconds", report.write_seconds}});
  if (!report.warning.empty()) fault("checkpoint_left", report.step, report.warning);
}

void Record::fault(const char* kind, uint64_t step, const std::string& reason) {
  log_.error("{}", reason);
  progress_.say(reason);
  add("fault", {{"kind", kind}, {"step", step}, {"rank", 0}, {"reason", reason}});
}

void Record::say(const std::string& sentence) {
  log_.info("{}", sentence);
  progress_.say(sentence);
}

void Record::end_done(double seconds, const std::string& status, const std::string& reason) {
  const Position& at = run_.position;
  progress_.end();
  add_held_step();
  log_.info("{}: {} steps, {} samples in {:.1f} s, model {}{}{}", status, at.step, at.samples, seconds,
            at.model_hash, reason.empty() ? "" : ": ", reason);
  Json fields = {{"status", status}, {"step", at.step}};
  if (!reason.empty()) fields["reason"] = reason;
  fields.update(
      {{"seconds", seconds}, {"samples", at.samples}, {"tokens", at.tokens}, {"model", at.model_hash}});
  add("end", fields);
}

void Record::end_early(const char* status, const std::string& reason) {
  add_held_step();
  log_.error("step {}: {}", run_.position.step, reason);
  add("end", {{"status", status}, {"step", run_.position.step}, {"reason", reason}});
}

}  // namespace paceline
