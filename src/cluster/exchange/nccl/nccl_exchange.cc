// The only file that sees nccl.h. Compiled and linked by the tests; it has never been run on a GPU.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "base/error.h"
#include "cluster/exchange/background_exchange.h"

namespace paceline {
namespace {

void check(cudaError_t result, const char* call) {
  if (result != cudaSuccess) work_error("{}: {}", call, cudaGetErrorString(result));
}

void check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess) work_error("{}: {}", call, ncclGetErrorString(result));
}

// Memory of one operation on its way. Copies to pinned memory run in the background; others block.
// Freed by close() alone: freeing waits for the device, which may wait for a worker that is gone.
struct Stage {
  size_t bytes = 0;
  void* device = nullptr;
  void* pinned = nullptr;
};

Stage make_stage(size_t bytes) {
  Stage stage{bytes};
  check(cudaMalloc(&stage.device, bytes), "cudaMalloc");
  check(cudaMallocHost(&stage.pinned, bytes), "cudaMallocHost");
  return stage;
}

struct Flight {
  Collective collective;
  Stage stage;
  cudaEvent_t landed = nullptr;
};

// Sums and maxima over NCCL, one device a worker; the rest over MPI.
class NcclCollectives final : public Collectives {
 public:
  Place open() override;
  void start(const Collective& collective) override;
  bool advance(std::vector<uint64_t>& ended) override;
  void close() override;

 private:
  void choose_device(int devices);
  Stage stage_for(size_t bytes);
  void reduce(const Collective& collective);

  std::unique_ptr<Exchange> mpi_;
  ncclComm_t communicator_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::deque<Flight> flights_;  // one stream: they end in the order of their start
  std::vector<Stage> stages_;   // not in use
  std::vector<uint64_t> ended_at_once_;
};

void NcclCollectives::choose_device(int devices) {
  const int device = static_cast<int>(mpi_->local_rank());
  if (device >= devices)
    input_error("{} workers on one machine with {} NVIDIA GPUs: start one worker for each GPU at most",
                mpi_->local_size(), devices);
  check(cudaSetDevice(device), "cudaSetDevice");
}

int count_devices() {
  int driver = 0, devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found == cudaSuccess && devices > 0) return devices;
  const char* reason = found == cudaSuccess ? "there is none" : cudaGetErrorString(found);
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) reason = "there is no NVIDIA driver";
  input_error("no NVIDIA GPU can be used: {}; train with --device cpu, or see what paceline doctor says",
              reason);
}

Place NcclCollectives::open() {
  const int devices = count_devices();
  mpi_ = open_exchange("mpi");
  choose_device(devices);
  ncclUniqueId id = {};
  if (mpi_->rank() == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  mpi_->broadcast(std::as_writable_bytes(std::span(&id, 1)));
  check(ncclCommInitRank(&communicator_, static_cast<int>(mpi_->size()), id, static_cast<int>(mpi_->rank())),
        "ncclCommInitRank");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return {mpi_->rank(), mpi_->size(), mpi_->local_rank(), mpi_->local_size()};
}

Stage NcclCollectives::stage_for(size_t bytes) {
  auto large_enough = [&](const Stage& stage) { return stage.bytes >= bytes; };
  const auto found = std::find_if(stages_.begin(), stages_.end(), large_enough);
  if (found == stages_.end()) return make_stage(bytes);
  const Stage stage = *found;
  stages_.erase(found);
  return stage;
}

void NcclCollectives::reduce(const Collective& collective) {
  Flight flight{collective, stage_for(collective.bytes.size())};
  void *device = flight.stage.device, *pinned = flight.stage.pinned;
  const size_t bytes = collective.bytes.size();
  const bool sum = collective.kind == CollectiveKind::sum;
  check(cudaEventCreateWithFlags(&flight.landed, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  std::memcpy(pinned, collective.bytes.data(), bytes);
  check(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync");
  check(ncclAllReduce(device, device, bytes / 4, sum ? ncclInt32 : ncclUint32, sum ? ncclSum : ncclMax,
                      communicator_, stream_),
        "ncclAllReduce");
  check(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
  check(cudaEventRecord(flight.landed, stream_), "cudaEventRecord");
  flights_.push_back(flight);
}

void NcclCollectives::start(const Collective& collective) {
  switch (collective.kind) {
    case CollectiveKind::sum:
    case CollectiveKind::max:
      reduce(collective);
      break;
    case CollectiveKind::broadcast:
      mpi_->broadcast(collective.bytes);
      ended_at_once_.push_back(collective.number);
      break;
    case CollectiveKind::barrier:  // close() has that of MPI
      ended_at_once_.push_back(collective.number);
      break;
  }
}

bool NcclCollectives::advance(std::vector<uint64_t>& ended) {
  ended.insert(ended.end(), ended_at_once_.begin(), ended_at_once_.end());
  ended_at_once_.clear();
  ncclResult_t trouble = ncclSuccess;
  check(ncclCommGetAsyncError(communicator_, &trouble), "ncclCommGetAsyncError");
  check(trouble, "ncclAllReduce");
  while (!flights_.empty()) {
    Flight& flight = flights_.front();
    const cudaError_t state = cudaEventQuery(flight.landed);
    if (state == cudaErrorNotReady) break;
    check(state, "cudaEventQuery");
    std::memcpy(flight.collective.bytes.data(), flight.stage.pinned, flight.collective.bytes.size());
    check(cudaEventDestroy(flight.landed), "cudaEventDestroy");
    ended.push_back(flight.collective.number);
    stages_.push_back(flight.stage);
    flights_.pop_front();
  }
  return !ended.empty();
}

void NcclCollectives::close() {
  check(ncclCommDestroy(communicator_), "ncclCommDestroy");
  for (const Stage& stage : stages_) {
    check(cudaFree(stage.device), "cudaFree");
    check(cudaFreeHost(stage.pinned), "cudaFreeHost");
  }
  check(cudaStreamDestroy(stream_), "cudaStreamDestroy");
  mpi_->leave();
}

}  // namespace

Exchange* paceline_make_exchange(std::string* problem) {
  try {
    return std::make_unique<BackgroundExchange>(std::make_unique<NcclCollectives>()).release();
  } catch (const InputError& error) {
    *problem = error.what();
  } catch (const std::exception& error) {
    *problem = fmt::format("NCCL cannot be used: {}; paceline doctor says more", error.what());
  }
  return nullptr;
}

}  // namespace paceline
