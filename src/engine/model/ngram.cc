#include "engine/model/ngram.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/random.h"

namespace paceline {
namespace {

constexpr uint64_t line_floats = 16;  // a cache line
constexpr size_t prefetch_distance = 12;

uint64_t round_up(uint64_t n) { return (n + line_floats - 1) / line_floats * line_floats; }

// The largest power of two such that `terms` gradients of at most `bound` each add up to at most 2^30.
float scale_for(double bound, uint64_t terms) {
  if (!(bound > 0)) return 1;
  const double room = 0x1p30 / (bound * static_cast<double>(terms));
  return static_cast<float>(std::ldexp(1.0, std::clamp(std::ilogb(room), -60, 60)));
}

int32_t to_fixed(float value) { return static_cast<int32_t>(std::nearbyintf(value)); }

}  // namespace

// Sums of row gradients of one partition: an open-addressing table that stays in the L1/L2 cache.
struct NgramModel::RowSums {
  std::vector<uint32_t> keys;   // row + 1; 0: free
  std::vector<uint32_t> order;  // occupied slots
  std::vector<int32_t> sums;
  void reset(size_t touches, uint64_t stride) {
    size_t size = 64;
    while (size < touches * 2) size *= 2;
    if (keys.size() < size) {
      keys.assign(size, 0);
      sums.resize(size * stride);
    } else {
      for (uint32_t slot : order) keys[slot] = 0;
    }
    order.clear();
  }
  int32_t* find(uint32_t row, uint64_t stride) {
    const size_t mask = keys.size() - 1;
    size_t slot = (row * 0x9E3779B1u >> 7) & mask;
    while (keys[slot] != 0 && keys[slot] != row + 1) slot = (slot + 1) & mask;
    int32_t* sum = sums.data() + slot * stride;
    if (keys[slot] == 0) {
      keys[slot] = row + 1;
      order.push_back(static_cast<uint32_t>(slot));
      std::fill_n(sum, stride, 0);
    }
    return sum;
  }
};

NgramModel::NgramModel(const TrainOptions& options, const Task& task)
    : options_(options.ngram),
      max_length_(options.max_length),
      vocabulary_(task.tokenizer.vocabulary_size),
      rows_(vocabulary_ + (options_.ngrams > 1 ? options_.buckets : 0)),
      stride_(round_up(options_.dim + 1)),
      classes_(task.classes.size()),
      loss_(options, task),
      table_(static_cast<float*>(std::aligned_alloc(64, rows_ * stride_ * sizeof(float))), std::free),
      output_(classes_ * (options_.dim + 1), 0.f),
      output_squares_(output_.size(), 0.f) {
  if (!table_) throw std::bad_alloc();
  std::memset(table_.get(), 0, rows_ * stride_ * sizeof(float));
  const RandomStream random({options.seed, 0x6E6772616Dull});
  const float width = 1.f / static_cast<float>(options_.dim);
  for (uint64_t r = 0; r < rows_; ++r)
    for (uint64_t j = 0; j < options_.dim; ++j)
      row(r)[j] = (static_cast<float>(random.at(r * options_.dim + j) >> 40) * 0x1p-23f - 1.f) * width;
}

NgramModel::~NgramModel() = default;

void NgramModel::rows_of(std::span<const uint32_t> ids, std::vector<uint32_t>& rows) const {
  if (max_length_ > 0 && ids.size() > max_length_) ids = ids.first(max_length_);
  rows.assign(ids.begin(), ids.end());
  if (options_.ngrams < 2) return;
  for (size_t i = 0; i < ids.size(); ++i) {
    uint64_t hash = ids[i];
    const size_t end = std::min<size_t>(ids.size(), i + options_.ngrams);
    for (size_t k = i + 1; k < end; ++k) {
      hash = mix64(hash * 0x9E3779B97F4A7C15ull + ids[k] + 1);
      rows.push_back(static_cast<uint32_t>(vocabulary_ + (((hash >> 32) * options_.buckets) >> 32)));
    }
  }
}

void NgramModel::mean_of_rows(std::span<const uint32_t> rows, float* hidden) const {
  std::fill_n(hidden, stride_, 0.f);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + prefetch_distance < rows.size()) __builtin_prefetch(row(rows[i + prefetch_distance]));
    const float* source = row(rows[i]);
    for (uint64_t j = 0; j < stride_; ++j) hidden[j] += source[j];
  }
  const float share = rows.empty() ? 0.f : 1.f / static_cast<float>(rows.size());
  for (uint64_t j = 0; j < options_.dim; ++j) hidden[j] *= share;
}

void NgramModel::output_layer(const float* hidden, std::span<float> logits) const {
  for (size_t c = 0; c < classes_; ++c) {
    const float* weights = output_.data() + c * (options_.dim + 1);
    float sum = weights[options_.dim];
    for (uint64_t j = 0; j < options_.dim; ++j) sum += weights[j] * hidden[j];
    logits[c] = sum;
  }
}

void NgramModel::logits(std::span<const Text> texts, std::span<float> out) const {
  thread_local std::vector<uint32_t> rows;
  thread_local std::vector<float> hidden;
  hidden.resize(stride_);
  for (size_t i = 0; i < texts.size(); ++i) {
    rows_of(texts[i], rows);
    mean_of_rows(rows, hidden.data());
    output_layer(hidden.data(), out.subspan(i * classes_, classes_));
  }
}

