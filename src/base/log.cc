#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "base/error.h"

namespace paceline {

RunLog::RunLog(const fs::path& path) {
  try {
    logger_ = std::make_shared<spdlog::logger>(
        "run", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string()));
  } catch (const spdlog::spdlog_ex& problem) {
    work_error("{}: {}", path.string(), problem.what());
  }
  logger_->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
  logger_->flush_on(spdlog::level::info);
  // A full disk does not end a run, and nothing but cli/ prints.
  logger_->set_error_handler([](const std::string&) {});
}

RunLog::~RunLog() = default;
void RunLog::write_info(std::string_view text) { logger_->info("{}", text); }
void RunLog::write_error(std::string_view text) { logger_->error("{}", text); }

}  // namespace paceline
