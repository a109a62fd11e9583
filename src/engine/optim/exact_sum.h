// The sum of the gradients of all grains, in integers: no order of addition exists, so it has the same
// bits whoever computed which grain (docs/decisions/0006-exact-sum.md).
#pragma once
#include "base/executors.h"
#include "engine/kernels/gemm.h"
#include "engine/model/tensor_model.h"

namespace paceline {

// Every tensor has a power-of-two scale that is known before the step: from a decaying maximum of what
// was seen, with three bits of headroom. Range is checked for each grain, never for partial sums.
class ExactSum {
 public:
  // exact: false adds plain floats instead, for measuring what exactness costs.
  ExactSum(const TensorModel& model, bool exact);
  ~ExactSum();

  // Before the grains of every attempt: which rows the batch can touch, and the scales.
  void begin(const Batch& batch, unsigned executors);
  // Where the grains go that an executor computes at once.
  GradientSink& sink(unsigned executor, size_t grains);

  // Gradients that are exchanged together, of about a quarter of a megabyte or more: neighbours in the
  // model's gradient order; an embedding is one of its own.
  size_t buckets() const { return buckets_.size(); }
  void set_watch(BucketWatch* watch) { watch_ = watch; }
  // The executors' sums of a bucket in one place, which combine() then starts from.
  std::span<int32_t> gather(size_t bucket);
  // Bits of the largest |gradient| of each tensor, from all executors.
  std::span<uint32_t> maxima();

  // After the grains; with several workers after their maxima were exchanged: false when the attempt has to
  // be repeated with other scales. Throws WorkError that names step and tensor when a gradient is not finite.
  bool finish(uint64_t step);

  // Adds up the executors' sums and gives gradients times `factor`, in place, in parallel. Returns the
  // sum of their squares, in a fixed order.
  double combine(double factor, Executors& executors);
  // Then: the gradient of a dense parameter, or of the touched rows of an embedding in the order of
  // rows_of().
  const float* gradient(size_t parameter) const;
  std::span<const uint32_t> rows_of(size_t parameter) const;
  // nullptr when the row was not touched.
  const float* row_gradient(size_t parameter, uint32_t row) const;

  nlohmann::ordered_json scales() const;
  void load_scales(const nlohmann::json& scales);

 private:
  class Sink;
  struct Tensor;
  struct Bucket {
    std::vector<size_t> tensors;
    AlignedFloats sums;  // of dense tensors one after another, or of an embedding's touched rows
  };
  void make_buckets();
  struct Part;  // one executor's sums
  void gather_tensor(Tensor& tensor, int32_t* into);
  void begin_rows(Tensor& tensor, size_t number, const Batch& batch);
  int exponent_for(const Tensor& tensor) const;
  double combine_chunk(Tensor& tensor, size_t first, size_t count, float unit);
  double combine_rows(Tensor& tensor, size_t first, size_t count, float unit);

  const TensorModel& model_;
  bool exact_, stays_in_cache_ = true;
  uint64_t grains_ = 1;
  std::vector<Tensor> tensors_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<Bucket> buckets_;
  std::vector<uint32_t> maxima_;
  BucketWatch* watch_ = nullptr;
  std::vector<uint32_t> ids_;
};

}  // namespace paceline
