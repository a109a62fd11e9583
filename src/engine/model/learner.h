// What the training loop knows: something that learns from grains.
#pragma once
#include "base/executors.h"
#include "engine/model/model.h"

namespace paceline {

struct GrainLoss {
  double loss = 0;    // weighted sum over the samples
  double weight = 0;  // what to divide it by
};

struct UpdateFacts {
  double gradient_norm = 0;  // before clipping; 0 where the learner does not take it
};

// A step is: begin_step; compute_grain for every grain of the batch, on any executors, in any order;
// finish_grains, and all of it again while that returns false; update. The result depends on the batch
// and the state alone, never on who computed what.
class Learner {
 public:
  virtual ~Learner() = default;
  // From one thread, before the grains of every attempt. executors: how many there are.
  virtual void begin_step(const Batch& batch, unsigned executors) = 0;
  virtual GrainLoss compute_grain(const Batch& batch, uint64_t grain, unsigned executor) = 0;
  // False: a gradient left the range of its integers, which is now wider; take the step again. Throws
  // WorkError with the step and the tensor when a gradient is not a number.
  virtual bool finish_grains(const Batch& batch, Executors& executors) = 0;
  // weight: the sum over all grains, by which gradients are divided.
  virtual UpdateFacts update(const Batch& batch, double learning_rate, double weight,
                             Executors& executors) = 0;

  // The weights that are evaluated and kept: the averaged ones where there are such.
  virtual const Model& model() const = 0;
  // Everything that a step changes: the tensors and numbers from which a run goes on in the same bits.
  virtual std::vector<TensorView> state() const = 0;
  virtual nlohmann::ordered_json state_numbers() const = 0;
  virtual void load_state(const SafetensorsReader& tensors, const nlohmann::json& numbers) = 0;

  // Bytes that one executor needs for a grain of so many tokens and samples.
  virtual uint64_t grain_bytes(uint64_t tokens, uint64_t samples) const = 0;
};

}  // namespace paceline
