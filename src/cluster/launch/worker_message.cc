#include "cluster/launch/worker_message.h"

#include <fmt/core.h>

#include <charconv>

namespace paceline {
namespace {

// A control character that neither a sentence nor a line of progress has.
constexpr std::string_view mark = "\x1epaceline ";

template <typename Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  if (!text.starts_with(' ')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_line(const WorkerMessage& message) {
  if (message.kind == WorkerMessage::Kind::begun) return fmt::format("{}begun\n", mark);
  return fmt::format("{}ends {} {} {}\n", mark, message.rank, message.code, message.sentence);
}

std::optional<WorkerMessage> parse_message(std::string_view line, std::string_view& before) {
  const size_t place = line.find(mark);
  if (place == std::string_view::npos) return std::nullopt;
  before = line.substr(0, place);
  std::string_view text = line.substr(place + mark.size());
  WorkerMessage message;
  if (text == "begun") return message;
  constexpr std::string_view ends = "ends ";
  if (!text.starts_with(ends)) return std::nullopt;
  text.remove_prefix(ends.size());
  message.kind = WorkerMessage::Kind::last_words;
  if (!take_number(text, message.rank) || !take_number(text, message.code)) return std::nullopt;
  message.sentence = text;
  return message;
}

}  // namespace paceline
