#include "engine/optim/exact_sum.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "engine/kernels/gradient_loops.h"

namespace paceline {
namespace {

constexpr double decay = 0.97;  // of the maximum, a step
constexpr double headroom = 8;  // three bits
constexpr uint32_t infinity_bits = 0x7F800000u;
constexpr size_t chunk = 1 << 14;          // values, a task of one executor
constexpr size_t cached_values = 1 << 21;  // sums of more do not stay in a cache from grains to grains
constexpr uint32_t none = UINT32_MAX;
constexpr size_t bucket_values = 1 << 16;  // at least, of a bucket of dense tensors

}  // namespace

struct ExactSum::Tensor {
  size_t number = 0;
  bool rows = false;
  size_t size = 0, width = 0;  // of rows: width is a row's, size what is touched
  double largest = 0;          // decaying maximum of |gradient|; 0: nothing was seen yet
  int exponent = 0;
  float scale = 1;
  std::vector<uint32_t> slot_of;  // row -> slot in this step, or none
  std::vector<uint32_t> touched;  // slot -> row
  size_t bucket = 0;
  int32_t* gathered = nullptr;  // all executors' sums in one place, once gather() has put them there
};

// Integers, or floats of the same size when the sum is not exact.
struct ExactSum::Part {
  struct Sums {
    AlignedFloats values;
    bool empty = true;             // a dense tensor: nothing was added yet
    std::vector<uint8_t> present;  // of rows: the slot was added to
    uint32_t largest = 0;          // bits of the largest |gradient|
    int32_t* integers() { return reinterpret_cast<int32_t*>(values.data()); }
  };
  std::vector<Sums> sums;
  size_t grains = 1;          // that are computed at once
  std::vector<size_t> added;  // tensors of each bucket that they have given
  std::unique_ptr<Sink> sink;
};

class ExactSum::Sink final : public GradientSink {
 public:
  Sink(ExactSum& sum, Part& part, unsigned executor) : sum_(sum), part_(part), executor_(executor) {}

  void dense(size_t, size_t parameter, const float* gradient) override {
    const Tensor& tensor = sum_.tensors_[parameter];
    auto& sums = part_.sums[parameter];
    add(tensor, gradient, tensor.size, sums.values.data(), sums.empty, sums);
    sums.empty = false;
    tell(tensor);
  }

  // The blocks of all grains that are computed at once are added up while they are in a cache; the last one
  // takes the sum to where it belongs.
  void block(size_t, size_t parameter, const MatrixBlock& block) override {
    const Tensor& tensor = sum_.tensors_[parameter];
    auto& sums = part_.sums[parameter];
    const size_t size = block.rows * block.stride;
    float* pending = pending_.reserve(size);
    if (block.more || !sum_.exact_) add(tensor, block.values, size, pending, first_pending_, sums);
    if (!block.more) give(tensor, block, sums);
    first_pending_ = !block.more;
    if (block.last) tell(tensor);
  }

  void rows(size_t, size_t parameter, std::span<const uint32_t> ids, const float* gradients) override {
    const Tensor& tensor = sum_.tensors_[parameter];
    auto& sums = part_.sums[parameter];
    for (size_t i = 0; i < ids.size(); ++i) {
      const uint32_t slot = tensor.slot_of[ids[i]];
      PACELINE_ASSERT(slot != none);
      add(tensor, gradients + i * tensor.width, tensor.width, sums.values.data() + slot * tensor.width,
          sums.present[slot] == 0, sums);
      sums.present[slot] = 1;
    }
    tell(tensor);
  }

