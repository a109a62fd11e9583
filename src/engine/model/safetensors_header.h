// The JSON header of a safetensors file from a stranger.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "engine/model/tensor_file.h"

namespace paceline {

struct SafetensorsEntry : StoredTensor {
  uint64_t begin = 0, end = 0;  // in the bytes behind the header
};

// Reads the header as a stream of its few known parts, so that memory follows the tensors it names.
// data_bytes: how many bytes the file has behind it, which the tensors must fill without overlap or gap.
// Throws std::runtime_error with a short reason.
std::map<std::string, SafetensorsEntry> parse_safetensors_header(std::string_view text, uint64_t data_bytes);

}  // namespace paceline
