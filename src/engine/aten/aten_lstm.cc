#include "engine/aten/aten_lstm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include <algorithm>

#include "base/error.h"
#include "engine/model/lstm.h"

namespace paceline {
namespace {

using at::Tensor;

Tensor view_of(const Parameter& p) {
  std::vector<int64_t> shape(p.shape.begin(), p.shape.end());
  return torch::from_blob(p.values, shape, at::kFloat);
}

Tensor indices_of(std::span<const uint32_t> values) {
  Tensor out = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), out.mutable_data_ptr<int64_t>());
  return out;
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

// Factors for `rows` rows of `width` elements; number_of(row) is the number of a row's first element.
template <class NumberOf>
Tensor mask_of(const Dropout& dropout, size_t rows, size_t width, const NumberOf& number_of) {
  Tensor mask = at::ones({static_cast<int64_t>(rows), static_cast<int64_t>(width)});
  float* values = mask.mutable_data_ptr<float>();
  for (size_t row = 0; row < rows; ++row)
    dropout.apply(number_of(row), values + row * width, width, values + row * width);
  return mask;
}

struct CellTensors {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
};

Tensor lstm_cell(const Tensor& gates, Tensor& cell) {
  const auto g = gates.chunk(4, 1);
  cell = g[1].sigmoid() * cell + g[0].sigmoid() * g[2].tanh();
  return g[3].sigmoid() * cell.tanh();
}

Tensor gru_cell(const Tensor& input, const Tensor& recurrent, const Tensor& before) {
  const auto x = input.chunk(3, 1), h = recurrent.chunk(3, 1);
  const Tensor z = (x[1] + h[1]).sigmoid();
  const Tensor candidate = (x[2] + (x[0] + h[0]).sigmoid() * h[2]).tanh();
  return candidate + z * (before - candidate);
}

// States of one direction, tokens x hidden, moment by moment.
Tensor run_direction(Cell kind, const CellTensors& w, const PackedGrains& grain, const Tensor& input,
                     const Tensor& mask) {
  const int64_t hidden = w.weight_hh.size(1);
  const Tensor from_input = at::addmm(w.bias_ih, input, w.weight_ih.t());
  Tensor state = at::zeros({static_cast<int64_t>(grain.sequences()), hidden}, input.options());
  Tensor cell = at::zeros_like(state);
  std::vector<Tensor> states;
  for (size_t moment = 0; moment < grain.moments(); ++moment) {
    const auto n = static_cast<int64_t>(grain.active(moment));
    const Tensor x = from_input.narrow(0, grain.begin[moment], n);
    state = state.narrow(0, 0, n);
    cell = cell.narrow(0, 0, n);
    const Tensor in = mask.defined() ? state * mask.narrow(0, 0, n) : state;
    const Tensor recurrent = at::addmm(w.bias_hh, in, w.weight_hh.t());
    state = kind == Cell::lstm ? lstm_cell(x + recurrent, cell) : gru_cell(x, recurrent, state);
    states.push_back(state);
  }
  return at::cat(states);
}

Tensor pool_states(Pooling kind, const PackedGrains& grain, const Tensor& states, int64_t forward,
                   const Tensor& query) {
  std::vector<Tensor> pooled;
  for (size_t s = 0; s < grain.sequences(); ++s) {
    std::vector<uint32_t> rows;
    for (size_t p = 0; p < grain.length(s); ++p) rows.push_back(static_cast<uint32_t>(grain.row(s, p)));
    const Tensor own = states.index_select(0, indices_of(rows).to(states.device()));
    switch (kind) {
      case Pooling::last:
        pooled.push_back(at::cat({own.select(0, own.size(0) - 1).narrow(0, 0, forward),
                                  own.select(0, 0).narrow(0, forward, own.size(1) - forward)}));
        break;
      case Pooling::mean:
        pooled.push_back(own.mean(0));
        break;
      case Pooling::max:
        pooled.push_back(std::get<0>(own.max(0)));
        break;
      case Pooling::attention:
        pooled.push_back(own.mv(query.view({-1})).softmax(0).matmul(own));
        break;
    }
  }
  return at::stack(pooled);
}

class AtenLstm final : public LstmModel {
 public:
  AtenLstm(const TrainOptions& options, const Task& task)
      : LstmModel(options, task), device_(open_device(options)) {}

