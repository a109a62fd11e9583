#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/exchange/background_exchange.h"
#include "cluster/exchange/mpi/swap.h"

namespace paceline {
namespace {

// A ring adds up one part while another is on its way only if there are several, and a count is an int.
constexpr size_t piece_bytes = size_t{4} << 20;
// Earlier operations end earlier when not everything is on its way at once.
constexpr size_t most_under_way = 4;
// Copies of what another worker has not taken yet; with more, this one waits until it has.
constexpr size_t most_waiting_bytes = size_t{64} << 20;
// What is smaller goes from everyone to everyone in one round, where a ring takes two for every worker: each
// round waits until the slowest machine has looked.
constexpr size_t small_bytes = 8 << 10;

// A piece on its way.
struct Flight {
  Collective piece;
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<uint32_t> gathered;  // of a small one: everyone's numbers, one worker after another
  std::optional<Swap> swap;        // of a large one between two workers of one machine
  // One that only receives takes no memory, and must not hold up what the other waits for.
  bool counts() const { return !swap || swap->received; }
};

class MpiCollectives final : public Collectives {
 public:
  Place open() override;
  void start(const Collective& collective) override;
  bool advance(std::vector<uint64_t>& ended) override;
  bool is_sending() const override { return !departures_.empty(); }
  void close() override;

 private:
  void launch_pieces();
  void launch_piece(Flight& flight);
  void finish_piece(uint64_t number, std::vector<uint64_t>& ended);

  Place place_;
  Buffers buffers_;
  Departures departures_{buffers_};
  std::deque<Collective> waiting_;  // in pieces
  std::vector<Flight> flights_;
  std::map<uint64_t, size_t> pieces_left_;
};

// Workers are on one machine when it has one name: network namespaces with names of their own share memory.
Place read_place() {
  int rank = 0, size = 0, length = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name own = {};
  check_mpi(MPI_Get_processor_name(own.data(), &length), "MPI_Get_processor_name");
  std::vector<Name> names(static_cast<size_t>(size));
  check_mpi(
      MPI_Allgather(own.data(), sizeof(Name), MPI_CHAR, names.data(), sizeof(Name), MPI_CHAR, MPI_COMM_WORLD),
      "MPI_Allgather");
  const auto here = names.begin() + rank;
  return {static_cast<unsigned>(rank), static_cast<unsigned>(size),
          static_cast<unsigned>(std::count(names.begin(), here, own)),
          static_cast<unsigned>(std::count(names.begin(), names.end(), own))};
}

Place MpiCollectives::open() {
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  place_ = read_place();
  return place_;
}

void MpiCollectives::close() {
  departures_.wait();
  check_mpi(MPI_Finalize(), "MPI_Finalize");
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

bool adds(const Collective& piece) {
  return piece.kind == CollectiveKind::sum || piece.kind == CollectiveKind::max;
}

bool is_small(const Collective& piece) { return adds(piece) && piece.bytes.size() <= small_bytes; }

void launch_small(Flight& flight, unsigned workers) {
  const std::span<std::byte> own = flight.piece.bytes;
  const int count = static_cast<int>(own.size() / 4);
  flight.gathered.resize(workers * static_cast<size_t>(count));
  check_mpi(MPI_Iallgather(own.data(), count, MPI_UINT32_T, flight.gathered.data(), count, MPI_UINT32_T,
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
      check_mpi(MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, &request),
                "MPI_Iallreduce");
      break;
    case CollectiveKind::max:
      check_mpi(MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD, &request),
                "MPI_Iallreduce");
      break;
    case CollectiveKind::broadcast:
      check_mpi(MPI_Ibcast(values, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
      break;
    case CollectiveKind::barrier:
      check_mpi(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
      break;
  }
  return request;
}

void MpiCollectives::launch_piece(Flight& flight) {
  if (is_small(flight.piece)) {
    launch_small(flight, place_.size);
  } else if (adds(flight.piece) && place_.size == 2 && place_.local_size == 2) {
    flight.swap = launch_swap(flight.piece, static_cast<int>(1 - place_.rank), departures_, buffers_);
    flight.request = flight.swap->request;
  } else {
    flight.request = launch(flight.piece);
  }
}

void MpiCollectives::launch_pieces() {
  auto under_way = [&] { return static_cast<size_t>(std::ranges::count_if(flights_, &Flight::counts)); };
  while (!waiting_.empty() && under_way() < most_under_way &&
         departures_.waiting_bytes() < most_waiting_bytes) {
    Flight& flight = flights_.emplace_back();
    flight.piece = waiting_.front();
    launch_piece(flight);
    waiting_.pop_front();
  }
}

void MpiCollectives::finish_piece(uint64_t number, std::vector<uint64_t>& ended) {
  auto left = pieces_left_.find(number);
  if (--left->second > 0) return;
  pieces_left_.erase(left);
  ended.push_back(number);
}

int received_bytes(const MPI_Status& status) {
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  return bytes;
}

bool MpiCollectives::advance(std::vector<uint64_t>& ended) {
  launch_pieces();
  bool moved = departures_.advance();
  for (auto flight = flights_.begin(); flight != flights_.end();) {
    int done = 0;
    MPI_Status status = {};
    check_mpi(MPI_Test(&flight->request, &done, &status), "MPI_Test");
    if (done == 0) {
      ++flight;
      continue;
    }
    if (is_small(flight->piece)) combine_small(*flight);
    if (flight->swap) end_swap(flight->piece, *flight->swap, received_bytes(status), buffers_);
    finish_piece(flight->piece.number, ended);
    flight = flights_.erase(flight);
    moved = true;
  }
  if (moved) launch_pieces();
  return moved;
}

}  // namespace

Exchange* paceline_make_exchange(std::string* problem) {
  // Among three and more the ring sends the fewest bytes; Open MPI reads its settings from the environment,
  // where a user's own win.
  setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "1", 0);
  try {
    return std::make_unique<BackgroundExchange>(std::make_unique<MpiCollectives>()).release();
  } catch (const std::exception& error) {
    *problem = fmt::format("MPI cannot be used: {}; paceline doctor says more", error.what());
    return nullptr;
  }
}

}  // namespace paceline
