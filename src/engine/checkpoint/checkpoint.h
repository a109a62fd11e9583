// Checkpoints of a run: RUN/checkpoints/step-N/, complete only when its manifest is
// (docs/formats/checkpoint.md).
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "engine/model/safetensors.h"

namespace paceline {

inline constexpr int checkpoint_version = 1;

// What became of a save, told to the run's record.
struct CheckpointReport {
  uint64_t step = 0;
  uint64_t bytes = 0;
  double copy_seconds = 0;   // training stood still: copying, and waiting for an earlier write
  double write_seconds = 0;  // in the background
  std::string failure;       // empty: it is on disk and synced
  std::string warning;       // it is on disk, but an older one could not be removed
};

class FolderLock;
class Snapshot;

// Writes in a background thread. One thread calls it.
class CheckpointWriter {
 public:
  // folder: RUN/checkpoints; made when missing. Leftovers of a killed write are removed. keep: how many
  // of the latest complete checkpoints stay; those that are the best for a metric stay as well. Throws
  // InputError when the folder cannot be written or another process writes checkpoints there.
  CheckpointWriter(fs::path folder, uint64_t keep);
  ~CheckpointWriter();  // waits for the write under way
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Copies everything and returns; waits first if an earlier write is under way. best_for: metrics of
  // which this is the best checkpoint so far; it takes the place of the one before. A failure (a full
  // disk) leaves nothing behind, keeps every older checkpoint, and is told by take_reports(). A step that
  // is there already is replaced. JSON has no infinities: they become null in the state.
  void save(uint64_t step, const nlohmann::ordered_json& state, const std::vector<TensorView>& tensors,
            const std::vector<std::string>& best_for);
  bool busy() const;
  void wait();
  // In the order of the saves; each is given once.
  std::vector<CheckpointReport> take_reports();

 private:
  void run();
  CheckpointReport write() const;

  const fs::path folder_;
  const uint64_t keep_;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<Snapshot> snapshot_;  // the caller's while not busy, else the thread's
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false, closing_ = false;
  double copy_seconds_ = 0;
  std::vector<CheckpointReport> reports_;
  std::thread thread_;
};

struct CheckpointInfo {
  uint64_t step = 0;
  fs::path folder;
  std::vector<std::string> best_for;  // of several that claim a metric, the newest has it
};
// Complete ones in the order of their steps; only manifests are read, nothing is verified.
std::vector<CheckpointInfo> list_checkpoints(const fs::path& folder);

struct OpenCheckpoint {
  uint64_t step = 0;
  fs::path folder;
  nlohmann::json state;
  SafetensorsReader tensors;
};
// Verified: every byte against the manifest. Throws InputError that names the file and what is wrong
// (also: of a newer version).
OpenCheckpoint open_checkpoint(const fs::path& folder);
// The newest that can be read; a broken one is named in `problems` and the one before is tried. Nothing
// when there is none. Throws InputError only for a newer version.
std::optional<OpenCheckpoint> open_newest_checkpoint(const fs::path& folder,
                                                     std::vector<std::string>& problems);

}  // namespace paceline
