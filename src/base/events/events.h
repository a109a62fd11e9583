// The record of a run: events.jsonl, one JSON object a line (docs/formats/events.md).
#pragma once
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"

namespace paceline {

inline constexpr int events_version = 1;

// Appends events; every line is written whole, so a reader never sees half of one except at the end of a
// file whose writer was killed. Safe for several threads.
class EventLog {
 public:
  enum class Open { create, append };
  // Writes the event "run": the first of a new file, or behind the events of an earlier process, whose
  // last line is removed first when it was cut short (append also creates a file that is missing).
  EventLog(const fs::path& path, const nlohmann::ordered_json& run, Open how = Open::create);
  // kind and the time since the start are put in front of the fields. Throws WorkError when the disk is
  // full; then nothing of the event is in the file.
  void add(std::string_view kind, const nlohmann::ordered_json& fields);
  double seconds() const;

 private:
  void write(const nlohmann::ordered_json& event);
  std::mutex mutex_;
  int fd_ = -1;
  fs::path path_;
  double started_;

 public:
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
};

// All events of a file; a last line that was cut short is left out, anything else that is not an event,
// or of a newer version, is an InputError with its line. handle returns false to stop early.
void read_events(const fs::path& path, const std::function<bool(const nlohmann::ordered_json&)>& handle);

}  // namespace paceline
