// What a pickle of torch.save says about tensors.
#pragma once
#include <map>
#include <string>

#include "engine/model/pickle.h"
#include "engine/model/torch_file.h"

namespace paceline {

// Where the bytes of a storage are: given its key, the file's offset of the first and their number.
struct StoragePlace {
  uint64_t begin = 0, bytes = 0;
};
using FindStorage = std::function<StoragePlace(const std::string& key)>;

// What such a pickle may name.
std::span<const std::string_view> torch_globals();

// The tensors of the dict that the pickle is; its other values are left out. Throws std::runtime_error with a
// short reason.
std::map<std::string, TorchTensor> describe_tensors(const Pickle& pickle, const FindStorage& find_storage);

}  // namespace paceline
