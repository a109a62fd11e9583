// Map: a block of raw records in, mapped records, rejects and word counts out.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "data/prepare/labels.h"
#include "data/prepare/mapped_record.h"
#include "data/prepare/word_counts.h"
#include "data/text/records.h"
#include "data/text/text_pipeline.h"

namespace paceline {

// What a run of prepare does to every record.
struct MapRules {
  std::string text_column;
  LabelSpec label;
  bool clean_html = true;
  bool reject_invalid_utf8 = false;
  bool deduplicate = false;
  double valid_share = 0, test_share = 0;  // of the records of the split "train"
};

enum SplitNumber : uint8_t { train_split = 0, valid_split = 1, test_split = 2 };

// The file that a block came from.
struct MapInput {
  std::string file;
  uint64_t number = 0;  // among all inputs
  SplitNumber split = train_split;
  bool shared_out = false;  // its records are spread over the splits by a hash of the text
  std::string format_hint;  // added to a reason that another --quoting would cure
};

struct MappedBlock {
  std::string records;  // as append_record writes them
  std::string rejects;  // lines of rejects.jsonl
  std::map<std::string, uint64_t> reasons;
  uint64_t kept = 0, repaired = 0;  // repaired: records in which broken UTF-8 was replaced
  std::string first_problem;        // for the message when nothing could be kept
  void clear();
};

// One per thread. What it makes of a block depends on the block and the rules alone.
class Mapper {
 public:
  Mapper(const MapRules& rules, ClassRegistry& classes, WordCounter counter);
  // parser must have been made for text_column followed by the label's columns.
  void map(const RecordBlock& block, const MapInput& input, RecordParser& parser, MappedBlock& out);
  WordCounter& counter() { return counter_; }

 private:
  const char* map_record(const RecordBlock& block, size_t index, const MapInput& input, RecordParser& parser,
                         MappedBlock& out);
  const MapRules& rules_;
  ClassRegistry& classes_;
  WordCounter counter_;
  TextPipeline pipeline_;
  LabelSpec::Outcome outcome_;
  std::vector<std::optional<std::string_view>> values_;
  std::string words_, detail_, repaired_;
};

// One line of rejects.jsonl; the record's own bytes are left out when they are empty.
std::string reject_line(const std::string& file, uint64_t line, std::string_view reason,
                        std::string_view detail, std::string_view record);

}  // namespace paceline
