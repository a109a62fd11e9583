// The file that torch.save writes (pytorch_model.bin), since PyTorch 1.6: a zip archive of a pickle and of
// the bytes of storages. The pickle is read as data (pickle.h); no code of it is ever run.
#pragma once
#include <map>

#include "base/archive/zip.h"
#include "engine/model/tensor_file.h"

namespace paceline {

// A tensor is a view of a storage, with any strides. Several may share one.
struct TorchTensor : StoredTensor {
  uint64_t begin = 0;  // of the storage in the file
  uint64_t first = 0;  // element of the storage that is the tensor's first
  uint64_t span = 0;   // elements from its first to its last in the storage
  std::vector<uint64_t> strides;
};

class TorchFile final : public TensorFile {
 public:
  // Throws InputError: the old format, anything in the pickle but tensors by name, a place that is outside
  // its storage, a storage that is not there whole or is compressed.
  explicit TorchFile(const fs::path& path);
  const fs::path& path() const override { return zip_.file().path(); }
  std::vector<std::string> names() const override;
  const StoredTensor* find(const std::string& name) const override;
  void read_values(const std::string& name, float* into) const override;

 private:
  ZipReader zip_;
  std::map<std::string, TorchTensor> tensors_;
};

}  // namespace paceline
