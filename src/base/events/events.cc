#include "base/events/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"

namespace paceline {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Where the last whole line of a file ends.
off_t end_of_lines(int fd) {
  char part[65536];
  off_t end = lseek(fd, 0, SEEK_END);
  while (end > 0) {
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(sizeof part));
    const ssize_t n = pread(fd, part, static_cast<size_t>(end - begin), begin);
    if (n <= 0) return end;
    for (ssize_t i = n; i > 0; --i)
      if (part[i - 1] == '\n') return begin + i;
    end = begin;
  }
  return 0;
}

}  // namespace

EventLog::EventLog(const fs::path& path, const nlohmann::ordered_json& run, Open how)
    : path_(path), started_(steady_seconds()) {
  const int exclusive = how == Open::create ? O_EXCL : 0;
  fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | exclusive, 0644);
  if (fd_ < 0) work_error("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  if (ftruncate(fd_, end_of_lines(fd_)) != 0)
    work_error("{}: its last line cannot be removed: {}", path.string(), std::strerror(errno));
  nlohmann::ordered_json event = {{"event", "run"},
                                  {"t", 0.0},
                                  {"schema", events_version},
                                  {"program", PACELINE_VERSION},
                                  {"started", utc_now()}};
  event.update(run);
  write(event);
}

EventLog::~EventLog() {
  if (fd_ >= 0) close(fd_);
}

double EventLog::seconds() const { return steady_seconds() - started_; }

void EventLog::add(std::string_view kind, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json event = {{"event", kind}, {"t", std::round(seconds() * 1e6) / 1e6}};
  event.update(fields);
  write(event);
}

void EventLog::write(const nlohmann::ordered_json& event) {
  std::string line = event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::lock_guard lock(mutex_);
  const off_t before = lseek(fd_, 0, SEEK_END);
  const ssize_t n = ::write(fd_, line.data(), line.size());
  if (n == static_cast<ssize_t>(line.size())) return;
  const std::string reason = n < 0 ? std::strerror(errno) : "No space left on device";
  if (ftruncate(fd_, before) != 0) work_error("{}: half an event is in it: {}", path_.string(), reason);
  work_error("{}: writing failed: {}", path_.string(), reason);
}

void read_events(const fs::path& path, const std::function<bool(const nlohmann::ordered_json&)>& handle) {
  std::ifstream in(path);
  if (!in) input_error("{}: cannot be opened; is this the folder of a run?", path.string());
  std::string line;
  uint64_t number = 0;
  while (std::getline(in, line)) {
    ++number;
    auto event = nlohmann::ordered_json::parse(line, nullptr, false);
    if (event.is_discarded() && in.eof()) return;
    if (event.is_discarded() || !event.is_object() || !event.contains("event"))
      input_error("{}:{}: not an event", path.string(), number);
    if (number == 1 && event.value("schema", 0) != events_version)
      input_error("{}: events of schema {}, this program reads {}", path.string(), event.value("schema", 0),
                  events_version);
    try {
      if (!handle(event)) return;
    } catch (const nlohmann::json::exception&) {
      input_error("{}:{}: an event of another shape than this program writes", path.string(), number);
    }
  }
}

}  // namespace paceline
