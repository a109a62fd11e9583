#include "engine/model/tensor_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/shortened.h"

namespace paceline {

const std::vector<uint64_t>& TensorFile::shape(const std::string& name) const {
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr) input_error("{}: has no tensor '{}'", path().string(), name);
  return tensor->shape;
}

const StoredTensor& TensorFile::checked(const std::string& name, const std::vector<uint64_t>& shape) const {
  const StoredTensor* tensor = find(name);
  if (tensor == nullptr) input_error("{}: has no tensor '{}'", path().string(), name);
  if (tensor->shape != shape)
    input_error("{}: tensor '{}' is {}, expected {}", path().string(), name, shape_text(tensor->shape),
                shape_text(shape));
  if (tensor->type->to_floats == nullptr)
    input_error("{}: tensor '{}' is of type {}; weights are of F32, F64, F16 or BF16", path().string(), name,
                tensor->type->name);
  return *tensor;
}

void TensorFile::read(const std::string& name, const std::vector<uint64_t>& shape, float* into) const {
  checked(name, shape);
  read_values(name, into);
}

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (uint64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : " x ", extent);
  return text.empty() ? "scalar" : shortened(text);
}

bool count_elements(const std::vector<uint64_t>& shape, uint64_t& elements) {
  elements = 1;
  // A tensor that is empty in one extent is empty, whatever the others are.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) elements = 0;
  for (uint64_t extent : shape)
    if (__builtin_mul_overflow(elements, extent, &elements)) return false;
  return true;
}

void read_numbers(const RangedFile& file, uint64_t begin, const NumberType& type, uint64_t count,
                  float* into) {
  if (type.name == "F32") return file.read(begin, {reinterpret_cast<char*>(into), count * sizeof(float)});
  std::vector<char> buffer(std::min<uint64_t>(count, 32768) * type.bytes);
  for (uint64_t done = 0; done < count;) {
    const uint64_t some = std::min<uint64_t>(count - done, 32768);
    file.read(begin + done * type.bytes, std::span(buffer).first(some * type.bytes));
    type.to_floats(buffer.data(), some, into + done);
    done += some;
  }
}

}  // namespace paceline
