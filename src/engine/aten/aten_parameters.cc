#include "engine/aten/aten_parameters.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

using at::Tensor;

Tensor view_of(const Parameter& p) {
  std::vector<int64_t> shape(p.shape.begin(), p.shape.end());
  return torch::from_blob(p.values, shape, at::kFloat);
}

// The numbers of a GPU's results must not depend on which of its threads came first.
at::Device open_device(const TrainOptions& options) {
  if (options.device == "cpu") return at::kCPU;
  if (!at::hasCUDA())
    input_error("--device cuda: no NVIDIA GPU can be used here (paceline doctor says why); use --device cpu");
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  return {at::kCUDA, static_cast<at::DeviceIndex>(options.device_number)};
}

}  // namespace

void use_one_thread() {
  thread_local bool done = false;
  if (!done) at::set_num_threads(1);
  done = true;
}

Tensor indices_of(std::span<const uint32_t> values, at::Device device) {
  Tensor out = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), out.mutable_data_ptr<int64_t>());
  return out.to(device);
}

AtenParameters::AtenParameters(const TrainOptions& options, std::span<const Parameter> all, size_t embedding,
                               size_t frozen)
    : device_(open_device(options)), all_(all), embedding_(embedding), frozen_(frozen) {}

// On a CPU the parameter itself. A GPU's one executor calls this.
Tensor AtenParameters::value(size_t number) const {
  if (device_.is_cpu()) return view_of(all_[number]);
  on_device_.resize(all_.size());
  Tensor& value = on_device_[number];
  if (!value.defined()) value = view_of(all_[number]).to(device_);
  return value;
}

Leaves AtenParameters::leaves(std::span<const uint32_t> tokens, bool learning) const {
  Leaves leaves;
  leaves.ids.assign(tokens.begin(), tokens.end());
  std::sort(leaves.ids.begin(), leaves.ids.end());
  leaves.ids.erase(std::unique(leaves.ids.begin(), leaves.ids.end()), leaves.ids.end());
  std::vector<uint32_t> places;
  for (uint32_t id : tokens)
    places.push_back(static_cast<uint32_t>(std::lower_bound(leaves.ids.begin(), leaves.ids.end(), id) -
                                           leaves.ids.begin()));
  leaves.places = indices_of(places, device_);
  for (size_t i = 0; i < all_.size(); ++i) {
    Tensor tensor = value(i);
    if (i == embedding_) tensor = tensor.index_select(0, indices_of(leaves.ids, device_));
    leaves.tensors.push_back(tensor.detach().requires_grad_(learning && i >= frozen_));
  }
  return leaves;
}

void AtenParameters::give_gradients(const Leaves& leaves, std::span<const size_t> order, size_t grain,
                                    GradientSink& sink) const {
  for (size_t i : order) {
    const Tensor& leaf = leaves.tensors[i + frozen_];
    const Tensor gradient =
        (leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf)).to(at::kCPU).contiguous();
    if (i + frozen_ == embedding_)
      sink.rows(grain, i, leaves.ids, gradient.const_data_ptr<float>());
    else
      sink.dense(grain, i, gradient.const_data_ptr<float>());
  }
}

}  // namespace paceline
