#include "cluster/launch/counter_protocol.h"

#include "base/error.h"
#include "cluster/launch/wire.h"

namespace paceline {
namespace {

constexpr size_t hello_bytes = 4 * 4 + 4 + max_token_bytes + 4 + max_host_bytes;
constexpr size_t claim_bytes = 4 + 4 + 8 + 4 + 4 + 8 + 8 + 4;
constexpr size_t sentence_bytes = 4 + 4 + max_sentence_bytes;
static_assert(sentence_bytes <= max_frame_bytes && hello_bytes <= max_frame_bytes);

size_t size_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::hello:
      return hello_bytes;
    case FrameKind::welcome:
      return 8;
    case FrameKind::claim:
    case FrameKind::left:
      return claim_bytes;
    case FrameKind::deal:
      return 16;
    case FrameKind::time:
      return 12;
    case FrameKind::clock:
    case FrameKind::goodbye:
    case FrameKind::heard:
    case FrameKind::heartbeat:
      return 4;
    case FrameKind::failure:
    case FrameKind::sentence:
      return sentence_bytes;
  }
  return 0;
}

void put_hello(WireWriter& out, const Hello& hello) {
  out.put(hello.version);
  out.put(hello.worker);
  out.put(static_cast<uint32_t>(hello.role));
  out.put(hello.token, max_token_bytes);
  out.put(hello.host, max_host_bytes);
}

void put_claim(WireWriter& out, const Claim& claim) {
  out.put(claim.executor);
  out.put(claim.work.step);
  out.put(claim.work.attempt);
  out.put(claim.work.grains);
  out.put(claim.work.tokens);
  out.put(claim.seconds);
  out.put(claim.wanted);
}

Hello take_hello(WireReader& in) {
  Hello hello;
  hello.version = in.u32();
  hello.worker = in.u32();
  hello.role = static_cast<CounterRole>(in.u32());
  hello.token = in.text(max_token_bytes);
  hello.host = in.text(max_host_bytes);
  return hello;
}

Claim take_claim(WireReader& in) {
  Claim claim;
  claim.executor = in.u32();
  claim.work.step = in.u64();
  claim.work.attempt = in.u32();
  claim.work.grains = in.u32();
  claim.work.tokens = in.u64();
  claim.seconds = in.f64();
  claim.wanted = in.u32();
  return claim;
}

Deal take_deal(WireReader& in) {
  Deal deal;
  deal.first = in.u32();
  deal.count = in.u32();
  deal.left = in.u32();
  return deal;
}

}  // namespace

Frame frame_of(FrameKind kind) {
  Frame frame;
  frame.kind = kind;
  return frame;
}

std::vector<std::byte> encode(const Frame& frame) {
  WireWriter out;
  out.put(static_cast<uint32_t>(frame.kind));
  switch (frame.kind) {
    case FrameKind::hello:
      put_hello(out, frame.hello);
      break;
    case FrameKind::welcome:
      out.put(static_cast<uint32_t>(frame.admission));
      break;
    case FrameKind::claim:
    case FrameKind::left:
      put_claim(out, frame.claim);
      break;
    case FrameKind::deal:
      out.put(frame.deal.first);
      out.put(frame.deal.count);
      out.put(frame.deal.left);
      break;
    case FrameKind::time:
      out.put(frame.time);
      break;
    case FrameKind::failure:
    case FrameKind::sentence:
      out.put(frame.sentence, max_sentence_bytes);
      break;
    case FrameKind::clock:
    case FrameKind::goodbye:
    case FrameKind::heard:
    case FrameKind::heartbeat:
      break;
  }
  PACELINE_ASSERT(out.bytes.size() == size_of(frame.kind));
  return std::move(out.bytes);
}

size_t frame_size(std::span<const std::byte> begin) {
  return size_of(static_cast<FrameKind>(WireReader(begin.first(4)).u32()));
}

std::optional<Frame> decode(std::span<const std::byte> bytes) {
  WireReader in(bytes);
  Frame frame;
  frame.kind = static_cast<FrameKind>(in.u32());
  switch (frame.kind) {
    case FrameKind::hello:
      frame.hello = take_hello(in);
      break;
    case FrameKind::welcome:
      frame.admission = static_cast<Admission>(in.u32());
      break;
    case FrameKind::claim:
    case FrameKind::left:
      frame.claim = take_claim(in);
      break;
    case FrameKind::deal:
      frame.deal = take_deal(in);
      break;
    case FrameKind::time:
      frame.time = in.f64();
      break;
    case FrameKind::failure:
    case FrameKind::sentence:
      frame.sentence = in.text(max_sentence_bytes);
      break;
    case FrameKind::clock:
    case FrameKind::goodbye:
    case FrameKind::heard:
    case FrameKind::heartbeat:
      break;
  }
  return in.is_done() ? std::optional(std::move(frame)) : std::nullopt;
}

}  // namespace paceline
