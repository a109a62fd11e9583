// One JSONL record: the wanted values of its outermost object.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

class JsonRecord {
 public:
  JsonRecord();
  ~JsonRecord();
  JsonRecord(JsonRecord&&) noexcept;

  // As RecordParser::parse, whose JSONL half this is. A value that nobody wants is skipped, not checked.
  const char* parse(std::string_view record, std::span<const std::string> keys,
                    std::vector<std::optional<std::string_view>>& values);
  std::string detail() const { return detail_; }
  // As json_keys.
  static std::vector<std::string> keys_of(std::string_view record);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
  std::string detail_;
};

}  // namespace paceline
