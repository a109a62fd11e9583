#include "engine/evaluate/evaluate.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/portable_math.h"

namespace paceline {
namespace {

constexpr uint64_t window_rows = 4096, grain_rows = 64;

// Rows by length, the longest first: texts beside each other then have similar lengths.
std::vector<size_t> by_length(const Rows& rows) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rows.row(a).size() > rows.row(b).size(); });
  return order;
}

// Grains of an evaluation are told apart from those of steps by the highest bit.
constexpr uint64_t evaluation_bit = uint64_t{1} << 63;

// The grains on this worker's executors, or shared among all workers, where the values that are not
// computed here are 0 and come from the others.
void run_grains(Executors& executors, Crew* crew, const Work& work, std::span<float> values,
                const std::function<void(uint64_t grain, unsigned executor)>& task) {
  if (crew == nullptr || crew->is_alone()) return executors.run(work.grains, task);
  std::ranges::fill(values, 0.f);
  crew->run(
      work, 1, executors, [&](uint64_t grain, uint64_t, unsigned executor) { task(grain, executor); },
      [](unsigned) {});
  crew->sum({reinterpret_cast<int32_t*>(values.data()), values.size()});
}

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
                      const std::string& split, Executors& executors, Progress& progress, Crew* crew,
                      uint64_t number, const SampleListener& listener) {
  SplitReader reader(folder, data, split);
  const size_t classes = task.classes.size();
  const bool multi = task.labels == LabelKind::multiple;
  ScoreCounter counter(task.classes, multi);
  Rows rows;
  std::vector<float> values(window_rows * classes);
  progress.begin("scoring", reader.rows(), "rows");
  for (uint64_t first = 0; first < reader.rows(); first += window_rows) {
    if (crew == nullptr || crew->is_alone()) throw_if_interrupted();  // several workers leave together
    rows.clear();
    reader.read(first, std::min(window_rows, reader.rows() - first), rows);
    rows.shorten(task.max_length, task.tokenizer.is_wordpiece());
    const std::vector<size_t> order = by_length(rows);
    const Work work{evaluation_bit | number, static_cast<uint32_t>(first / window_rows),
                    static_cast<uint32_t>((rows.size() + grain_rows - 1) / grain_rows), rows.ids.size()};
    run_grains(executors, crew, work, {values.data(), rows.size() * classes}, [&](uint64_t grain, unsigned) {
      const size_t begin = grain * grain_rows, end = std::min<size_t>(rows.size(), begin + grain_rows);
      std::vector<Text> texts;
      for (size_t i = begin; i < end; ++i) {
        const Sample sample = sample_of(rows, classes, order[i]);
        texts.emplace_back(sample.ids, sample.second_begin);
      }
      std::vector<float> logits(texts.size() * classes);
      model.logits(texts, logits);
      for (size_t i = begin; i < end; ++i) {
        const std::span<float> out(values.data() + order[i] * classes, classes);
        std::copy_n(logits.data() + (i - begin) * classes, classes, out.data());
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
      if (listener) listener(first + i, sample, scores);
    }
    progress.update(first + rows.size());
  }
  progress.end();
  return counter.result();
}

}  // namespace paceline
