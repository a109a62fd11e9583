#include "cluster/launch/counter_connection.h"

#include <array>

namespace paceline {
namespace {

constexpr size_t max_unsent_bytes = 64 * 1024;

}  // namespace

void CounterConnection::receive() {
  std::array<std::byte, 4 * max_frame_bytes> buffer;
  const ptrdiff_t count = receive_some(socket_, buffer);
  if (count < 0) at_end_ = true;
  if (count > 0) in_.insert(in_.end(), buffer.begin(), buffer.begin() + count);
}

std::optional<Frame> CounterConnection::next_frame() {
  if (!is_open() || in_.size() < 4) return {};
  const size_t size = frame_size(in_);
  if (size == 0) {
    close();
    return {};
  }
  if (in_.size() < size) return {};
  std::optional<Frame> frame = decode(std::span(in_).first(size));
  in_.erase(in_.begin(), in_.begin() + static_cast<ptrdiff_t>(size));
  if (!frame) close();
  return frame;
}

void CounterConnection::send(const Frame& frame) {
  if (!is_open()) return;
  const std::vector<std::byte> bytes = encode(frame);
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  flush();
  if (out_.size() > max_unsent_bytes) at_end_ = true;
}

void CounterConnection::flush() {
  while (is_open() && !out_.empty()) {
    const ptrdiff_t count = send_some(socket_, out_);
    if (count < 0) out_.clear();  // what it has said may still be read
    if (count <= 0) return;
    out_.erase(out_.begin(), out_.begin() + count);
  }
}

}  // namespace paceline