void NgramModel::begin_step(const Batch& batch, unsigned) {
  // No gradient of a logit exceeds the loss's bound, so no sum can leave the range of the integers.
  double bound = 0;
  for (uint64_t j = 0; j < options_.dim; ++j) {
    double column = 0;
    for (size_t c = 0; c < classes_; ++c) column += std::fabs(output_[c * (options_.dim + 1) + j]);
    bound = std::max(bound, column);
  }
  row_scale_ = scale_for(bound * loss_.bound(), batch.samples.size());
  output_scale_ = 0x1p30f;
  grains_.resize(std::max<size_t>(grains_.size(), batch.grains()));
  for (auto& grain : grains_) grain.computed = false;
  exchanged_.clear();
  sample_gradients_.resize(batch.samples.size() * stride_);
}

void NgramModel::touch(const std::vector<uint32_t>& rows, uint32_t sample, GrainGradient& out) {
  for (uint32_t r : rows) out.touched[(r * 0x85EBCA6Bu) >> 26].push_back({r, sample});
}

std::vector<GrainLoss> NgramModel::compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                                  unsigned executor) {
  std::vector<GrainLoss> losses;
  for (uint64_t grain = first; grain < first + count; ++grain) losses.push_back(compute_grain(batch, grain));
  if (watch_ != nullptr) watch_->added(executor, 0);
  return losses;
}

GrainLoss NgramModel::compute_grain(const Batch& batch, uint64_t grain) {
  GrainGradient& out = grains_[grain];
  for (auto& list : out.touched) list.clear();
  out.output.assign(output_.size(), 0);
  out.hidden.resize(stride_);
  out.values.resize(classes_);
  GrainLoss result;
  const uint64_t width = options_.dim + 1;
  uint32_t number = static_cast<uint32_t>(batch.first_sample(grain));
  for (const Sample& sample : batch.grain(grain)) {
    rows_of(sample.ids, out.rows);
    mean_of_rows(out.rows, out.hidden.data());
    output_layer(out.hidden.data(), out.values);
    result.loss += loss_.gradient(sample, out.values, result.weight);

    int32_t* gradient = sample_gradients_.data() + number * stride_;
    std::fill_n(gradient, stride_, 0);
    const float share = out.rows.empty() ? 0.f : row_scale_ / static_cast<float>(out.rows.size());
    for (uint64_t j = 0; j < options_.dim; ++j) {
      float sum = 0;
      for (size_t c = 0; c < classes_; ++c) sum += output_[c * width + j] * out.values[c];
      gradient[j] = to_fixed(sum * share);
    }
    for (size_t c = 0; c < classes_; ++c) {
      int64_t* sums = out.output.data() + c * width;
      for (uint64_t j = 0; j < options_.dim; ++j)
        sums[j] += static_cast<int64_t>(std::nearbyintf(out.values[c] * out.hidden[j] * output_scale_));
      sums[options_.dim] += static_cast<int64_t>(std::nearbyintf(out.values[c] * output_scale_));
    }
    touch(out.rows, number, out);
    ++number;
  }
  out.computed = true;
  return result;
}

void NgramModel::update_partition(unsigned partition, uint64_t grains, float learning_rate, float unit,
                                  RowSums& sums) {
  size_t touches = 0;
  for (uint64_t g = 0; g < grains; ++g) touches += grains_[g].touched[partition].size();
  sums.reset(touches, stride_);
  for (uint64_t g = 0; g < grains; ++g)
    for (const Touch& touch : grains_[g].touched[partition]) {
      int32_t* sum = sums.find(touch.row, stride_);
      const int32_t* gradient = sample_gradients_.data() + touch.sample * stride_;
      for (uint64_t j = 0; j < stride_; ++j) sum[j] += gradient[j];
    }
  const float share = 1.f / static_cast<float>(options_.dim);
  for (size_t i = 0; i < sums.order.size(); ++i) {
    if (i + prefetch_distance < sums.order.size())
      __builtin_prefetch(row(sums.keys[sums.order[i + prefetch_distance]] - 1), 1);
    const uint32_t slot = sums.order[i];
    float* values = row(sums.keys[slot] - 1);
    const int32_t* sum = sums.sums.data() + slot * stride_;
    float squares = 0;
    for (uint64_t j = 0; j < options_.dim; ++j) {
      const float g = static_cast<float>(sum[j]) * unit;
      squares += g * g;
    }
    if (squares == 0) continue;
    float& running = values[options_.dim];
    running += squares * share;
    const float step = learning_rate / (std::sqrt(running) + 1e-10f) * unit;
    for (uint64_t j = 0; j < options_.dim; ++j) values[j] -= step * static_cast<float>(sum[j]);
  }
}

void NgramModel::update_output(float learning_rate, float weight) {
  for (size_t i = 0; i < output_.size(); ++i) {
    const float gradient = static_cast<float>(static_cast<double>(output_sums_[i]) / output_scale_) / weight;
    output_squares_[i] += gradient * gradient;
    if (output_squares_[i] > 0)
      output_[i] -= learning_rate * gradient / (std::sqrt(output_squares_[i]) + 1e-10f);
  }
}

UpdateFacts NgramModel::update(const Batch& batch, double learning_rate, double weight,
                               Executors& executors) {
  while (sums_.size() < executors.count()) sums_.push_back(std::make_unique<RowSums>());
  const uint64_t grains = batch.grains();
  const float rate = static_cast<float>(learning_rate);
  const float unit = static_cast<float>(1 / (static_cast<double>(row_scale_) * weight));
  executors.run(partitions, [&](uint64_t partition, unsigned executor) {
    update_partition(static_cast<unsigned>(partition), grains, rate, unit, *sums_[executor]);
  });
  update_output(rate, static_cast<float>(weight));
  return {};
}

}  // namespace paceline
