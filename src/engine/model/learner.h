// What the training loop knows: something that learns from grains.
#pragma once
#include "base/executors.h"
#include "engine/model/model.h"

namespace paceline {

struct GrainLoss {
  double loss = 0;    // weighted sum over the samples, or sum over the masked pieces
  double weight = 0;  // what to divide it by
  double right = 0;   // masked pieces that were guessed; nothing else counts here
};

struct UpdateFacts {
  double gradient_norm = 0;  // before clipping; 0 where the learner does not take it
};

// Told by the executors' threads how far the grains are that they compute at once: all of their gradients of
// a bucket are in.
class BucketWatch {
 public:
  virtual ~BucketWatch() = default;
  virtual void added(unsigned executor, size_t bucket) = 0;
};

// A step is: begin_step; compute_grains until every grain of the batch was computed once, on any executors,
// in any order, one at a time or several at once; finish_grains, and all of it again while that returns
// false; update. The result depends on the batch and the state alone, never on who computed what.
// How much it is better to compute at once: smaller grains are given several at once, up to so many samples,
// and tokens, beyond which a pass gains nothing more while the memory that it goes through grows.
struct AtOnce {
  uint64_t samples = 1, tokens = 8192;
};

class Learner {
 public:
  virtual ~Learner() = default;
  // From one thread, before the grains of every attempt. executors: how many there are.
  virtual void begin_step(const Batch& batch, unsigned executors) = 0;
  // `count` grains from `first` on: the loss of each.
  virtual std::vector<GrainLoss> compute_grains(const Batch& batch, uint64_t first, uint64_t count,
                                                unsigned executor) = 0;
  virtual AtOnce at_once() const = 0;

  // What several workers exchange. A bucket holds gradients that leave together; buckets leave in their
  // order, the same on every worker.
  virtual size_t buckets() const = 0;
  virtual void set_watch(BucketWatch* watch) = 0;  // nullptr: nobody is told
  // This worker's sums of a bucket, when no executor adds to it any more; once an attempt. From then on
  // the learner works on these numbers, which the exchange replaces by the sums of all workers.
  virtual std::span<int32_t> gather(const Batch& batch, size_t bucket) = 0;
  // This worker's range checks, to be replaced by the maxima of all workers.
  virtual std::span<uint32_t> maxima() = 0;
  // After the grains and the exchange. False: a gradient left the range of its integers, which is now wider;
  // take the step again. Throws WorkError with the step and the tensor when a gradient is not a number.
  virtual bool finish_grains(const Batch& batch, Executors& executors) = 0;
  // weight: the sum over all grains, by which gradients are divided.
  virtual UpdateFacts update(const Batch& batch, double learning_rate, double weight,
                             Executors& executors) = 0;

  // A hash of the gradient of the batch's first grain: workers with the same kernel class have the same.
  virtual uint64_t probe(const Batch& batch) = 0;

  // The weights that are evaluated and kept: the averaged ones where there are such.
  virtual const Model& model() const = 0;
  // Everything that a step changes: the tensors and numbers from which a run goes on in the same bits.
  virtual std::vector<TensorView> state() const = 0;
  virtual nlohmann::ordered_json state_numbers() const = 0;
  virtual void load_state(const SafetensorsReader& tensors, const nlohmann::json& numbers) = 0;
  // After the tensors of state() were written from outside.
  virtual void state_changed(const nlohmann::json& numbers) = 0;

  // Bytes that one executor needs for so many tokens and samples at once.
  virtual uint64_t grain_bytes(uint64_t tokens, uint64_t samples) const = 0;
};

}  // namespace paceline
