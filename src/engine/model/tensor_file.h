// A file of named tensors, whatever its format. What a tensor's type, shape and place say has been checked
// against the file when it was opened.
#pragma once
#include <string>
#include <vector>

#include "base/ranged_file.h"
#include "engine/model/number_types.h"

namespace paceline {

struct StoredTensor {
  const NumberType* type = nullptr;
  std::vector<uint64_t> shape;
  uint64_t elements = 1;
};

class TensorFile {
 public:
  TensorFile() = default;
  virtual ~TensorFile() = default;
  TensorFile(TensorFile&&) = default;
  TensorFile& operator=(TensorFile&&) = default;

  virtual const fs::path& path() const = 0;
  // Sorted.
  virtual std::vector<std::string> names() const = 0;
  // nullptr when there is none.
  virtual const StoredTensor* find(const std::string& name) const = 0;
  // All of its values as float32, in the order of rows. The name and its type have been checked.
  virtual void read_values(const std::string& name, float* into) const = 0;

  bool has(const std::string& name) const { return find(name) != nullptr; }
  // Throws InputError when there is none.
  const std::vector<uint64_t>& shape(const std::string& name) const;
  // Throws InputError when the tensor is missing, is not of weights, or has another shape (both are named).
  void read(const std::string& name, const std::vector<uint64_t>& shape, float* into) const;

 protected:
  const StoredTensor& checked(const std::string& name, const std::vector<uint64_t>& shape) const;
};

// "384 x 1536"
std::string shape_text(const std::vector<uint64_t>& shape);
// False when the product of a shape is larger than any number.
bool count_elements(const std::vector<uint64_t>& shape, uint64_t& elements);
// Numbers that stand one after another in a file.
void read_numbers(const RangedFile& file, uint64_t begin, const NumberType& type, uint64_t count,
                  float* into);

}  // namespace paceline
