// Bytes in memory as a ByteSource that hands out at most `piece` bytes at a time.
#pragma once
#include <algorithm>
#include <memory>
#include <string>

#include "data/text/byte_source.h"

namespace paceline {

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes, size_t piece = SIZE_MAX)
      : bytes_(std::move(bytes)), piece_(piece) {}

  size_t read(std::span<char> into) override {
    const size_t got = std::min({into.size(), piece_, bytes_.size() - position_});
    std::copy_n(bytes_.data() + position_, got, into.data());
    position_ += got;
    return got;
  }
  uint64_t consumed() const override { return position_; }

 private:
  std::string bytes_;
  size_t piece_, position_ = 0;
};

}  // namespace paceline
