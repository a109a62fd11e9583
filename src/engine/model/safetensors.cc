#include "engine/model/safetensors.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace paceline {
namespace {

constexpr uint64_t max_header = 100u << 20;  // as the reference implementation allows

RangedFile open_weights(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) input_error("{}: missing from the model", path.string());
  return RangedFile(path);
}

}  // namespace

std::string safetensors_header(const std::vector<TensorView>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto& tensor : tensors) {
    uint64_t elements = 1;
    for (uint64_t extent : tensor.shape) elements *= extent;
    PACELINE_ASSERT(elements == tensor.rows * tensor.row_floats && !header.contains(tensor.name));
    const uint64_t bytes = tensor.rows * tensor.row_floats * sizeof(float);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

void write_safetensors(const fs::path& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = safetensors_header(tensors, metadata);
  fs::path temporary = path;
  temporary += fmt::format(".partial-{}", getpid());
  try {
    FileWriter out(temporary);
    const uint64_t length = header.size();
    out.write({reinterpret_cast<const char*>(&length), sizeof length});
    out.write(header);
    for (const auto& tensor : tensors)
      for (uint64_t row = 0; row < tensor.rows; ++row)
        out.write({reinterpret_cast<const char*>(tensor.values + row * tensor.stride),
                   tensor.row_floats * sizeof(float)});
    out.close(true);
    fs::rename(temporary, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

SafetensorsReader::SafetensorsReader(const fs::path& path) : file_(open_weights(path)) {
  uint64_t length = 0;
  const bool has_length = file_.size() >= sizeof length;
  if (has_length) file_.read(0, {reinterpret_cast<char*>(&length), sizeof length});
  if (!has_length || length > max_header || length > file_.size() - sizeof length)
    input_error("{}: not a safetensors file (in {} bytes its header cannot be {} bytes long)", path.string(),
                file_.size(), length);
  std::string header(length, '\0');
  file_.read(sizeof length, header);
  data_begin_ = sizeof length + length;
  try {
    entries_ = parse_safetensors_header(header, file_.size() - data_begin_);
  } catch (const std::exception& problem) {
    input_error("{}: not a usable safetensors file: {}", path.string(), problem.what());
  }
}

std::vector<std::string> SafetensorsReader::names() const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

const StoredTensor* SafetensorsReader::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

void SafetensorsReader::read_values(const std::string& name, float* into) const {
  const SafetensorsEntry& entry = entries_.at(name);
  read_numbers(file_, data_begin_ + entry.begin, *entry.type, entry.elements, into);
}

void SafetensorsReader::read(const std::string& name, const std::vector<uint64_t>& shape, float* into,
                             uint64_t row_floats, uint64_t stride) const {
  checked(name, shape);
  if (row_floats == stride) return read_values(name, into);
  const SafetensorsEntry& entry = entries_.at(name);
  if (entry.elements == 0) return;
  PACELINE_ASSERT(row_floats > 0 && entry.elements % row_floats == 0);
  const uint64_t rows = entry.elements / row_floats, most = std::max<uint64_t>(1, (1 << 16) / row_floats);
  std::vector<float> some(std::min(rows, most) * row_floats);
  for (uint64_t first = 0; first < rows; first += most) {
    const uint64_t count = std::min(most, rows - first);
    read_numbers(file_, data_begin_ + entry.begin + first * row_floats * entry.type->bytes, *entry.type,
                 count * row_floats, some.data());
    for (uint64_t row = 0; row < count; ++row)
      std::copy_n(some.data() + row * row_floats, row_floats, into + (first + row) * stride);
  }
}

}  // namespace paceline
