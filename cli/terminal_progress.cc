#include "cli/terminal_progress.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>

#include "base/files.h"
#include "base/table.h"

namespace paceline::cli {
namespace {

constexpr std::chrono::milliseconds live_interval{100}, plain_interval{10000};

// nullptr unless it is a terminal that we may write to.
FILE* open_terminal(const std::string& path) {
  const int fd = path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  if (isatty(fd) == 1) return fdopen(fd, "w");
  close(fd);
  return nullptr;
}

std::string duration(double seconds) {
  const auto s = static_cast<uint64_t>(std::llround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{}:{:02} min", s / 60, s % 60);
  return fmt::format("{}:{:02} h", s / 3600, s % 3600 / 60);
}

}  // namespace

TerminalProgress::TerminalProgress(const std::string& terminal)
    : device_(open_terminal(terminal), &std::fclose),
      out_(device_ ? device_.get() : stderr),
      terminal_(isatty(fileno(out_)) == 1) {}

TerminalProgress::~TerminalProgress() {
  if (open_ && terminal_) show("\n");
}

// What cannot be shown (a closed terminal, a full disk) is no reason to end a job.
void TerminalProgress::show(const std::string& text) const {
  std::fputs(text.c_str(), out_);
  std::fflush(out_);
}

size_t TerminalProgress::columns() const {
  winsize size = {};
  return ioctl(fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void TerminalProgress::begin(std::string_view phase, uint64_t total, std::string_view unit) {
  phase_ = phase;
  unit_ = unit;
  note_.clear();
  total_ = total;
  done_ = skipped_ = 0;
  started_ = drawn_ = Clock::now();
  open_ = true;
}

std::string TerminalProgress::amount(uint64_t value) const {
  return unit_ == "B" ? human_bytes(value) : fmt::format("{} {}", with_commas(value), unit_);
}

void TerminalProgress::draw(uint64_t done, std::string_view note, bool last) {
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - skipped_) / seconds : 0;
  std::string line = fmt::format("{:<9} ", phase_);
  if (total_ > 0 && !last) {
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    const auto filled = static_cast<size_t>(part * 20);
    line += fmt::format("[{}{}] {:3.0f} %  ", std::string(filled, '#'), std::string(20 - filled, '.'),
                        part * 100);
  }
  line += fmt::format("{}, {}/s", amount(done), amount(static_cast<uint64_t>(rate)));
  if (last)
    line += fmt::format(", {:.1f} s", seconds);
  else if (total_ > done && rate > 0)
    line += fmt::format(", {} left", duration(static_cast<double>(total_ - done) / rate));
  if (!note.empty()) line += fmt::format("  {}", note);
  if (!terminal_) {
    show(line + "\n");
    return;
  }
  if (line.size() >= columns()) line.resize(columns() - 1);
  show(fmt::format("\r{}\x1b[K{}", line, last ? "\n" : ""));
}

void TerminalProgress::update(uint64_t done, std::string_view note) {
  done_ = done;
  note_ = note;
  const auto now = Clock::now();
  if (now - drawn_ < (terminal_ ? live_interval : plain_interval)) return;
  drawn_ = now;
  draw(done, note, false);
}

void TerminalProgress::skip(uint64_t done) { done_ = skipped_ = done; }

void TerminalProgress::say(std::string_view sentence) {
  show(fmt::format("{}paceline: {}\n", terminal_ ? "\r\x1b[K" : "", sentence));
}

void TerminalProgress::end() {
  if (!open_) return;
  open_ = false;
  if (terminal_ || Clock::now() - started_ >= plain_interval) draw(done_, note_, true);
}

}  // namespace paceline::cli
