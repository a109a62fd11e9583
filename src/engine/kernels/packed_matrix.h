// Matrices laid out for products: panels of columns, each as wide as two vectors.
#pragma once
#include <cstddef>
#include <memory>

namespace paceline {

// Floats that start on a cache line; only grows. What it holds is lost when it grows.
class AlignedFloats {
 public:
  float* reserve(size_t count);
  float* data() { return values_.get(); }
  const float* data() const { return values_.get(); }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<float, Free> values_;
  size_t capacity_ = 0;
};

// The right side of many products, laid out once in the order in which they read it.
class PackedMatrix {
 public:
  // depth x columns, row-major; or its transpose, columns x depth, row-major.
  void pack(const float* matrix, size_t depth, size_t columns, size_t stride);
  void pack_transposed(const float* matrix, size_t depth, size_t columns, size_t stride);
  size_t depth() const { return depth_; }
  size_t columns() const { return columns_; }
  const float* data() const { return values_.data(); }
  // One of many, each of which is read once and then not for long: none of them stays in a cache.
  bool comes_from_memory() const { return comes_from_memory_; }

 private:
  friend void pack_both(const float*, size_t, size_t, PackedMatrix&, PackedMatrix&);
  static constexpr size_t rows_at_once = 32;  // whole panels, of any width of vectors
  void begin(size_t depth, size_t columns);
  // Rows of the matrix, or rows of its transpose, from `first` on: there a panel begins.
  void put_rows(size_t first, size_t count, const float* rows, size_t stride);
  void put_columns(size_t first, size_t count, const float* rows, size_t stride);
  void end();
  bool is_large() const;
  AlignedFloats values_;
  size_t depth_ = 0, columns_ = 0;
  bool comes_from_memory_ = false;
};

// A matrix (rows x columns, row-major) and its transpose; it is read from memory once, and so are they.
void pack_both(const float* matrix, size_t rows, size_t columns, PackedMatrix& plain,
               PackedMatrix& transposed);

// Columns of a panel, and how many columns whole panels have that hold so many.
size_t panel_columns();
size_t whole_panels(size_t columns);

}  // namespace paceline
