// Runs the mappers over all inputs and puts what they give, in the order of the input, to the shuffle.
#pragma once
#include <memory>

#include "base/executors.h"
#include "base/progress.h"
#include "data/prepare/mapper.h"
#include "data/prepare/shuffle.h"

namespace paceline {

struct PhaseInput {
  fs::path path;
  MapInput map;
  SplitOptions split;
  std::shared_ptr<RecordSplitter> opened;  // of a pipe, which can be read only once; else none
};

struct MapTotals {
  std::map<std::string, uint64_t> reasons;
  std::vector<uint64_t> records;  // of each input
  uint64_t kept = 0, repaired = 0;
  std::string first_problem;
  std::vector<fs::path> word_runs;
};

class MapPhase {
 public:
  MapPhase(const MapRules& rules, ClassRegistry& classes, fs::path scratch, Executors& executors);
  // Rejects are appended to rejects, records go to the shuffle.
  MapTotals run(const std::vector<PhaseInput>& inputs, ShuffleWriter& shuffle, FileWriter& rejects,
                Progress& progress);

 private:
  void map_file(const PhaseInput& input, ShuffleWriter& shuffle, FileWriter& rejects, Progress& progress);
  const MapRules& rules_;
  Executors& executors_;
  std::vector<Mapper> mappers_;
  MapTotals totals_;
  uint64_t bytes_before_ = 0;  // of the files already done
};

}  // namespace paceline
