#include "engine/evaluate/evaluate.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/portable_math.h"
#include "base/random.h"
#include "engine/model/piece_guesser.h"

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

namespace {

// What a split is scored with: values of a row, computed on any executor, then taken in the order of rows.
struct RowScoring {
  size_t values;  // of a row
  // texts beside each other have similar lengths; rows: their numbers in the split.
  std::function<void(std::span<const Text> texts, std::span<const uint64_t> rows, std::span<float> out)>
      compute;
  SampleListener take;
};

struct Place {
  const fs::path& folder;
  const DatasetInfo& data;
  const std::string& split;
};

// Returns the number of rows.
uint64_t score_rows(const Place& place, const Task& task, const RowScoring& scoring, Executors& executors,
                    Progress& progress, Crew* crew, uint64_t number) {
  SplitReader reader(place.folder, place.data, place.split);
  const size_t classes = task.classes.size();
  Rows rows;
  std::vector<float> values(window_rows * scoring.values);
  progress.begin("scoring", reader.rows(), "rows");
  for (uint64_t first = 0; first < reader.rows(); first += window_rows) {
    if (crew == nullptr || crew->is_alone()) throw_if_interrupted();  // several workers leave together
    rows.clear();
    reader.read(first, std::min(window_rows, reader.rows() - first), rows);
    rows.shorten(task.max_length, task.tokenizer.is_wordpiece());
    const std::vector<size_t> order = by_length(rows);
    const Work work{evaluation_bit | number, static_cast<uint32_t>(first / window_rows),
                    static_cast<uint32_t>((rows.size() + grain_rows - 1) / grain_rows), rows.ids.size()};
    const std::span<float> used(values.data(), rows.size() * scoring.values);
    run_grains(executors, crew, work, used, [&](uint64_t grain, unsigned) {
      const size_t begin = grain * grain_rows, end = std::min<size_t>(rows.size(), begin + grain_rows);
      std::vector<Text> texts;
      std::vector<uint64_t> numbers;
      for (size_t i = begin; i < end; ++i) {
        const Sample sample = sample_of(rows, classes, order[i]);
        texts.emplace_back(sample.ids, sample.second_begin);
        numbers.push_back(first + order[i]);
      }
      std::vector<float> found(texts.size() * scoring.values);
      scoring.compute(texts, numbers, found);
      for (size_t i = begin; i < end; ++i)
        std::copy_n(found.data() + (i - begin) * scoring.values, scoring.values,
                    used.data() + order[i] * scoring.values);
    });
    for (size_t i = 0; i < rows.size(); ++i)
      scoring.take(first + i, sample_of(rows, classes, i), used.subspan(i * scoring.values, scoring.values));
    progress.update(first + rows.size());
  }
  progress.end();
  return reader.rows();
}

// Every row is masked in the same way in every evaluation of every model.
constexpr uint64_t masking_of_evaluations = 0x6D61736B65642121ull;

Scores score_guesses(const PieceGuesser& model, const Place& place, const Task& task, Executors& executors,
                     Progress& progress, Crew* crew, uint64_t number) {
  enum Value { loss, pieces, right, values };
  double losses = 0;
  uint64_t masked = 0, guessed = 0;
  const auto compute = [&](std::span<const Text> texts, std::span<const uint64_t> rows,
                           std::span<float> out) {
    std::vector<uint64_t> keys;
    for (uint64_t row : rows) keys.push_back(stream_key({masking_of_evaluations, row}));
    std::vector<GrainLoss> found(texts.size());
    model.guess(texts, keys, found);
    for (size_t i = 0; i < found.size(); ++i) {
      out[i * values + loss] = static_cast<float>(found[i].loss);
      out[i * values + pieces] = static_cast<float>(found[i].weight);
      out[i * values + right] = static_cast<float>(found[i].right);
    }
  };
  const auto take = [&](uint64_t, const Sample&, std::span<const float> row) {
    losses += row[loss];
    masked += static_cast<uint64_t>(row[pieces]);
    guessed += static_cast<uint64_t>(row[right]);
  };
  const uint64_t rows = score_rows(place, task, {values, compute, take}, executors, progress, crew, number);
  return masked_scores(rows, masked, guessed, losses);
}

}  // namespace

Scores evaluate_split(const Model& model, const Task& task, const fs::path& folder, const DatasetInfo& data,
                      const std::string& split, Executors& executors, Progress& progress, Crew* crew,
                      uint64_t number, const SampleListener& listener) {
  const Place place{folder, data, split};
  if (task.guesses_pieces())
    return score_guesses(dynamic_cast<const PieceGuesser&>(model), place, task, executors, progress, crew,
                         number);
  const size_t classes = task.classes.size();
  const bool multi = task.labels == LabelKind::multiple;
  ScoreCounter counter(task.classes, multi);
  const auto compute = [&](std::span<const Text> texts, std::span<const uint64_t>, std::span<float> out) {
    model.logits(texts, out);
    for (size_t i = 0; i < texts.size(); ++i) to_probabilities(out.subspan(i * classes, classes), multi);
  };
  const auto take = [&](uint64_t row, const Sample& sample, std::span<const float> scores) {
    if (multi)
      counter.add(scores, sample.flags);
    else
      counter.add(scores, sample.label);
    if (listener) listener(row, sample, scores);
  };
  score_rows(place, task, {classes, compute, take}, executors, progress, crew, number);
  return counter.result();
}

}  // namespace paceline
