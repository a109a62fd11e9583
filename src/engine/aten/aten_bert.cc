#include "engine/aten/aten_bert.h"

#include <cmath>
#include <map>

#include "base/error.h"
#include "engine/aten/aten_parameters.h"
#include "engine/model/bert.h"

namespace paceline {
namespace {

using at::Tensor;

constexpr size_t logits_tokens = 4096;  // at a time

// The first value is the element `first` of the only grain's dropout.
Tensor dropped(const Tensor& values, std::span<const Dropout> dropouts, uint64_t first = 0) {
  if (dropouts.empty() || !dropouts[0].active()) return values;
  const auto count = static_cast<size_t>(values.numel());
  const Tensor mask = mask_of(dropouts[0], 1, count, [first](size_t) { return first; });
  return values * mask.view(values.sizes()).to(values.device());
}

Tensor activated(Activation kind, const Tensor& values) {
  if (kind == Activation::relu) return values.relu();
  return at::gelu(values, kind == Activation::gelu ? "none" : "tanh");
}

class AtenBert final : public BertModel {
 public:
  AtenBert(const TrainOptions& options, const Task& task)
      : BertModel(options, task),
        parameters_(options, all_parameters(), words_, frozen_),
        products_(options) {
    if (options.bert.recompute)
      input_error("--recompute: --kernels aten keeps what it computes; leave one of the two out");
    if (task.classes.empty())
      input_error(
          "--kernels aten, and so --device cuda and --precision bfloat16: they learn from labels, and the "
          "data "
          "set has none; masked words are learnt by --kernels fused on a CPU");
    for (size_t i = 0; i < all_parameters().size(); ++i) numbers_[all_parameters()[i].name] = i;
  }

  size_t parts_to_prepare() const override { return 1; }
  void prepare(size_t) override { parameters_.changed(); }
  // Of every probability autograd keeps the mask and the product, too.
  uint64_t grain_bytes(uint64_t tokens, uint64_t samples) const override {
    return 3 * BertModel::grain_bytes(tokens, samples);
  }

  AtOnce at_once() const override { return {}; }
  std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                        Workspace& workspace, GradientSink& sink) const override {
    use_one_thread();
    std::vector<GrainLoss> losses;
    for (uint64_t i = 0; i < count; ++i)
      losses.push_back(learn_grain(batch, first + i, i, static_cast<BertWorkspace&>(workspace), sink));
    return losses;
  }

  void logits(std::span<const Text> texts, std::span<float> out) const override {
    use_one_thread();
    const at::NoGradGuard guard;
    BertWorkspace w;
    for (size_t first = 0, end = 0; first < texts.size(); first = end) {
      clear(w);
      while (end < texts.size() && (end == first || w.ids.size() + texts[end].size() <= logits_tokens))
        add_text(texts[end++], first_token, w);
      const Tensor values =
          forward_tensors(w, parameters_.leaves(w.ids, false), no_dropouts()).to(at::kCPU).contiguous();
      std::copy_n(values.const_data_ptr<float>(), (end - first) * classes_, out.data() + first * classes_);
    }
  }

 private:
  // number: among those that the sink takes together.
  GrainLoss learn_grain(const Batch& batch, uint64_t grain, size_t number, BertWorkspace& w,
                        GradientSink& sink) const {
    const std::span<const Sample> samples = batch.grain(grain);
    clear(w);
    add_labelled_texts(batch, grain, w);
    const Leaves leaves = parameters_.leaves(w.ids, true);
    const Tensor logits = forward_tensors(w, leaves, dropouts_of(batch.step, grain, 1));
    GrainLoss result;
    Tensor d_logits = logits.detach().to(at::kCPU, at::kFloat, false, true);
    for (size_t i = 0; i < samples.size(); ++i)
      result.loss += loss_.gradient(samples[i], {d_logits.mutable_data_ptr<float>() + i * classes_, classes_},
                                    result.weight);
    logits.backward(d_logits.to(parameters_.device()));
    parameters_.give_gradients(leaves, gradient_order(), number, sink);
    return result;
  }

