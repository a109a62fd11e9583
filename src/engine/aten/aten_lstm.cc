#include "engine/aten/aten_lstm.h"

#include "engine/aten/aten_parameters.h"
#include "engine/model/lstm.h"

namespace paceline {
namespace {

using at::Tensor;

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
                     const Tensor& mask, const Products& products) {
  const int64_t hidden = w.weight_hh.size(1);
  const Tensor from_input = products.linear(input, w.weight_ih, w.bias_ih);
  const Tensor weight_hh = products.factor(w.weight_hh);
  Tensor state = at::zeros({static_cast<int64_t>(grain.sequences()), hidden}, input.options());
  Tensor cell = at::zeros_like(state);
  std::vector<Tensor> states;
  for (size_t moment = 0; moment < grain.moments(); ++moment) {
    const auto n = static_cast<int64_t>(grain.active(moment));
    const Tensor x = from_input.narrow(0, grain.begin[moment], n);
    state = state.narrow(0, 0, n);
    cell = cell.narrow(0, 0, n);
    const Tensor in = mask.defined() ? state * mask.narrow(0, 0, n) : state;
    const Tensor recurrent = products.linear(in, weight_hh, w.bias_hh);
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
    const Tensor own = states.index_select(0, indices_of(rows, states.device()));
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
      : LstmModel(options, task),
        parameters_(options, store_.all(), embedding_number_, 0),
        products_(options) {}

  size_t parts_to_prepare() const override { return 1; }
  void prepare(size_t) override {
    for (size_t part = 0; part < LstmModel::parts_to_prepare(); ++part) LstmModel::prepare(part);
    parameters_.changed();
  }

  // One after another: LibTorch's products have other bits beside other rows.
  AtOnce at_once() const override { return {}; }
  std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                        Workspace& workspace, GradientSink& sink) const override {
    use_one_thread();
    std::vector<GrainLoss> losses;
    for (uint64_t i = 0; i < count; ++i)
      losses.push_back(compute_grain(batch, first + i, i, static_cast<LstmWorkspace&>(workspace), sink));
    return losses;
  }

  void logits(std::span<const Text> texts, std::span<float> out) const override {
    use_one_thread();
    const at::NoGradGuard guard;
    PackedGrains grain;
    grain.pack(texts, options_.max_length);
    const Tensor values =
        forward_tensors(grain, parameters_.leaves(grain.ids, false), nullptr).to(at::kCPU).contiguous();
    for (size_t s = 0; s < grain.sequences(); ++s)
      std::copy_n(values.const_data_ptr<float>() + s * classes_, classes_,
                  out.data() + grain.samples[s] * classes_);
  }

 private:
  // number: among those that the sink takes together.
  GrainLoss compute_grain(const Batch& batch, uint64_t grain, size_t number, LstmWorkspace& w,
                          GradientSink& sink) const {
    const std::span<const Sample> samples = batch.grain(grain);
    pack(batch, grain, 1, w);
    const Dropouts dropouts = dropouts_of(batch.step, grain);

    const Leaves leaves = parameters_.leaves(w.packed.ids, true);
    const Tensor logits = forward_tensors(w.packed, leaves, &dropouts);
    GrainLoss result;
    Tensor d_logits = logits.detach().to(at::kCPU, at::kFloat, false, true);
    for (size_t s = 0; s < w.packed.sequences(); ++s)
      result.loss +=
          loss_.gradient(samples[w.packed.samples[s]],
                         {d_logits.mutable_data_ptr<float>() + s * classes_, classes_}, result.weight);
    logits.backward(d_logits.to(parameters_.device()));
    parameters_.give_gradients(leaves, gradient_order(), number, sink);
    return result;
  }

  Tensor embedded(const PackedGrains& grain, const Leaves& leaves, const Dropouts* dropouts) const {
    Tensor x = leaves.tensors[embedding_number_].index_select(0, leaves.places);
    if (dropouts == nullptr) return x;
    if (dropouts->embedding.active())
      x = x * mask_of(dropouts->embedding, grain.tokens(), embedding_, [&](size_t row) {
                return uint64_t{grain.numbers[row]} * embedding_;
              }).to(parameters_.device());
    if (dropouts->word.active())
      x = x * mask_of(dropouts->word, grain.tokens(), 1, [&](size_t row) {
                return grain.numbers[row];
              }).to(parameters_.device());
    return x;
  }

  // logits, sequences x classes, in the order of the packed grain
  Tensor forward_tensors(const PackedGrains& grain, const Leaves& leaves, const Dropouts* dropouts) const {
    const Tensor reversed = indices_of(grain.reversed, parameters_.device());
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
                     .to(parameters_.device());
        const Tensor states = run_direction(
            cell_, weights, grain, direction == 1 ? x.index_select(0, reversed) : x, mask, products_);
        outputs.push_back(direction == 1 ? states.index_select(0, reversed) : states);
      }
      x = at::cat(outputs, 1);
      if (dropouts && dropouts->layer[layer].active())
        x = x * mask_of(dropouts->layer[layer], grain.tokens(), width_, [&](size_t row) {
                  return uint64_t{grain.numbers[row]} * width_;
                }).to(parameters_.device());
    }
    Tensor pooled =
        pool_states(pooling_, grain, x, static_cast<int64_t>(hidden_), leaves.tensors[attention_number_]);
    if (dropouts && dropouts->output.active())
      pooled = pooled * mask_of(dropouts->output, grain.sequences(), width_, sample_number(width_))
                            .to(parameters_.device());
    return products_.linear(pooled, leaves.tensors[output_weight_], leaves.tensors[output_bias_]);
  }

  AtenParameters parameters_;
  Products products_;
};

}  // namespace

void register_aten_lstm() {
  set_aten_maker("lstm", [](const TrainOptions& options, const Task& task) -> std::unique_ptr<TensorModel> {
    return std::make_unique<AtenLstm>(options, task);
  });
}

}  // namespace paceline
