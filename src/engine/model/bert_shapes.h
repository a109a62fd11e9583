// Whether the tensors of a BERT have the shapes that its config.json describes.
#pragma once
#include <functional>

#include "engine/api/options.h"

namespace paceline {

// The shape of a tensor, by our name; nullptr when there is none.
using FindShape = std::function<const std::vector<uint64_t>*(const std::string& name)>;

// Looks at one tensor for every number of the config. Throws InputError that names the number, the tensor and
// both shapes. Reads no weights and takes no memory for them.
void check_bert_shapes(const BertOptions& described, const fs::path& config, const FindShape& find);

}  // namespace paceline
