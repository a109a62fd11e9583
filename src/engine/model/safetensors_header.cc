#include "engine/model/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/shortened.h"

namespace paceline {
namespace {

constexpr size_t most_extents = 64, most_names = 1 << 20;
constexpr const char* metadata_name = "__metadata__";

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw std::runtime_error(fmt::format(format, std::forward<Args>(args)...));
}

// Takes the parts of the header as they come: {"name": {"dtype": …, "shape": […], "data_offsets": [b, e]}, …,
// "__metadata__": {"key": "value", …}}. Anything else is refused.
class HeaderParts final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::map<std::string, SafetensorsEntry> entries;

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return unexpected("a fraction"); }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets) return unexpected("a number");
    std::vector<uint64_t>& list = place_ == Place::shape ? entry_.shape : offsets_;
    if (list.size() == most_extents)
      refuse("'{}' has more than {} numbers in its {}", shown(), most_extents, field_);
    list.push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) return true;
    if (place_ != Place::tensor || field_ != "dtype") return unexpected("a text");
    entry_.type = find_number_type(value);
    if (entry_.type == nullptr)
      refuse("'{}' is of type '{}', which is not known", shown(), shortened(value, 20));
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::top;
    } else if (place_ == Place::top) {
      place_ = name_ == metadata_name ? Place::metadata : Place::tensor;
      has_metadata_ = has_metadata_ || name_ == metadata_name;
      entry_ = {};
      offsets_.clear();
      keys_.clear();
    } else {
      return unexpected("an object");
    }
    return true;
  }

  bool key(string_t& text) override {
    const bool twice = place_ != Place::top
                           ? !keys_.insert(text).second
                           : entries.count(text) > 0 || (has_metadata_ && text == metadata_name);
    if (twice) refuse("it has '{}' twice", shortened(text));
    if (entries.size() + keys_.size() > most_names) refuse("it has more than {} names", most_names);
    (place_ == Place::top ? name_ : field_) = text;
    if (place_ == Place::tensor && field_ != "dtype" && field_ != "shape" && field_ != "data_offsets")
      refuse("'{}' has a field '{}', which is not known", shown(), shortened(field_));
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) finish_entry();
    place_ = place_ == Place::top ? Place::done : Place::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || field_ == "dtype") return unexpected("a list");
    place_ = field_ == "shape" ? Place::shape : Place::offsets;
    return true;
  }
  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    refuse("its header is not JSON (at byte {} of it)", position);
  }

 private:
  enum class Place { outside, top, tensor, shape, offsets, metadata, done };

  std::string shown() const { return shortened(name_); }

  bool unexpected(const char* what) const {
    if (place_ == Place::outside) refuse("its header is not an object");
    if (place_ == Place::shape) refuse("the shape of '{}' is not made of counts", shown());
    if (place_ == Place::offsets) refuse("the offsets of '{}' are not two counts", shown());
    refuse("its header has {} in '{}', where none belongs", what, shown());
  }

  void finish_entry() {
    for (const char* field : {"dtype", "shape", "data_offsets"})
      if (keys_.count(field) == 0) refuse("'{}' has no {}", shown(), field);
    if (offsets_.size() != 2) refuse("the offsets of '{}' are not two counts", shown());
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    if (!count_elements(entry_.shape, entry_.elements))
      refuse("the shape of '{}', {}, is impossible", shown(), shape_text(entry_.shape));
    entries.emplace(name_, std::move(entry_));
  }

  Place place_ = Place::outside;
  std::string name_, field_;
  SafetensorsEntry entry_;
  std::vector<uint64_t> offsets_;
  std::set<std::string> keys_;  // of the object that is open inside the header
  bool has_metadata_ = false;
};

void check_place(const std::string& name, const SafetensorsEntry& entry, uint64_t data_bytes) {
  uint64_t bytes = 0;
  const bool countable = !__builtin_mul_overflow(entry.elements, entry.type->bytes, &bytes);
  if (!countable || entry.begin > entry.end || entry.end > data_bytes || entry.end - entry.begin != bytes)
    refuse("'{}' ({} of {}) does not fit its place, bytes {} to {} of {}", shortened(name),
           shape_text(entry.shape), entry.type->name, entry.begin, entry.end, data_bytes);
}

void check_order(const std::map<std::string, SafetensorsEntry>& entries, uint64_t data_bytes) {
  std::vector<std::pair<const SafetensorsEntry*, const std::string*>> sorted;
  for (const auto& [name, entry] : entries) sorted.emplace_back(&entry, &name);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first->begin, a.first->end) < std::pair(b.first->begin, b.first->end);
  });
  uint64_t expected = 0;
  for (const auto& [entry, name] : sorted) {
    if (entry->begin < expected)
      refuse("its tensors overlap: '{}' begins at byte {}, and what stands before it ends at {}",
             shortened(*name), entry->begin, expected);
    if (entry->begin > expected)
      refuse("its tensors leave a gap: bytes {} to {}, before '{}', belong to none", expected, entry->begin,
             shortened(*name));
    expected = entry->end;
  }
  if (expected != data_bytes)
    refuse("{} bytes of tensors, the header describes {}; the file is damaged", data_bytes, expected);
}

}  // namespace

std::map<std::string, SafetensorsEntry> parse_safetensors_header(std::string_view text, uint64_t data_bytes) {
  HeaderParts parts;
  nlohmann::json::sax_parse(text.begin(), text.end(), &parts);
  for (const auto& [name, entry] : parts.entries) check_place(name, entry, data_bytes);
  check_order(parts.entries, data_bytes);
  return std::move(parts.entries);
}

}  // namespace paceline
