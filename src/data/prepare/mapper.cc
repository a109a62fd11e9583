#include "data/prepare/mapper.h"

#include "base/error.h"
#include "base/random.h"
#include "data/text/utf8.h"

namespace paceline {
namespace {

constexpr size_t max_reject_bytes = 4096;
constexpr uint64_t split_seed = 0x73706C6974ull, order_seed = 0x6F72646572ull;

// Depends on the text alone, so that equal texts never straddle splits.
SplitNumber split_of(uint64_t text_hash, const MapRules& rules) {
  const double position = static_cast<double>(mix64(text_hash ^ split_seed) >> 11) * 0x1.0p-53;
  if (position < rules.test_share) return test_split;
  if (position < rules.test_share + rules.valid_share) return valid_split;
  return train_split;
}

}  // namespace

std::vector<std::string> MapRules::columns() const {
  std::vector<std::string> all = {text_column};
  if (!pair_column.empty()) all.push_back(pair_column);
  all.insert(all.end(), label.columns().begin(), label.columns().end());
  return all;
}

void MappedBlock::clear() {
  records.clear();
  rejects.clear();
  reasons.clear();
  kept = repaired = 0;
  first_problem.clear();
}

std::string reject_line(const std::string& file, uint64_t line, std::string_view reason,
                        std::string_view detail, std::string_view record) {
  nlohmann::ordered_json out = {{"file", file}, {"line", line}, {"reason", reason}};
  if (!detail.empty()) out["detail"] = detail;
  if (!record.empty()) {
    out["record"] = record.substr(0, max_reject_bytes);
    if (record.size() > max_reject_bytes) out["record_bytes"] = record.size();
  }
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Mapper::Mapper(const MapRules& rules, ClassRegistry& classes, WordCounter counter)
    : rules_(rules), classes_(classes), counter_(std::move(counter)), pipeline_(rules.clean_html) {}

void Mapper::map(const RecordBlock& block, const MapInput& input, RecordParser& parser, MappedBlock& out) {
  out.clear();
  for (size_t i = 0; i < block.entries.size(); ++i) {
    detail_.clear();
    const char* reason = map_record(block, i, input, parser, out);
    if (reason == nullptr) {
      ++out.kept;
      continue;
    }
    ++out.reasons[reason];
    // A record that no rule wants is good data that the user left out: its place is enough.
    const bool unwanted = std::string_view(reason) == "no label rule holds";
    out.rejects +=
        reject_line(input.file, block.entries[i].line, reason, detail_, unwanted ? "" : block.record(i));
    if (out.first_problem.empty())
      out.first_problem = fmt::format("{}:{}: {}{}{}", input.file, block.entries[i].line, reason,
                                      detail_.empty() ? "" : ": ", detail_);
  }
}

const char* Mapper::map_record(const RecordBlock& block, size_t index, const MapInput& input,
                               RecordParser& parser, MappedBlock& out) {
  std::string_view record = block.record(index);
  const bool broken = !valid_utf8(record);
  if (broken) {
    if (rules_.reject_invalid_utf8) return "invalid UTF-8";
    replace_invalid_utf8(record, repaired_);
    record = repaired_;
  }
  if (record.find('\0') != std::string_view::npos) return "NUL byte";
  if (const char* reason = parser.parse(record, values_)) {
    detail_ = parser.detail() + input.format_hint;
    return reason;
  }
  if (!values_[0] || (!rules_.pair_column.empty() && !values_[1])) return "no text";
  rules_.label.label(values_, rules_.pair_column.empty() ? 1 : 2, outcome_);
  if (outcome_.problem != nullptr) return outcome_.problem;

  if (const char* reason = clean_texts()) return reason;
  const Hash128 hash = hash128(text_);
  MappedRecord mapped;
  mapped.split = input.shared_out ? split_of(hash.low, rules_) : input.split;
  mapped.origin = (input.number << MappedRecord::origin_bits) | (block.first_ordinal + index);
  mapped.line = block.entries[index].line;
  // Without de-duplication equal texts are spread out; with it they must meet in one bucket.
  mapped.key = rules_.deduplicate ? hash.low : mix64(hash.low + mix64(mapped.origin ^ order_seed));
  mapped.second = hash.high;
  if (!(rules_.wordpiece != nullptr ? take_pieces(mapped) : take_words(mapped)))
    return "no words left after cleaning";
  if (rules_.label.kind() == LabelKind::single) mapped.label = classes_.number(outcome_.value);
  mapped.flags = {reinterpret_cast<const char*>(outcome_.flags.data()), outcome_.flags.size()};
  append_record(out.records, mapped);
  out.repaired += broken ? 1 : 0;
  return nullptr;
}

const char* Mapper::clean_texts() {
  text_ = pipeline_.clean(*values_[0]);
  if (text_.find('\0') != std::string_view::npos) return "NUL byte";
  if (rules_.pair_column.empty()) return nullptr;
  first_length_ = text_.size();
  pair_.assign(text_);
  const std::string_view second = pipeline_.clean(*values_[1]);
  if (second.find('\0') != std::string_view::npos) return "NUL byte";
  pair_ += '\0';
  pair_ += second;
  text_ = pair_;
  return nullptr;
}

bool Mapper::take_words(MappedRecord& mapped) {
  words_.clear();
  for (std::string_view word : pipeline_.words(text_)) {
    if (!words_.empty()) words_ += ' ';
    words_ += word;
    if (mapped.split == train_split) counter_.add(word);
  }
  mapped.words = words_;
  return !words_.empty();
}

bool Mapper::take_pieces(MappedRecord& mapped) {
  std::optional<std::string_view> second;
  if (!rules_.pair_column.empty()) second = text_.substr(first_length_ + 1);
  const std::string_view first = second ? text_.substr(0, first_length_) : text_;
  if (!encode_sequence(*rules_.wordpiece, first, second, rules_.max_length, scratch_, sequence_))
    return false;
  mapped.second_begin = sequence_.second_begin;
  mapped.truncated = sequence_.truncated;
  mapped.words = {reinterpret_cast<const char*>(sequence_.ids.data()),
                  sequence_.ids.size() * sizeof(uint32_t)};
  return true;
}

}  // namespace paceline