 private:
  void add(const Tensor& tensor, const float* gradient, size_t count, float* to, bool first,
           Part::Sums& sums) {
    const uint32_t largest =
        sum_.exact_ ? add_fixed(gradient, count, tensor.scale, reinterpret_cast<int32_t*>(to), first)
                    : add_float(gradient, count, to, first);
    sums.largest = std::max(sums.largest, largest);
  }
  RowsGo goes(const Part::Sums& sums) const {
    return !sums.empty ? RowsGo::onto : sum_.stays_in_cache_ ? RowsGo::there : RowsGo::past_caches;
  }
  void give(const Tensor& tensor, const MatrixBlock& block, Part::Sums& sums) {
    const size_t place = block.row * tensor.width + block.column;
    const RowsGo go = goes(sums);
    const auto* before = reinterpret_cast<const int32_t*>(pending_.data());
    if (sum_.exact_)
      sums.largest = std::max(sums.largest, put_fixed({block.values, first_pending_ ? nullptr : before,
                                                       block.rows, block.columns, block.stride, tensor.scale},
                                                      sums.integers() + place, tensor.width, go));
    for (size_t r = 0; r < block.rows && !sum_.exact_; ++r) {
      const float* from = pending_.data() + r * block.stride;
      float* to = sums.values.data() + place + r * tensor.width;
      if (go != RowsGo::onto)
        std::memcpy(to, from, block.columns * sizeof(float));
      else
        add_floats(from, block.columns, to);
    }
    if (!block.last) return;
    if (go == RowsGo::past_caches) end_streams();
    sums.empty = false;
  }
  // Every grain gives every tensor once, so a full count is the end of the bucket in these grains.
  void tell(const Tensor& tensor) {
    const size_t all = sum_.buckets_[tensor.bucket].tensors.size() * part_.grains;
    if (sum_.watch_ == nullptr || ++part_.added[tensor.bucket] < all) return;
    part_.added[tensor.bucket] = 0;
    sum_.watch_->added(executor_, tensor.bucket);
  }
  ExactSum& sum_;
  Part& part_;
  unsigned executor_;
  AlignedFloats pending_;  // integers, or floats when the sum is not exact
  bool first_pending_ = true;
};

ExactSum::ExactSum(const TensorModel& model, bool exact) : model_(model), exact_(exact) {
  const auto parameters = model.parameters();
  size_t values = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    Tensor tensor;
    tensor.number = i;
    tensor.rows = parameters[i].rows;
    tensor.size = tensor.rows ? 0 : parameters[i].size();
    tensor.width = parameters[i].shape.back();
    if (tensor.rows) tensor.slot_of.assign(parameters[i].shape[0], none);
    values += tensor.size;
    tensors_.push_back(std::move(tensor));
  }
  stays_in_cache_ = values <= cached_values;
  make_buckets();
}

void ExactSum::make_buckets() {
  bool open = false;
  size_t values = 0;
  for (size_t number : model_.gradient_order()) {
    Tensor& tensor = tensors_[number];
    if (!open || tensor.rows) {
      buckets_.emplace_back();
      values = 0;
    }
    tensor.bucket = buckets_.size() - 1;
    buckets_.back().tensors.push_back(number);
    values += tensor.size;
    open = !tensor.rows && values < bucket_values;
  }
}

ExactSum::~ExactSum() = default;

// Slots in the order of first appearance: the same on every worker, whoever computes what.
void ExactSum::begin_rows(Tensor& tensor, size_t number, const Batch& batch) {
  for (uint32_t row : tensor.touched) tensor.slot_of[row] = none;
  tensor.touched.clear();
  ids_.clear();
  model_.touched_rows(batch, number, ids_);
  for (uint32_t id : ids_)
    if (tensor.slot_of[id] == none) {
      tensor.slot_of[id] = static_cast<uint32_t>(tensor.touched.size());
      tensor.touched.push_back(id);
    }
  tensor.size = tensor.touched.size() * tensor.width;
}

// The largest power of two with which `headroom` times the expected maximum of every grain still adds up
// to an int32.
int ExactSum::exponent_for(const Tensor& tensor) const {
  if (tensor.largest == 0) return 0;
  const double room = 2147483647.0 / static_cast<double>(grains_) / (headroom * tensor.largest);
  return std::clamp(std::ilogb(room), -126, 100);
}