  size_t parts_to_prepare() const override { return 1; }
  void prepare(size_t) override {
    for (size_t part = 0; part < LstmModel::parts_to_prepare(); ++part) LstmModel::prepare(part);
    on_device_.clear();  // copied when they are needed next
  }

  // One after another: LibTorch's products have other bits beside other rows.
  uint64_t samples_at_once() const override { return 1; }
  std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                        Workspace& workspace, GradientSink& sink) const override {
    one_thread();
    std::vector<GrainLoss> losses;
    for (uint64_t i = 0; i < count; ++i)
      losses.push_back(compute_grain(batch, first + i, i, static_cast<LstmWorkspace&>(workspace), sink));
    return losses;
  }

  void logits(std::span<const Text> texts, std::span<float> out) const override {
    one_thread();
    const at::NoGradGuard guard;
    PackedGrains grain;
    grain.pack(texts, options_.max_length);
    const Tensor values =
        forward_tensors(grain, make_leaves(grain, false), nullptr).to(at::kCPU).contiguous();
    for (size_t s = 0; s < grain.sequences(); ++s)
      std::copy_n(values.const_data_ptr<float>() + s * classes_, classes_,
                  out.data() + grain.samples[s] * classes_);
  }

 private:
  // The parameters as leaves of the graph. Of the embedding only the rows that the grain touches.
  struct Leaves {
    std::vector<Tensor> tensors;
    std::vector<uint32_t> ids;  // touched rows
    Tensor places;              // row of the grain -> place in ids
  };

