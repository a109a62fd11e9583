#include "engine/evaluate/evaluate.h"

#include "base/error.h"
#include "engine/model/portable_math.h"

namespace paceline {
namespace {

constexpr uint64_t window_rows = 4096, grain_rows = 128;

}  // namespace

void to_probabilities(std::span<float> values, bool multi_label) {
  if (multi_label) {
    for (float& v : values) v = static_cast<float>(1 / (1 + portable_exp(-static_cast<double>(v))));
    return;
  }
  double largest = values[0], sum = 0;
  for (float v : values) largest = std::max<double>(largest, v);
  for (float v : values) sum += portable_exp(v - largest);
  for (float& v : values) v = static_cast<float>(portable_exp(v - largest) / sum);
}

Scores evaluate_split(const Model& model, const Task& task, const fs::path& folder, const DatasetInfo& data,
                      const std::string& split, Executors& executors, Progress& progress) {
  SplitReader reader(folder, data, split);
  const size_t classes = task.classes.size();
  const bool multi = task.labels == LabelKind::multiple;
  ScoreCounter counter(task.classes, multi);
  Rows rows;
  std::vector<float> values(window_rows * classes);
  progress.begin("scoring", reader.rows(), "rows");
  for (uint64_t first = 0; first < reader.rows(); first += window_rows) {
    throw_if_interrupted();
    rows.clear();
    reader.read(first, std::min(window_rows, reader.rows() - first), rows);
    executors.run((rows.size() + grain_rows - 1) / grain_rows, [&](uint64_t grain, unsigned) {
      const size_t end = std::min<size_t>(rows.size(), (grain + 1) * grain_rows);
      for (size_t i = grain * grain_rows; i < end; ++i) {
        std::span<float> out(values.data() + i * classes, classes);
        model.logits(rows.row(i), out);
        to_probabilities(out, multi);
      }
    });
    for (size_t i = 0; i < rows.size(); ++i) {
      const Sample sample = sample_of(rows, classes, i);
      std::span<const float> scores(values.data() + i * classes, classes);
      if (multi)
        counter.add(scores, sample.flags);
      else
        counter.add(scores, sample.label);
    }
    progress.update(first + rows.size());
  }
  progress.end();
  return counter.result();
}

}  // namespace paceline
