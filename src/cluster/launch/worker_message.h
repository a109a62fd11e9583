// What a worker tells its supervisor, as lines among those that it prints: the only way back that works on
// every host.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

struct WorkerMessage {
  enum class Kind { begun, last_words } kind = Kind::begun;
  // Of last words: why the worker ends, and with which exit code.
  unsigned rank = 0;
  int code = 0;
  std::string sentence;
};

// One line with its end.
std::string to_line(const WorkerMessage& message);
// None: the line is no message. What a worker had left unfinished on the line goes to `before`.
std::optional<WorkerMessage> parse_message(std::string_view line, std::string_view& before);

}  // namespace paceline
