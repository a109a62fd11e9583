#include "data/generate/rows_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace paceline {
namespace {

void check_place(const fs::path& out) {
  if (out.empty() || !out.has_filename()) input_error("--out {}: a file name is needed", out.string());
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(out, ignored)))
    input_error("--out {}: exists already; name another file or remove it", out.string());
  fs::path parent = out.has_parent_path() ? out.parent_path() : fs::path(".");
  if (!fs::is_directory(parent, ignored))
    input_error("--out {}: there is no folder {}; create it first", out.string(), parent.string());
}

fs::path beside(const fs::path& path, const std::string& ending) {
  fs::path other = path;
  other += ending;
  return other;
}

}  // namespace

void RowsFacts::count(uint64_t words_of_row) {
  ++rows;
  words += words_of_row;
  longest = std::max(longest, words_of_row);
}

void RowsFacts::add(const RowsFacts& part) {
  rows += part.rows;
  words += part.words;
  longest = std::max(longest, part.longest);
}

RowsFile::RowsFile(const RowsOptions& options) : options_(options) {
  if (options.rows == 0) input_error("--rows 0: at least one row is needed");
  check_place(options.out);
}

RowsFile::~RowsFile() {
  if (writer_ && !placed_) unlink(writer_->path().c_str());
}

FileWriter& RowsFile::open() {
  return writer_.emplace(beside(options_.out, fmt::format(".partial-{}", getpid())));
}

nlohmann::ordered_json RowsFile::facts_json(std::string_view schema,
                                            const nlohmann::ordered_json& own) const {
  nlohmann::ordered_json asked = {{"rows", options_.rows},
                                  {"seed", options_.seed},
                                  {"format", options_.format},
                                  {"length", options_.length}};
  asked.update(own);
  return {{"schema", schema},
          {"version", 1},
          {"file", options_.out.filename().string()},
          {"bytes", writer_->bytes_written()},
          {"options", asked}};
}

void RowsFile::place(const nlohmann::ordered_json& facts) {
  const fs::path facts_path = beside(options_.out, ".facts.json");
  write_file_atomically(facts_path, facts.dump(2) + "\n");
  try {
    check_place(options_.out);
    if (rename(writer_->path().c_str(), options_.out.c_str()) != 0)
      work_error("{}: renaming into place failed: {}", options_.out.string(), std::strerror(errno));
  } catch (...) {
    unlink(facts_path.c_str());
    throw;
  }
  placed_ = true;
  sync_directory(options_.out.has_parent_path() ? options_.out.parent_path() : fs::path("."));
}

}  // namespace paceline