void ExactSum::begin(const Batch& batch, unsigned executors) {
  grains_ = batch.grains();
  maxima_.clear();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    Tensor& tensor = tensors_[i];
    if (tensor.rows) begin_rows(tensor, i, batch);
    tensor.gathered = nullptr;
    tensor.exponent = exponent_for(tensor);
    tensor.scale = static_cast<float>(std::ldexp(1.0, tensor.exponent));
  }
  while (parts_.size() < executors) {
    parts_.push_back(std::make_unique<Part>());
    parts_.back()->sums.resize(tensors_.size());
    parts_.back()->added.resize(buckets_.size());
    parts_.back()->sink = std::make_unique<Sink>(*this, *parts_.back(), parts_.size() - 1);
  }
  for (auto& part : parts_)
    for (size_t i = 0; i < tensors_.size(); ++i) {
      auto& sums = part->sums[i];
      sums.values.reserve(tensors_[i].size);
      sums.empty = true;
      sums.largest = 0;
      if (tensors_[i].rows) sums.present.assign(tensors_[i].touched.size(), 0);
    }
}

GradientSink& ExactSum::sink(unsigned executor, size_t grains) {
  parts_[executor]->grains = grains;
  return *parts_[executor]->sink;
}

// The first who has something is copied, the others are added to it.
void ExactSum::gather_tensor(Tensor& tensor, int32_t* into) {
  const auto gather_range = [&](size_t first, size_t count, const auto& has) {
    bool empty = true;
    for (auto& part : parts_) {
      auto& from = part->sums[tensor.number];
      if (!has(from)) continue;
      if (empty)
        std::memcpy(into + first, from.integers() + first, count * sizeof(int32_t));
      else
        add_integers(from.integers() + first, count, into + first);
      empty = false;
    }
    if (empty) std::memset(into + first, 0, count * sizeof(int32_t));
  };
  if (!tensor.rows) gather_range(0, tensor.size, [](const Part::Sums& from) { return !from.empty; });
  for (size_t slot = 0; tensor.rows && slot < tensor.touched.size(); ++slot)
    gather_range(slot * tensor.width, tensor.width,
                 [&](const Part::Sums& from) { return from.present[slot] != 0; });
  tensor.gathered = into;
}

std::span<int32_t> ExactSum::gather(size_t number) {
  Bucket& bucket = buckets_[number];
  size_t size = 0;
  for (size_t t : bucket.tensors) size += tensors_[t].size;
  auto* sums = reinterpret_cast<int32_t*>(bucket.sums.reserve(size));
  size_t at = 0;
  for (size_t t : bucket.tensors) {
    gather_tensor(tensors_[t], sums + at);
    at += tensors_[t].size;
  }
  return {sums, size};
}

std::span<uint32_t> ExactSum::maxima() {
  maxima_.assign(tensors_.size(), 0);
  for (const auto& part : parts_)
    for (size_t i = 0; i < tensors_.size(); ++i) maxima_[i] = std::max(maxima_[i], part->sums[i].largest);
  return maxima_;
}

bool ExactSum::finish(uint64_t step) {
  if (maxima_.empty()) maxima();
  const double limit = std::floor(2147483647.0 / static_cast<double>(grains_));
  bool good = true;
  for (auto& tensor : tensors_) {
    const uint32_t bits = maxima_[tensor.number];
    if (bits >= infinity_bits)
      work_error("step {}: the gradient of {} is not a finite number", step + 1,
                 model_.parameters()[tensor.number].name);
    const double seen = std::bit_cast<float>(bits);
    // A tensor whose gradient was zero so far has no scale of its own yet.
    if (seen > 0 && (tensor.largest == 0 || seen * tensor.scale > limit)) {
      tensor.largest = seen;
      good = false;
    }
  }
  if (!good && exact_) return false;
  for (auto& tensor : tensors_)
    tensor.largest =
        std::max(tensor.largest * decay, static_cast<double>(std::bit_cast<float>(maxima_[tensor.number])));
  return true;
}

