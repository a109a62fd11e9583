// The only file that sees mpi.h.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "base/error.h"
#include "cluster/exchange/background_exchange.h"

namespace paceline {
namespace {

// A ring adds up one part while another is on its way only if there are several, and a count is an int.
constexpr size_t piece_bytes = size_t{4} << 20;
// Earlier operations end earlier when not everything is on its way at once.
constexpr size_t most_under_way = 4;
// What is smaller goes from everyone to everyone in one round, where a ring takes two for every worker: each
// round waits until the slowest machine has looked.
constexpr size_t small_bytes = 8 << 10;

void check(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(result, text, &length);
  work_error("{}: {}", call, text);
}

// A piece on its way.
struct Flight {
  Collective piece;
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<uint32_t> gathered;  // of a small one: everyone's numbers, one worker after another
};

class MpiCollectives final : public Collectives {
 public:
  Place open() override;
  void start(const Collective& collective) override;
  bool advance(std::vector<uint64_t>& ended) override;
  void close() override { check(MPI_Finalize(), "MPI_Finalize"); }

 private:
  void launch_pieces();
  void finish_piece(uint64_t number, std::vector<uint64_t>& ended);

  int workers_ = 1;
  std::deque<Collective> waiting_;  // in pieces
  std::vector<Flight> flights_;
  std::map<uint64_t, size_t> pieces_left_;
};

// Workers are on one machine when it has one name: network namespaces with names of their own share memory.
Place read_place() {
  int rank = 0, size = 0, length = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name own = {};
  check(MPI_Get_processor_name(own.data(), &length), "MPI_Get_processor_name");
  std::vector<Name> names(static_cast<size_t>(size));
  check(
      MPI_Allgather(own.data(), sizeof(Name), MPI_CHAR, names.data(), sizeof(Name), MPI_CHAR, MPI_COMM_WORLD),
      "MPI_Allgather");
  const auto here = names.begin() + rank;
  return {static_cast<unsigned>(rank), static_cast<unsigned>(size),
          static_cast<unsigned>(std::count(names.begin(), here, own)),
          static_cast<unsigned>(std::count(names.begin(), names.end(), own))};
}

Place MpiCollectives::open() {
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  const Place place = read_place();
  workers_ = static_cast<int>(place.size);
  return place;
}

void MpiCollectives::start(const Collective& collective) {
  std::span<std::byte> rest = collective.bytes;
  do {
    const size_t bytes = std::min(rest.size(), piece_bytes);
    waiting_.push_back({collective.number, collective.kind, rest.first(bytes)});
    ++pieces_left_[collective.number];
    rest = rest.subspan(bytes);
  } while (!rest.empty());
}

bool is_small(const Collective& piece) {
  const bool adds = piece.kind == CollectiveKind::sum || piece.kind == CollectiveKind::max;
  return adds && piece.bytes.size() <= small_bytes;
}

void launch_small(Flight& flight, int workers) {
  const std::span<std::byte> own = flight.piece.bytes;
  const int count = static_cast<int>(own.size() / 4);
  flight.gathered.resize(static_cast<size_t>(workers) * static_cast<size_t>(count));
  check(MPI_Iallgather(own.data(), count, MPI_UINT32_T, flight.gathered.data(), count, MPI_UINT32_T,
                       MPI_COMM_WORLD, &flight.request),
        "MPI_Iallgather");
}

// Sums of integers, whose order does not matter; unsigned ones wrap around as signed ones do on the wire.
void combine_small(const Flight& flight) {
  const std::span<std::byte> bytes = flight.piece.bytes;
  const size_t count = bytes.size() / 4;
  for (size_t i = 0; i < count; ++i) {
    uint32_t value = flight.gathered[i];
    for (size_t at = i + count; at < flight.gathered.size(); at += count)
      value = flight.piece.kind == CollectiveKind::sum ? value + flight.gathered[at]
                                                       : std::max(value, flight.gathered[at]);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
}

MPI_Request launch(const Collective& piece) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::byte* values = piece.bytes.data();
  const int bytes = static_cast<int>(piece.bytes.size());
  const int count = bytes / 4;
  switch (piece.kind) {
    case CollectiveKind::sum:
      check(MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, &request),
            "MPI_Iallreduce");
      break;
    case CollectiveKind::max:
      check(MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD, &request),
            "MPI_Iallreduce");
      break;
    case CollectiveKind::broadcast:
      check(MPI_Ibcast(values, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
      break;
    case CollectiveKind::barrier:
      check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
      break;
  }
  return request;
}

void MpiCollectives::launch_pieces() {
  while (!waiting_.empty() && flights_.size() < most_under_way) {
    Flight& flight = flights_.emplace_back();
    flight.piece = waiting_.front();
    if (is_small(flight.piece))
      launch_small(flight, workers_);
    else
      flight.request = launch(flight.piece);
    waiting_.pop_front();
  }
}

void MpiCollectives::finish_piece(uint64_t number, std::vector<uint64_t>& ended) {
  auto left = pieces_left_.find(number);
  if (--left->second > 0) return;
  pieces_left_.erase(left);
  ended.push_back(number);
}

bool MpiCollectives::advance(std::vector<uint64_t>& ended) {
  launch_pieces();
  bool moved = false;
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    int done = 0;
    check(MPI_Test(&flight->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) {
      ++flight;
      continue;
    }
    if (is_small(flight->piece)) combine_small(*flight);
    finish_piece(flight->piece.number, ended);
    flight = flights_.erase(flight);
    moved = true;
  }
  if (moved) launch_pieces();
  return moved;
}

}  // namespace

Exchange* paceline_make_exchange(std::string* problem) {
  // The ring sends the fewest bytes; Open MPI reads its settings from the environment, where a user's own
  // win.
  setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "1", 0);
  try {
    return std::make_unique<BackgroundExchange>(std::make_unique<MpiCollectives>()).release();
  } catch (const std::exception& error) {
    *problem = fmt::format("MPI cannot be used: {}; paceline doctor says more", error.what());
    return nullptr;
  }
}

}  // namespace paceline
