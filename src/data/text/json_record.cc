#include "data/text/json_record.h"

#include <simdjson.h>

#include <cstring>

namespace paceline {
namespace {

namespace ondemand = simdjson::ondemand;

// The value of the four hex digits of an escape at text[position] ("\uXXXX"), or -1.
int escaped_unit(std::string_view text, size_t position) {
  if (position + 6 > text.size() || text[position] != '\\' || text[position + 1] != 'u') return -1;
  int value = 0;
  for (size_t k = position + 2; k < position + 6; ++k) {
    const char c = text[k];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

// Half of a surrogate pair without its other half names no character: it becomes the escape of
// U+FFFD, which has the same length.
void replace_lone_surrogates(std::span<char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  for (size_t position = text.find('\\'); position != std::string_view::npos;
       position = text.find('\\', position)) {
    const int unit = escaped_unit(text, position);
    if (unit < 0xD800 || unit > 0xDFFF) {
      position += 2;
      continue;
    }
    const int next = escaped_unit(text, position + 6);
    const bool pair = unit < 0xDC00 && next >= 0xDC00 && next <= 0xDFFF;
    if (!pair) std::memcpy(bytes.data() + position + 2, "fffd", 4);
    position += pair ? 12 : 6;
  }
}

bool is_json_number(std::string_view text) {
  size_t k = 0;
  const auto digits = [&] {
    const size_t begin = k;
    while (k < text.size() && text[k] >= '0' && text[k] <= '9') ++k;
    return k - begin;
  };
  if (k < text.size() && text[k] == '-') ++k;
  const bool leading_zero = k < text.size() && text[k] == '0';
  const size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (k < text.size() && text[k] == '.' && (++k, digits() == 0)) return false;
  if (k < text.size() && (text[k] == 'e' || text[k] == 'E')) {
    ++k;
    if (k < text.size() && (text[k] == '+' || text[k] == '-')) ++k;
    if (digits() == 0) return false;
  }
  return k == text.size();
}

std::string_view without_trailing_space(std::string_view token) {
  const size_t last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last + 1);
}

// A value as its column holds it; nullopt stands for null.
simdjson::error_code take(ondemand::value value, std::optional<std::string_view>& result) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  std::string_view text;
  switch (type) {
    case ondemand::json_type::string:
      if (const auto error = value.get_string().get(text)) return error;
      break;
    case ondemand::json_type::object:
    case ondemand::json_type::array: {
      simdjson::error_code error{};
      if (type == ondemand::json_type::object) {
        ondemand::object object;
        error = value.get_object().get(object);
        if (!error) error = object.raw_json().get(text);
      } else {
        ondemand::array array;
        error = value.get_array().get(array);
        if (!error) error = array.raw_json().get(text);
      }
      if (error) return error;
      text = without_trailing_space(text);
      break;
    }
    default:
      text = without_trailing_space(value.raw_json_token());
      if (text == "null") return simdjson::SUCCESS;
      if (text != "true" && text != "false" && !is_json_number(text)) return simdjson::NUMBER_ERROR;
  }
  result = text;
  return simdjson::SUCCESS;
}

}  // namespace

struct JsonRecord::Buffers {
  ondemand::parser parser;
  std::vector<char> padded;
  std::vector<bool> seen;

  // Calls on_field(key, value) for every field until it returns an error.
  template <typename OnField>
  const char* walk(std::string_view record, std::string& detail, OnField on_field) {
    if (padded.size() < record.size() + simdjson::SIMDJSON_PADDING) {
      padded.resize(2 * record.size() + simdjson::SIMDJSON_PADDING);
    }
    std::memcpy(padded.data(), record.data(), record.size());
    std::memset(padded.data() + record.size(), ' ', simdjson::SIMDJSON_PADDING);
    replace_lone_surrogates(std::span(padded).first(record.size()));
    ondemand::document document;
    simdjson::error_code error = parser.iterate(padded.data(), record.size(), padded.size()).get(document);
    if (error == simdjson::UTF8_ERROR) return "invalid UTF-8";
    if (!error) {
      ondemand::object object;
      error = document.get_object().get(object);
      if (error == simdjson::INCORRECT_TYPE) return "not a JSON object";
      if (!error) error = walk_fields(document, object, on_field);
    }
    if (!error) return nullptr;
    detail = simdjson::error_message(error);
    return "invalid JSON";
  }

 private:
  template <typename OnField>
  static simdjson::error_code walk_fields(ondemand::document& document, ondemand::object& object,
                                          OnField& on_field) {
    for (auto item : object) {
      ondemand::field field;
      if (const auto error = std::move(item).get(field)) return error;
      std::string_view key;
      if (const auto error = field.unescaped_key().get(key)) return error;
      if (const auto error = on_field(key, field.value())) return error;
    }
    const char* location = nullptr;
    const bool at_end = document.current_location().get(location) != simdjson::SUCCESS;
    return at_end ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
  }
};

JsonRecord::JsonRecord() : buffers_(std::make_unique<Buffers>()) {}
JsonRecord::~JsonRecord() = default;
JsonRecord::JsonRecord(JsonRecord&&) noexcept = default;

const char* JsonRecord::parse(std::string_view record, std::span<const std::string> keys,
                              std::vector<std::optional<std::string_view>>& values) {
  values.assign(keys.size(), std::nullopt);
  buffers_->seen.assign(keys.size(), false);
  detail_.clear();
  const char* reason = buffers_->walk(record, detail_, [&](std::string_view key, ondemand::value value) {
    for (size_t k = 0; k < keys.size(); ++k) {
      if (keys[k] != key || buffers_->seen[k]) continue;
      buffers_->seen[k] = true;
      return take(value, values[k]);
    }
    return simdjson::SUCCESS;
  });
  if (reason != nullptr) values.clear();
  return reason;
}

std::vector<std::string> JsonRecord::keys_of(std::string_view record) {
  Buffers buffers;
  std::vector<std::string> keys;
  std::string detail;
  const char* reason = buffers.walk(record, detail, [&](std::string_view key, ondemand::value) {
    keys.emplace_back(key);
    return simdjson::SUCCESS;
  });
  if (reason != nullptr) keys.clear();
  return keys;
}

}  // namespace paceline
