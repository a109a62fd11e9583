// Draws progress: one live line on a terminal, a plain line every ten seconds otherwise (and none for
// what takes less); on stderr, so that standard output stays the result's.
#pragma once
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "base/progress.h"

namespace paceline::cli {

class TerminalProgress final : public Progress {
 public:
  // terminal: a device to draw on instead, if it can be opened ("/dev/pts/3").
  explicit TerminalProgress(const std::string& terminal = {});
  ~TerminalProgress() override;
  void begin(std::string_view phase, uint64_t total, std::string_view unit) override;
  void update(uint64_t done, std::string_view note) override;
  void end() override;
  void skip(uint64_t done) override;
  void say(std::string_view sentence) override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(uint64_t done, std::string_view note, bool last);
  void show(const std::string& text) const;
  size_t columns() const;
  std::string amount(uint64_t value) const;
  std::unique_ptr<FILE, int (*)(FILE*)> device_;
  FILE* out_;
  bool terminal_, open_ = false;
  std::string phase_, unit_, note_;
  uint64_t total_ = 0, done_ = 0, skipped_ = 0;
  Clock::time_point started_, drawn_;
};

}  // namespace paceline::cli
