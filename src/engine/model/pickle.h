// Python's pickles as data. What a pickle would have Python call is written down as a value and never called,
// and only functions and types from a given list may be named at all.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct PickleValue {
  enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    tuple,
    list,
    dict,
    global,
    call,
    persistent
  };
  Kind kind = Kind::none;
  int64_t integer = 0;  // of a boolean, too
  double real = 0;
  std::string_view text = {};  // of a text; of a global "module.name"
  // Numbers of other values. Of a dict: key, value, key, value, …; of a call: the global and the tuple of
  // arguments; of a persistent value: its id.
  std::vector<uint32_t> items = {};
};

class Pickle {
 public:
  // globals: what it may name; they outlive the pickle. collections.OrderedDict is a dict, and need not be
  // among them. Throws std::runtime_error with a short reason: an opcode that data does not need, a global
  // that is not allowed, anything that Python would stumble over, too many values.
  Pickle(std::string bytes, std::span<const std::string_view> globals);
  Pickle(const Pickle&) = delete;  // values look into bytes_
  Pickle& operator=(const Pickle&) = delete;
  const PickleValue& root() const { return values_[root_]; }
  const PickleValue& operator[](uint32_t number) const { return values_[number]; }

 private:
  std::string bytes_;
  std::vector<PickleValue> values_;
  uint32_t root_ = 0;
};

// "a tuple"
const char* kind_name(PickleValue::Kind kind);

}  // namespace paceline