  // number: among those that the sink takes together.
  GrainLoss compute_grain(const Batch& batch, uint64_t grain, size_t number, LstmWorkspace& w,
                          GradientSink& sink) const {
    const std::span<const Sample> samples = batch.grain(grain);
    pack(batch, grain, 1, w);
    const Dropouts dropouts = dropouts_of(batch.step, grain);

    Leaves leaves = make_leaves(w.packed, true);
    const Tensor logits = forward_tensors(w.packed, leaves, &dropouts);
    GrainLoss result;
    Tensor d_logits = logits.detach().to(at::kCPU, at::kFloat, false, true);
    for (size_t s = 0; s < w.packed.sequences(); ++s)
      result.loss +=
          loss_.gradient(samples[w.packed.samples[s]],
                         {d_logits.mutable_data_ptr<float>() + s * classes_, classes_}, result.weight);
    logits.backward(d_logits.to(device_));
    for (size_t i : gradient_order()) {
      const Tensor& leaf = leaves.tensors[i];
      const Tensor gradient =
          (leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf)).to(at::kCPU).contiguous();
      if (i == embedding_number_)
        sink.rows(number, i, leaves.ids, gradient.const_data_ptr<float>());
      else
        sink.dense(number, i, gradient.const_data_ptr<float>());
    }
    return result;
  }

  // Threads start with as many as there are cores, and one executor is to take one.
  static void one_thread() {
    thread_local bool done = false;
    if (!done) at::set_num_threads(1);
    done = true;
  }

  Leaves make_leaves(const PackedGrains& grain, bool gradients) const {
    Leaves leaves;
    leaves.ids = grain.ids;
    std::sort(leaves.ids.begin(), leaves.ids.end());
    leaves.ids.erase(std::unique(leaves.ids.begin(), leaves.ids.end()), leaves.ids.end());
    std::vector<uint32_t> places;
    for (uint32_t id : grain.ids)
      places.push_back(static_cast<uint32_t>(std::lower_bound(leaves.ids.begin(), leaves.ids.end(), id) -
                                             leaves.ids.begin()));
    leaves.places = indices_of(places).to(device_);
    for (size_t i = 0; i < store_.all().size(); ++i) {
      Tensor value = device_value(i);
      if (i == embedding_number_) value = value.index_select(0, indices_of(leaves.ids).to(device_));
      leaves.tensors.push_back(value.detach().requires_grad_(gradients));
    }
    return leaves;
  }

  // A parameter where it is computed with: on a CPU the parameter itself. A GPU's one executor calls this.
  Tensor device_value(size_t number) const {
    if (device_.is_cpu()) return view_of(store_[number]);
    on_device_.resize(store_.all().size());
    Tensor& value = on_device_[number];
    if (!value.defined()) value = view_of(store_[number]).to(device_);
    return value;
  }

  Tensor embedded(const PackedGrains& grain, const Leaves& leaves, const Dropouts* dropouts) const {
    Tensor x = leaves.tensors[embedding_number_].index_select(0, leaves.places);
    if (dropouts == nullptr) return x;
    if (dropouts->embedding.active())
      x = x * mask_of(dropouts->embedding, grain.tokens(), embedding_, [&](size_t row) {
                return uint64_t{grain.numbers[row]} * embedding_;
              }).to(device_);
    if (dropouts->word.active())
      x = x * mask_of(dropouts->word, grain.tokens(), 1, [&](size_t row) {
                return grain.numbers[row];
              }).to(device_);
    return x;
  }

  // logits, sequences x classes, in the order of the packed grain
  Tensor forward_tensors(const PackedGrains& grain, const Leaves& leaves, const Dropouts* dropouts) const {
    const Tensor reversed = indices_of(grain.reversed).to(device_);
    Tensor x = embedded(grain, leaves, dropouts);
    const auto sample_number = [&](size_t width) {
      return [&grain, width](size_t s) { return uint64_t{grain.samples[s]} * width; };
    };
    for (size_t layer = 0; layer < layers_; ++layer) {
      std::vector<Tensor> outputs;
      for (size_t direction = 0; direction < directions_; ++direction) {
        const auto& n = numbers_[layer * directions_ + direction];
        const auto& t = leaves.tensors;
        const CellTensors weights = {t[n.weight_ih], t[n.weight_hh], t[n.bias_ih], t[n.bias_hh]};
        Tensor mask;
        if (dropouts && dropouts->recurrent[layer * 2 + direction].active())
          mask = mask_of(dropouts->recurrent[layer * 2 + direction], grain.sequences(), hidden_,
                         sample_number(hidden_))
                     .to(device_);
        const Tensor states =
            run_direction(cell_, weights, grain, direction == 1 ? x.index_select(0, reversed) : x, mask);
        outputs.push_back(direction == 1 ? states.index_select(0, reversed) : states);
      }
      x = at::cat(outputs, 1);
      if (dropouts && dropouts->layer[layer].active())
        x = x * mask_of(dropouts->layer[layer], grain.tokens(), width_, [&](size_t row) {
                  return uint64_t{grain.numbers[row]} * width_;
                }).to(device_);
    }
    Tensor pooled =
        pool_states(pooling_, grain, x, static_cast<int64_t>(hidden_), leaves.tensors[attention_number_]);
    if (dropouts && dropouts->output.active())
      pooled =
          pooled * mask_of(dropouts->output, grain.sequences(), width_, sample_number(width_)).to(device_);
    return at::addmm(leaves.tensors[output_bias_], pooled, leaves.tensors[output_weight_].t());
  }

  at::Device device_;
  mutable std::vector<Tensor> on_device_;
};

}  // namespace

void register_aten_lstm() {
  set_aten_lstm_maker([](const TrainOptions& options, const Task& task) -> std::unique_ptr<TensorModel> {
    return std::make_unique<AtenLstm>(options, task);
  });
}

}  // namespace paceline
