#include "engine/model/parameter_store.h"

#include <cstring>

#include "base/hash.h"
#include "base/random.h"

namespace paceline {

size_t ParameterStore::add(std::string name, std::vector<uint64_t> shape, bool decay) {
  parameters_.push_back({std::move(name), std::move(shape), nullptr, false, decay});
  return parameters_.size() - 1;
}

size_t ParameterStore::add_rows(std::string name, uint64_t rows, uint64_t width) {
  parameters_.push_back({std::move(name), {rows, width}, nullptr, true, true});
  return parameters_.size() - 1;
}

void ParameterStore::allocate() {
  const auto lines = [](uint64_t floats) { return (floats + 15) / 16 * 16; };
  uint64_t total = 0;
  for (const auto& parameter : parameters_) total += lines(parameter.size());
  float* values = values_.reserve(total);
  std::memset(values, 0, total * sizeof(float));
  for (auto& parameter : parameters_) {
    parameter.values = values;
    values += lines(parameter.size());
  }
}

void ParameterStore::fill_uniform(size_t number, uint64_t seed, double width) {
  const Parameter& parameter = parameters_[number];
  const RandomStream random({seed, hash64(parameter.name)});
  for (uint64_t i = 0; i < parameter.size(); ++i)
    parameter.values[i] = static_cast<float>((static_cast<double>(random.at(i) >> 40) * 0x1p-23 - 1) * width);
}

// A sum of twelve uniform numbers has the variance 1; it needs no function of a library.
void ParameterStore::fill_normal(size_t number, uint64_t seed, double deviation) {
  const Parameter& parameter = parameters_[number];
  const RandomStream random({seed, hash64(parameter.name)});
  for (uint64_t i = 0; i < parameter.size(); ++i) {
    uint64_t sum = 0;
    for (uint64_t draw = 3 * i; draw < 3 * i + 3; ++draw)
      for (unsigned shift = 0; shift < 64; shift += 16) sum += (random.at(draw) >> shift) & 0xFFFF;
    const double normal = (static_cast<double>(sum) + 6) * 0x1p-16 - 6;  // each uniform number is k + 1/2
    parameter.values[i] = static_cast<float>(normal * deviation);
  }
}

void ParameterStore::fill(size_t number, float value) {
  std::fill_n(parameters_[number].values, parameters_[number].size(), value);
}

void TensorModel::weights_changed() {
  for (size_t part = 0; part < parts_to_prepare(); ++part) prepare(part);
}

std::vector<size_t> TensorModel::gradient_order() const {
  std::vector<size_t> order;
  for (size_t i = parameters().size(); i-- > 0;) order.push_back(i);
  return order;
}

std::vector<TensorView> TensorModel::tensors() const {
  std::vector<TensorView> views;
  for (const auto& p : parameters()) {
    const uint64_t width = p.shape.back();
    views.push_back({p.name, p.shape, p.values, p.size() / width, width, width});
  }
  return views;
}

void TensorModel::load(const SafetensorsReader& reader) {
  for (const auto& p : parameters()) reader.read(p.name, p.shape, p.values, p.shape.back(), p.shape.back());
  weights_changed();
}

}  // namespace paceline
