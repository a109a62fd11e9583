// A dense layer of a model: out = in * weight^T + bias, its gradients, and its weights laid out for both.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/model/parameter_store.h"

namespace paceline {

class Linear {
 public:
  Linear() = default;
  // weight: outputs x inputs, as PyTorch has it.
  Linear(const ParameterStore& store, size_t weight, size_t bias)
      : store_(&store), weight_(weight), bias_(bias) {}
  size_t outputs() const { return (*store_)[weight_].shape[0]; }
  size_t inputs() const { return (*store_)[weight_].shape[1]; }
  size_t weight() const { return weight_; }
  size_t bias() const { return bias_; }

  void pack();  // after every change of the weights
  void forward(size_t rows, const ConstRows& in, const MutableRows& out) const;
  // d_in receives (Start::zero) or gathers (Start::add) the gradient of the input.
  void backward(size_t rows, const ConstRows& d_out, const MutableRows& d_in, Start start) const;
  // The gradients of weight and bias, those of the rows [bounds[g], bounds[g + 1]) as grain g.
  void gradients(std::span<const uint32_t> bounds, const ConstRows& in, const ConstRows& d_out,
                 ProductScratch& scratch, const PartSink& sink) const;

 private:
  const ParameterStore* store_ = nullptr;
  size_t weight_ = 0, bias_ = 0;
  PackedMatrix ahead_, back_;
};

// Adds NAME.weight and NAME.bias.
Linear add_linear(ParameterStore& store, const std::string& name, uint64_t outputs, uint64_t inputs);

}  // namespace paceline
