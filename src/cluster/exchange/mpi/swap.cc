#include "cluster/exchange/mpi/swap.h"

#include <algorithm>
#include <cstring>

namespace paceline {
namespace {

constexpr int tag = 1;

// Adds nothing to a sum, and to a maximum of unsigned numbers.
bool is_nothing(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

void Departures::send(std::span<const std::byte> bytes, int to) {
  Copy& copy = copies_.emplace_back();
  copy.bytes = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
  copy.size = bytes.size();
  waiting_bytes_ += copy.size;
  std::ranges::copy(bytes, copy.bytes.get());
  check_mpi(MPI_Isend(copy.bytes.get(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD,
                      &copy.request),
            "MPI_Isend");
}

bool Departures::advance() {
  const size_t left = std::erase_if(copies_, [this](Copy& copy) {
    int done = 0;
    check_mpi(MPI_Test(&copy.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) waiting_bytes_ -= copy.size;
    return done != 0;
  });
  return left > 0;
}

void Departures::wait() {
  for (Copy& copy : copies_) check_mpi(MPI_Wait(&copy.request, MPI_STATUS_IGNORE), "MPI_Wait");
  copies_.clear();
  waiting_bytes_ = 0;
}

Swap launch_swap(const Collective& piece, int other, Departures& departures) {
  Swap swap;
  const bool nothing = is_nothing(piece.bytes);
  if (!nothing) swap.received = std::make_unique_for_overwrite<uint32_t[]>(piece.bytes.size() / 4);
  void* to = nothing ? static_cast<void*>(piece.bytes.data()) : swap.received.get();
  check_mpi(MPI_Irecv(to, static_cast<int>(piece.bytes.size()), MPI_BYTE, other, tag, MPI_COMM_WORLD,
                      &swap.request),
            "MPI_Irecv");
  departures.send(nothing ? std::span<const std::byte>() : piece.bytes, other);
  return swap;
}

void end_swap(const Collective& piece, const Swap& swap, int count) {
  if (!swap.received || count == 0) return;
  // Unsigned numbers wrap around as signed ones do on the wire. What a tensor is made of is aligned for it.
  auto* values = reinterpret_cast<uint32_t*>(piece.bytes.data());
  const size_t size = piece.bytes.size() / 4;
  if (piece.kind == CollectiveKind::sum)
    for (size_t i = 0; i < size; ++i) values[i] += swap.received[i];
  else
    for (size_t i = 0; i < size; ++i) values[i] = std::max(values[i], swap.received[i]);
}

}  // namespace paceline