  const Tensor& named(const Leaves& leaves, const std::string& name) const {
    return leaves.tensors[numbers_.at(name)];
  }
  Tensor linear(const Leaves& leaves, const std::string& name, const Tensor& input) const {
    return products_.linear(input, named(leaves, name + ".weight"), named(leaves, name + ".bias"));
  }
  Tensor norm(const Leaves& leaves, const std::string& name, const Tensor& input) const {
    return at::layer_norm(input, {static_cast<int64_t>(width_)}, named(leaves, name + ".weight"),
                          named(leaves, name + ".bias"), options_.bert.norm_epsilon);
  }

  Tensor embedded(const BertWorkspace& w, const Leaves& leaves) const {
    const Tensor types = indices_of(w.types, parameters_.device()),
                 positions = indices_of(w.positions, parameters_.device());
    const Tensor sums = leaves.tensors[words_].index_select(0, leaves.places) +
                        leaves.tensors[types_].index_select(0, types) +
                        leaves.tensors[positions_].index_select(0, positions);
    return norm(leaves, "bert.embeddings.LayerNorm", sums);
  }

  // Every text by itself.
  Tensor attention(const TextRows& texts, const Tensor& query, const Tensor& key, const Tensor& value,
                   std::span<const Dropout> dropouts) const {
    const auto heads = static_cast<int64_t>(shape_.heads);
    const uint64_t head_width = shape_.width / shape_.heads;
    const double scale = 1 / std::sqrt(static_cast<double>(head_width));
    std::vector<Tensor> contexts;
    uint64_t first = 0;
    for (size_t i = 0; i < texts.texts(); ++i) {
      const auto begin = static_cast<int64_t>(texts.begin[i]), tokens = static_cast<int64_t>(texts.tokens(i));
      const auto by_head = [&](const Tensor& rows) {
        return rows.narrow(0, begin, tokens).view({tokens, heads, -1}).transpose(0, 1);
      };
      const Tensor scores = products_.matmul(by_head(query), by_head(key).transpose(1, 2)) * scale;
      const Tensor weights = dropped(scores.softmax(-1), dropouts, first);
      contexts.push_back(products_.matmul(weights, by_head(value)).transpose(0, 1).reshape({tokens, -1}));
      first += static_cast<uint64_t>(scores.numel());
    }
    return at::cat(contexts);
  }

  Tensor encoder_layer(const TextRows& texts, size_t layer, const Leaves& leaves,
                       const EncoderDropouts& dropouts, const Tensor& input) const {
    const std::string in = fmt::format("bert.encoder.layer.{}.", layer), self = in + "attention.self.";
    const Tensor context =
        attention(texts, linear(leaves, self + "query", input), linear(leaves, self + "key", input),
                  linear(leaves, self + "value", input), dropouts.probabilities);
    const Tensor attended = linear(leaves, in + "attention.output.dense", context);
    const Tensor middle =
        norm(leaves, in + "attention.output.LayerNorm", dropped(attended, dropouts.attention) + input);
    const Tensor inner = activated(shape_.activation, linear(leaves, in + "intermediate.dense", middle));
    const Tensor output = linear(leaves, in + "output.dense", inner);
    return norm(leaves, in + "output.LayerNorm", dropped(output, dropouts.feed_forward) + middle);
  }

  // logits, texts x classes
  Tensor forward_tensors(const BertWorkspace& w, const Leaves& leaves, const Dropouts& dropouts) const {
    Tensor x = dropped(embedded(w, leaves), dropouts.embedding);
    for (size_t layer = 0; layer < dropouts.layers.size(); ++layer)
      x = encoder_layer(w.texts, layer, leaves, dropouts.layers[layer], x);
    const Tensor first = x.index_select(0, indices_of(w.asking.rows, parameters_.device()));
    const Tensor pooled = linear(leaves, "bert.pooler.dense", first).tanh();
    return linear(leaves, "classifier", dropped(pooled, dropouts.pooled));
  }

  AtenParameters parameters_;
  Products products_;
  std::map<std::string, size_t> numbers_;
};

}  // namespace

void register_aten_bert() {
  set_aten_maker("bert", [](const TrainOptions& options, const Task& task) -> std::unique_ptr<TensorModel> {
    return std::make_unique<AtenBert>(options, task);
  });
}

}  // namespace paceline
