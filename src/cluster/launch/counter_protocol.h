// What the counter and its workers say to each other: frames of fixed size in little-endian, each beginning
// with its kind. A worker has two connections, one for its requests, one answer each, and one that carries
// heartbeats and, from the server, sentences.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/launch/counter.h"

namespace paceline {

constexpr uint32_t counter_version = 2;

enum class FrameKind : uint32_t {
  hello = 0x45434150,  // the first of each connection; reads "PACE"
  welcome = 1,
  claim = 2,
  left = 3,
  deal = 4,  // answers claim and left
  clock = 5,
  time = 6,  // answers clock
  goodbye = 7,
  failure = 8,
  heard = 9,  // answers goodbye, failure and heartbeat
  heartbeat = 10,
  sentence = 11,
};

enum class CounterRole : uint32_t { requests = 0, heartbeats = 1 };
enum class Admission : uint32_t { granted = 0, other_version = 1, no_such_worker = 2, already_here = 3 };

struct Hello {
  uint32_t version = counter_version;
  uint32_t worker = 0;
  CounterRole role = CounterRole::requests;
  std::string token, host;
};

// Any frame; which members count depends on the kind.
struct Frame {
  FrameKind kind = FrameKind::heartbeat;
  Hello hello;
  Admission admission = Admission::granted;
  Claim claim;  // its worker is not on the wire: the connection knows
  Deal deal;
  double time = 0;
  std::string sentence;
};

Frame frame_of(FrameKind kind);

constexpr size_t max_token_bytes = 64, max_host_bytes = 64, max_sentence_bytes = 1000, max_frame_bytes = 1024;

// A host name or sentence that is too long is cut, between characters.
std::vector<std::byte> encode(const Frame& frame);
// Bytes of the frame that begins with these at least four; 0: no frame begins like this.
size_t frame_size(std::span<const std::byte> begin);
// Exactly one frame; none when its contents make no sense.
std::optional<Frame> decode(std::span<const std::byte> bytes);

// Takes as long whichever byte differs.
bool is_same_token(const std::string& one, const std::string& other);

}  // namespace paceline