// One range of a dense tensor: all executors' sums into the first one's, as floats.
double ExactSum::combine_chunk(Tensor& tensor, size_t first, size_t count, float unit) {
  if (tensor.gathered != nullptr) {
    float* values = reinterpret_cast<float*>(tensor.gathered) + first;
    to_float(tensor.gathered + first, count, unit, values);
    return sum_of_squares(values, count);
  }
  auto& into = parts_[0]->sums[tensor.number];
  float* values = into.values.data() + first;
  int32_t* integers = into.integers() + first;
  if (into.empty) std::memset(values, 0, count * sizeof(float));
  for (size_t p = 1; p < parts_.size(); ++p) {
    auto& from = parts_[p]->sums[tensor.number];
    if (from.empty) continue;
    if (exact_)
      add_integers(from.integers() + first, count, integers);
    else
      add_floats(from.values.data() + first, count, values);
  }
  if (exact_)
    to_float(integers, count, unit, values);
  else
    for (size_t i = 0; i < count; ++i) values[i] *= unit;
  return sum_of_squares(values, count);
}

double ExactSum::combine_rows(Tensor& tensor, size_t first, size_t count, float unit) {
  const size_t width = tensor.width;
  if (tensor.gathered != nullptr) return combine_chunk(tensor, first * width, count * width, unit);
  auto& into = parts_[0]->sums[tensor.number];
  for (size_t slot = first; slot < first + count; ++slot) {
    float* values = into.values.data() + slot * width;
    int32_t* integers = into.integers() + slot * width;
    if (!into.present[slot]) std::memset(values, 0, width * sizeof(float));
    for (size_t p = 1; p < parts_.size(); ++p) {
      auto& from = parts_[p]->sums[tensor.number];
      if (!from.present[slot]) continue;
      if (exact_)
        add_integers(from.integers() + slot * width, width, integers);
      else
        add_floats(from.values.data() + slot * width, width, values);
    }
    if (exact_)
      to_float(integers, width, unit, values);
    else
      for (size_t i = 0; i < width; ++i) values[i] *= unit;
  }
  return sum_of_squares(into.values.data() + first * width, count * width);
}

double ExactSum::combine(double factor, Executors& executors) {
  struct Range {
    size_t tensor, first, count;
  };
  std::vector<Range> tasks;
  for (const auto& tensor : tensors_) {
    const size_t all = tensor.rows ? tensor.touched.size() : tensor.size;
    const size_t step = tensor.rows ? std::max<size_t>(1, chunk / tensor.width) : chunk;
    for (size_t first = 0; first < all; first += step)
      tasks.push_back({tensor.number, first, std::min(step, all - first)});
  }
  std::vector<double> squares(tasks.size());
  executors.run(tasks.size(), [&](uint64_t number, unsigned) {
    const Range& task = tasks[number];
    Tensor& tensor = tensors_[task.tensor];
    const auto unit = static_cast<float>(exact_ ? std::ldexp(factor, -tensor.exponent) : factor);
    squares[number] = tensor.rows ? combine_rows(tensor, task.first, task.count, unit)
                                  : combine_chunk(tensor, task.first, task.count, unit);
  });
  double sum = 0;
  for (double part : squares) sum += part;
  return sum;
}

const float* ExactSum::gradient(size_t parameter) const {
  const int32_t* gathered = tensors_[parameter].gathered;
  return gathered != nullptr ? reinterpret_cast<const float*>(gathered)
                             : parts_[0]->sums[parameter].values.data();
}

std::span<const uint32_t> ExactSum::rows_of(size_t parameter) const { return tensors_[parameter].touched; }

const float* ExactSum::row_gradient(size_t parameter, uint32_t row) const {
  const Tensor& tensor = tensors_[parameter];
  const uint32_t slot = tensor.slot_of[row];
  return slot == none ? nullptr : gradient(parameter) + slot * tensor.width;
}

nlohmann::ordered_json ExactSum::scales() const {
  nlohmann::ordered_json out;
  for (const auto& tensor : tensors_) out[model_.parameters()[tensor.number].name] = tensor.largest;
  return out;
}

void ExactSum::load_scales(const nlohmann::json& scales) {
  for (auto& tensor : tensors_) {
    const auto& value = scales.at(model_.parameters()[tensor.number].name);
    if (!value.is_number() || !(value.get<double>() >= 0))
      throw std::runtime_error("a scale is not a number");
    tensor.largest = value.get<double>();
  }
}

}  // namespace paceline
