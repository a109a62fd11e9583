#include "cluster/exchange/mpi/swap.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace paceline {
namespace {

constexpr int tag = 1;

// Adds nothing to a sum, and to a maximum of unsigned numbers.
bool is_nothing(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

void add(const Collective& piece, const Buffers::Buffer& received) {
  // Unsigned numbers wrap around as signed ones do on the wire. What a tensor is made of is aligned for it.
  auto* values = reinterpret_cast<uint32_t*>(piece.bytes.data());
  const auto* others = reinterpret_cast<const uint32_t*>(received.get());
  const size_t size = piece.bytes.size() / 4;
  if (piece.kind == CollectiveKind::sum)
    for (size_t i = 0; i < size; ++i) values[i] += others[i];
  else
    for (size_t i = 0; i < size; ++i) values[i] = std::max(values[i], others[i]);
}

}  // namespace

Buffers::Buffer Buffers::take(size_t bytes) {
  auto found = free_.extract(std::bit_ceil(bytes));
  return found ? std::move(found.mapped())
               : std::make_unique_for_overwrite<std::byte[]>(std::bit_ceil(bytes));
}

void Buffers::give_back(Buffer buffer, size_t bytes) {
  free_.emplace(std::bit_ceil(bytes), std::move(buffer));
}

void Departures::send(std::span<const std::byte> bytes, int to) {
  Copy& copy = copies_.emplace_back();
  copy.bytes = buffers_.take(bytes.size());
  copy.size = bytes.size();
  waiting_bytes_ += copy.size;
  if (!bytes.empty()) std::memcpy(copy.bytes.get(), bytes.data(), bytes.size());
  check_mpi(MPI_Isend(copy.bytes.get(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD,
                      &copy.request),
            "MPI_Isend");
}

bool Departures::advance() {
  const size_t left = std::erase_if(copies_, [this](Copy& copy) {
    int done = 0;
    check_mpi(MPI_Test(&copy.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return false;
    waiting_bytes_ -= copy.size;
    buffers_.give_back(std::move(copy.bytes), copy.size);
    return true;
  });
  return left > 0;
}

void Departures::wait() {
  for (Copy& copy : copies_) check_mpi(MPI_Wait(&copy.request, MPI_STATUS_IGNORE), "MPI_Wait");
  copies_.clear();
  waiting_bytes_ = 0;
}

Swap launch_swap(const Collective& piece, int other, Departures& departures, Buffers& buffers) {
  Swap swap;
  const bool nothing = is_nothing(piece.bytes);
  if (!nothing) swap.received = buffers.take(piece.bytes.size());
  std::byte* to = nothing ? piece.bytes.data() : swap.received.get();
  check_mpi(MPI_Irecv(to, static_cast<int>(piece.bytes.size()), MPI_BYTE, other, tag, MPI_COMM_WORLD,
                      &swap.request),
            "MPI_Irecv");
  departures.send(nothing ? std::span<const std::byte>() : piece.bytes, other);
  return swap;
}

void end_swap(const Collective& piece, Swap& swap, int count, Buffers& buffers) {
  if (!swap.received) return;
  if (count > 0) add(piece, swap.received);
  buffers.give_back(std::move(swap.received), piece.bytes.size());
}

}  // namespace paceline
