// The parameters of a tensor model in one block of memory, each starting on a cache line.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/model/tensor_model.h"

namespace paceline {

class ParameterStore {
 public:
  // Returns its number. All are added before allocate().
  size_t add(std::string name, std::vector<uint64_t> shape, bool decay);
  size_t add_rows(std::string name, uint64_t rows, uint64_t width);
  void allocate();
  std::span<const Parameter> all() const { return parameters_; }
  const Parameter& operator[](size_t number) const { return parameters_[number]; }
  // Uniform in [-width, width), from the stream (seed, name).
  void fill_uniform(size_t number, uint64_t seed, double width);
  // Of about normal distribution around 0, from the same stream.
  void fill_normal(size_t number, uint64_t seed, double deviation);
  void fill(size_t number, float value);
  // A share of the learning rate.
  void set_rate(size_t number, double rate) { parameters_[number].rate = rate; }

 private:
  std::vector<Parameter> parameters_;
  AlignedFloats values_;
};

}  // namespace paceline
