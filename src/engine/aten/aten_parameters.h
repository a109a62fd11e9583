// What models in LibTorch's operations share: the device, their parameters as leaves of a graph, and masks.
#pragma once
#include <ATen/ATen.h>

#include "engine/model/dropout.h"
#include "engine/model/tensor_model.h"

namespace paceline {

// Threads start with as many as there are cores, and one executor is to take one.
void use_one_thread();

at::Tensor indices_of(std::span<const uint32_t> values, at::Device device);

// Products whose factors are rounded to bfloat16 where the options say so. Their results, and all else, are
// float32.
class Products {
 public:
  explicit Products(const TrainOptions& options) : is_low_(options.precision == "bfloat16") {}
  at::Tensor factor(const at::Tensor& values) const { return is_low_ ? values.to(at::kBFloat16) : values; }
  at::Tensor matmul(const at::Tensor& a, const at::Tensor& b) const {
    return at::matmul(factor(a), factor(b)).to(at::kFloat);
  }
  // input * weight^T + bias
  at::Tensor linear(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias) const {
    if (!is_low_) return at::linear(input, weight, bias);
    return at::linear(factor(input), factor(weight)).to(at::kFloat) + bias;
  }

 private:
  bool is_low_;
};

// Factors for `rows` rows of `width` elements; number_of(row) is the number of a row's first element.
template <class NumberOf>
at::Tensor mask_of(const Dropout& dropout, size_t rows, size_t width, const NumberOf& number_of) {
  at::Tensor mask = at::ones({static_cast<int64_t>(rows), static_cast<int64_t>(width)});
  float* values = mask.mutable_data_ptr<float>();
  for (size_t row = 0; row < rows; ++row)
    dropout.apply(number_of(row), values + row * width, width, values + row * width);
  return mask;
}

// The parameters in one graph. Of the embedding only the rows that the tokens touch.
struct Leaves {
  std::vector<at::Tensor> tensors;
  std::vector<uint32_t> ids;  // touched rows
  at::Tensor places;          // token -> place in ids
};

class AtenParameters {
 public:
  // Opens the device of the options, or throws InputError. all: as long-lived as this; the first `frozen` of
  // them do not learn. embedding: the number of the one that is touched by rows.
  AtenParameters(const TrainOptions& options, std::span<const Parameter> all, size_t embedding,
                 size_t frozen);
  const at::Device& device() const { return device_; }
  // After every change of the values, which are then copied to the device when they are needed next.
  void changed() { on_device_.clear(); }

  Leaves leaves(std::span<const uint32_t> tokens, bool learning) const;
  // After backward(). order: the parameters that learn, counted from the first of them.
  void give_gradients(const Leaves& leaves, std::span<const size_t> order, size_t grain,
                      GradientSink& sink) const;

 private:
  at::Tensor value(size_t number) const;
  at::Device device_;
  std::span<const Parameter> all_;
  size_t embedding_, frozen_;
  mutable std::vector<at::Tensor> on_device_;
};

}  // namespace paceline
