// The folder of a run: made with its config.yaml in it, and held by one process at a time.
#pragma once
#include <string>

#include "base/files.h"

namespace paceline {

class RunFolder {
 public:
  // The folder appears at once with its config.yaml, so that a run can be resumed whenever it was killed.
  // Throws InputError when it exists already.
  static RunFolder make(const fs::path& out, const std::string& config);
  // Throws InputError when another process trains in it.
  static RunFolder open(const fs::path& out);
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  const fs::path& path() const { return path_; }
  fs::path checkpoints() const { return path_ / "checkpoints"; }
  fs::path model() const { return path_ / "model"; }
  fs::path weights() const { return model() / "model.safetensors"; }

 private:
  RunFolder(fs::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  fs::path path_;
  int lock_;
};

}  // namespace paceline
