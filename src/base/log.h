// log.txt of a run: what a person reads afterwards, with times; errors are flushed at once.
#pragma once
#include <fmt/core.h>

#include <memory>
#include <string_view>
#include <utility>

#include "base/files.h"

namespace spdlog {
class logger;
}

namespace paceline {

class RunLog {
 public:
  explicit RunLog(const fs::path& path);
  ~RunLog();
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    write_info(fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    write_error(fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void write_info(std::string_view text);
  void write_error(std::string_view text);
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace paceline
