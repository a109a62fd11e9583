#include "engine/train/share.h"

#include "engine/train/agreement.h"
#include "engine/train/resume.h"

namespace paceline {
namespace {

// Rows of a view may have gaps between them: they travel without, a few megabytes at a time.
void share_tensor(const TensorView& view, Exchange& exchange) {
  const uint64_t rows_at_once = std::max<uint64_t>(1, (1 << 20) / std::max<uint64_t>(1, view.row_floats));
  auto* values = const_cast<float*>(view.values);
  std::vector<float> packed;
  for (uint64_t first = 0; first < view.rows; first += rows_at_once) {
    const uint64_t rows = std::min(rows_at_once, view.rows - first);
    packed.resize(rows * view.row_floats);
    for (uint64_t r = 0; r < rows; ++r)
      std::copy_n(values + (first + r) * view.stride, view.row_floats, packed.data() + r * view.row_floats);
    exchange.broadcast(std::as_writable_bytes(std::span(packed)));
    for (uint64_t r = 0; exchange.rank() > 0 && r < rows; ++r)
      std::copy_n(packed.data() + r * view.row_floats, view.row_floats, values + (first + r) * view.stride);
  }
}

}  // namespace

TrainOptions share_options(const TrainOptions& options, Exchange& exchange) {
  if (exchange.size() == 1 || !options.resume) return options;
  const std::string yaml = share_text(exchange, config_yaml(options));
  // What is recorded comes from rank 0; the rest, which does not change the result, stays each worker's own.
  TrainOptions shared = options;
  FieldTable table;
  declare_train_fields(table, shared);
  from_yaml(table, yaml, "the configuration of rank 0");
  return shared;
}

void share_state(Run& run, Exchange& exchange) {
  if (exchange.size() == 1) return;
  const bool needed =
      run.options.resume || !run.options.lstm.word_vectors.empty() || !run.options.bert.init.empty();
  if (!needed) return;
  const bool first = exchange.rank() == 0;
  const std::string text = share_text(exchange, first ? run_state(run).dump() : "");
  uint64_t resumed_from = run.resumed_from.value_or(0);
  exchange.broadcast(std::as_writable_bytes(std::span(&resumed_from, 1)));
  for (const TensorView& view : run.learner->state()) share_tensor(view, exchange);
  if (first) return;
  const auto state = nlohmann::json::parse(text);
  load_position(state, run);
  run.learner->state_changed(state.at("learner"));
  if (run.options.resume) run.resumed_from = resumed_from;
}

}  // namespace paceline
