// Map: a block of raw records in, mapped records, rejects and word counts out.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "data/prepare/labels.h"
#include "data/prepare/mapped_record.h"
#include "data/prepare/word_counts.h"
#include "data/text/records.h"
#include "data/text/segments.h"
#include "data/text/text_pipeline.h"

namespace paceline {

// What a run of prepare does to every record.
struct MapRules {
  std::string text_column, pair_column;  // pair_column: of a second text; empty: there is none
  LabelSpec label;
  const WordPiece* wordpiece = nullptr;  // makes ids at once; without it words are counted
  uint64_t max_length = 0;               // of wordpiece
  bool clean_html = true;
  bool reject_invalid_utf8 = false;
  bool deduplicate = false;
  double valid_share = 0, test_share = 0;  // of the records of the split "train"

  // What a parser is asked for, in this order: the text, the second text if there is one, the label's.
  std::vector<std::string> columns() const;
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
  // parser must have been made for the rules' columns.
  void map(const RecordBlock& block, const MapInput& input, RecordParser& parser, MappedBlock& out);
  WordCounter& counter() { return counter_; }

 private:
  const char* map_record(const RecordBlock& block, size_t index, const MapInput& input, RecordParser& parser,
                         MappedBlock& out);
  // Sets text_; or why the record cannot be used.
  const char* clean_texts();
  // The text as words or ids, put into the record, which views them; false when there are none.
  bool take_words(MappedRecord& mapped);
  bool take_pieces(MappedRecord& mapped);
  const MapRules& rules_;
  ClassRegistry& classes_;
  WordCounter counter_;
  TextPipeline pipeline_;
  LabelSpec::Outcome outcome_;
  std::vector<std::optional<std::string_view>> values_;
  std::string words_, detail_, repaired_, pair_;
  std::string_view text_;    // cleaned; of a pair both texts, with a zero byte between them
  size_t first_length_ = 0;  // of a pair: bytes of the first text
  WordPiece::Scratch scratch_;
  Sequence sequence_;
};

// One line of rejects.jsonl; the record's own bytes are left out when they are empty.
std::string reject_line(const std::string& file, uint64_t line, std::string_view reason,
                        std::string_view detail, std::string_view record);

}  // namespace paceline
