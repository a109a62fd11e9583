#include "engine/model/safetensors.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace paceline {
namespace {

constexpr uint64_t max_header = 100u << 20;  // as the reference implementation allows

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text;
  for (uint64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : " x ", extent);
  return text.empty() ? "scalar" : text;
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

SafetensorsReader::SafetensorsReader(const fs::path& path) : path_(path) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error) input_error("{}: missing from the model", path.string());
  std::ifstream in(path, std::ios::binary);
  uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), sizeof length);
  if (!in || length > max_header || length > size - sizeof length)
    input_error("{}: not a safetensors file (its header cannot be {} bytes long)", path.string(), length);
  std::string text(length, '\0');
  in.read(text.data(), static_cast<std::streamsize>(length));
  data_begin_ = sizeof length + length;
  const uint64_t data_bytes = size - data_begin_;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  try {
    const auto header = nlohmann::json::parse(text);
    if (!header.is_object()) throw std::runtime_error("its header is not an object");
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") continue;
      Entry entry;
      uint64_t elements = 1;
      for (const auto& extent : value.at("shape")) {
        if (!extent.is_number_unsigned())
          throw std::runtime_error(fmt::format("the shape of '{}' is not made of counts", name));
        entry.shape.push_back(extent.get<uint64_t>());
        if (__builtin_mul_overflow(elements, entry.shape.back(), &elements))
          throw std::runtime_error(fmt::format("the shape of '{}' is impossible", name));
      }
      const auto& offsets = value.at("data_offsets");
      if (offsets.size() != 2 || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
        throw std::runtime_error(fmt::format("the offsets of '{}' are not two counts", name));
      entry.begin = offsets[0].get<uint64_t>();
      entry.end = offsets[1].get<uint64_t>();
      if (value.at("dtype") != "F32") throw std::runtime_error(fmt::format("'{}' is not of float32", name));
      if (entry.begin > entry.end || entry.end > data_bytes || elements > data_bytes ||
          entry.end - entry.begin != elements * 4)
        throw std::runtime_error(fmt::format("'{}' ({}) does not fit its place, bytes {} to {} of {}", name,
                                             shape_text(entry.shape), entry.begin, entry.end, data_bytes));
      ranges.emplace_back(entry.begin, entry.end);
      entries_[name] = std::move(entry);
    }
  } catch (const std::exception& problem) {
    input_error("{}: not a usable safetensors file: {}", path.string(), problem.what());
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t expected = 0;
  for (auto [begin, end] : ranges) {
    if (begin != expected)
      input_error("{}: its tensors overlap or leave gaps at byte {}", path.string(), begin);
    expected = end;
  }
  if (expected != data_bytes)
    input_error("{}: {} bytes of tensors, the header describes {}; the file is damaged", path.string(),
                data_bytes, expected);
}

void SafetensorsReader::read(const std::string& name, const std::vector<uint64_t>& shape, float* into,
                             uint64_t row_floats, uint64_t stride) const {
  auto found = entries_.find(name);
  if (found == entries_.end()) input_error("{}: has no tensor '{}'", path_.string(), name);
  const Entry& entry = found->second;
  if (entry.shape != shape)
    input_error("{}: tensor '{}' is {}, expected {}", path_.string(), name, shape_text(entry.shape),
                shape_text(shape));
  std::ifstream in(path_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(data_begin_ + entry.begin));
  const uint64_t rows = (entry.end - entry.begin) / (row_floats * sizeof(float));
  for (uint64_t row = 0; row < rows; ++row)
    in.read(reinterpret_cast<char*>(into + row * stride),
            static_cast<std::streamsize>(row_floats * sizeof(float)));
  if (!in) work_error("{}: tensor '{}' cannot be read", path_.string(), name);
}

}  // namespace paceline
