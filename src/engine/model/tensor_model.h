// A model made of dense tensors and embedding tables, whose gradients the learner adds and applies.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/model/learner.h"

namespace paceline {

struct Parameter {
  std::string name;
  std::vector<uint64_t> shape;
  float* values = nullptr;  // 64-byte aligned
  bool rows = false;        // an embedding: its gradient comes as touched rows, shape = {rows, width}
  bool decay = true;        // weight decay applies to it
  double rate = 1;          // its share of the learning rate

  uint64_t size() const {
    uint64_t product = 1;
    for (uint64_t extent : shape) product *= extent;
    return product;
  }
};

// Takes the gradients of grains that are computed together, of every grain every parameter once: of the
// grain's weighted sum of losses, not of a mean. Values are read before the call returns.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  // grain: counted from the first of those that are computed together.
  virtual void dense(size_t grain, size_t parameter, const float* gradient) = 0;
  // A dense one block by block, of several grains turn by turn.
  virtual void block(size_t grain, size_t parameter, const MatrixBlock& block) = 0;
  // ids: distinct rows; gradients: one row of shape[1] values for each.
  virtual void rows(size_t grain, size_t parameter, std::span<const uint32_t> ids,
                    const float* gradients) = 0;
};

// A sink for some of those grains, from `grain` on, by parameters of which it knows those from `first` on.
class PartSink {
 public:
  PartSink(GradientSink& sink, size_t grain, size_t first) : sink_(sink), grain_(grain), first_(first) {}
  void dense(size_t grain, size_t parameter, const float* gradient) const {
    sink_.dense(grain_ + grain, parameter - first_, gradient);
  }
  void block(size_t grain, size_t parameter, const MatrixBlock& block) const {
    sink_.block(grain_ + grain, parameter - first_, block);
  }
  void rows(size_t grain, size_t parameter, std::span<const uint32_t> ids, const float* gradients) const {
    sink_.rows(grain_ + grain, parameter - first_, ids, gradients);
  }

 private:
  GradientSink& sink_;
  size_t grain_, first_;
};

// Memory that an executor keeps from grains to grains.
class Workspace {
 public:
  virtual ~Workspace() = default;
};

class TensorModel : public Model {
 public:
  // In a fixed order; the pointers stay valid as long as the model.
  virtual std::span<const Parameter> parameters() const = 0;
  virtual std::unique_ptr<Workspace> make_workspace() const = 0;
  // The loss and the gradients of each of `count` grains from `first` on, together where that is faster. A
  // grain's bits depend on the grain alone, not on those beside it, and its random numbers on (seed, step,
  // grain).
  virtual std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                                Workspace& workspace, GradientSink& sink) const = 0;
  virtual AtOnce at_once() const { return {}; }
  // The parameters in the order in which compute_grains gives the gradients of its last grain: the first can
  // be exchanged while the others are still computed.
  virtual std::vector<size_t> gradient_order() const;
  // Memory for so many tokens and samples at once.
  virtual uint64_t grain_bytes(uint64_t tokens, uint64_t samples) const = 0;
  // The rows of an embedding that the batch can touch, repeats allowed.
  virtual void touched_rows(const Batch& batch, size_t parameter, std::vector<uint32_t>& ids) const = 0;
  // What is to be done after every change of the parameters, in parts that may be done at once.
  virtual size_t parts_to_prepare() const { return 0; }
  virtual void prepare(size_t) {}
  // All of it.
  void weights_changed();

  std::vector<TensorView> tensors() const override;
  void load(const SafetensorsReader& reader) override;
};

// nullptr for a model that is none (ngram).
std::unique_ptr<TensorModel> make_tensor_model(const TrainOptions& options, const Task& task);
// The makers of models in LibTorch's operations (--kernels aten), given by the room that sees LibTorch.
using TensorModelMaker = std::unique_ptr<TensorModel> (*)(const TrainOptions&, const Task&);
void set_aten_maker(const std::string& model, TensorModelMaker maker);

}  // namespace paceline
