#include "data/prepare/map_phase.h"

#include <future>

#include "base/error.h"

namespace paceline {
namespace {

// A few blocks that are mapped at once; while they are, the next few are read.
struct Round {
  std::vector<RecordBlock> blocks;
  size_t count = 0;
};

void read_round(RecordSplitter& splitter, Round& round) {
  round.count = 0;
  while (round.count < round.blocks.size() && splitter.next_block(round.blocks[round.count])) ++round.count;
}

}  // namespace

MapPhase::MapPhase(const MapRules& rules, ClassRegistry& classes, fs::path scratch, Executors& executors)
    : rules_(rules), executors_(executors) {
  for (unsigned i = 0; i < executors.count(); ++i)
    mappers_.emplace_back(rules, classes, WordCounter(scratch, fmt::format("words-{}", i)));
}

MapTotals MapPhase::run(const std::vector<PhaseInput>& inputs, ShuffleWriter& shuffle, FileWriter& rejects,
                        Progress& progress) {
  uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& input : inputs) {
    const uintmax_t size = fs::file_size(input.path, ignored);
    bytes += size == static_cast<uintmax_t>(-1) ? 0 : size;
  }
  progress.begin("reading", bytes, "B");
  for (const auto& input : inputs) map_file(input, shuffle, rejects, progress);
  progress.end();
  for (auto& mapper : mappers_)
    for (auto& run : mapper.counter().finish()) totals_.word_runs.push_back(std::move(run));
  return std::move(totals_);
}

void MapPhase::map_file(const PhaseInput& input, ShuffleWriter& shuffle, FileWriter& rejects,
                        Progress& progress) {
  const auto opened = input.opened ? input.opened : std::make_shared<RecordSplitter>(input.path, input.split);
  RecordSplitter& splitter = *opened;
  std::vector<RecordParser> parsers;
  for (unsigned i = 0; i < executors_.count(); ++i)
    parsers.emplace_back(input.split, splitter.header(), rules_.columns(), input.map.file);

  const size_t width = executors_.count() * 4;
  Round current{std::vector<RecordBlock>(width)}, following{std::vector<RecordBlock>(width)};
  std::vector<MappedBlock> mapped(width);
  uint64_t records = 0;
  read_round(splitter, current);
  while (current.count > 0) {
    throw_if_interrupted();
    auto reading = std::async(std::launch::async, [&] { read_round(splitter, following); });
    executors_.run(current.count, [&](uint64_t i, unsigned executor) {
      mappers_[executor].map(current.blocks[i], input.map, parsers[executor], mapped[i]);
    });
    for (size_t i = 0; i < current.count; ++i) {
      shuffle.add(mapped[i].records);
      rejects.write(mapped[i].rejects);
      totals_.kept += mapped[i].kept;
      totals_.repaired += mapped[i].repaired;
      records += current.blocks[i].entries.size();
      for (const auto& [reason, count] : mapped[i].reasons) totals_.reasons[reason] += count;
      if (totals_.first_problem.empty()) totals_.first_problem = mapped[i].first_problem;
    }
    reading.get();
    progress.update(bytes_before_ + splitter.bytes_consumed());
    std::swap(current, following);
  }
  totals_.records.push_back(records);
  bytes_before_ += splitter.bytes_consumed();
}

}  // namespace paceline
