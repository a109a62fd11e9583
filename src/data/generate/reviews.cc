#include "data/generate/reviews.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/generate/ordered_chunks.h"
#include "data/generate/review_rows.h"

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

// The file under construction; removed unless it was put into place.
class PartialFile {
 public:
  explicit PartialFile(const fs::path& goal) : goal_(goal), writer_(beside(goal)) {}
  ~PartialFile() {
    if (!placed_) unlink(writer_.path().c_str());
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  FileWriter& writer() { return writer_; }

  // A file of that name that appeared meanwhile is left alone.
  void place() {
    check_place(goal_);
    if (rename(writer_.path().c_str(), goal_.c_str()) != 0)
      work_error("{}: renaming into place failed: {}", goal_.string(), std::strerror(errno));
    placed_ = true;
    sync_directory(goal_.has_parent_path() ? goal_.parent_path() : fs::path("."));
  }

 private:
  static fs::path beside(const fs::path& goal) {
    fs::path partial = goal;
    partial += fmt::format(".partial-{}", getpid());
    return partial;
  }
  fs::path goal_;
  FileWriter writer_;
  bool placed_ = false;
};

void add(const ReviewFacts& part, ReviewFacts& sum) {
  sum.rows += part.rows;
  sum.negative += part.negative;
  sum.flipped += part.flipped;
  sum.words += part.words;
  sum.longest = std::max(sum.longest, part.longest);
}

std::string facts_json(const ReviewOptions& options, const ReviewFacts& facts) {
  auto share = [&](uint64_t count) { return static_cast<double>(count) / static_cast<double>(facts.rows); };
  nlohmann::ordered_json json = {
      {"schema", "paceline-generated-reviews"},
      {"version", 1},
      {"file", options.out.filename().string()},
      {"bytes", facts.bytes},
      {"options",
       {{"rows", options.rows},
        {"seed", options.seed},
        {"format", options.format},
        {"length", options.length},
        {"negative", options.negative},
        {"noise", options.noise}}},
      {"label", "overall>=4:positive,overall<=2:negative"},
      {"rows", facts.rows},
      {"negative_rows", facts.negative},
      {"negative_share", share(facts.negative)},
      {"flipped_rows", facts.flipped},
      {"mean_words", share(facts.words)},
      {"longest_words", facts.longest},
      {"null_accuracy", facts.null_accuracy},
      {"best_possible_accuracy", facts.best_possible_accuracy},
      {"best_possible_accuracy_on_this_file", 1 - share(facts.flipped)},
      {"why",
       fmt::format(
           "Every text has one verdict that a reader can work out; its label is the opposite with "
           "probability {}, whatever the text, so no model can be right more often than 1 - {} on average.",
           options.noise, options.noise)}};
  return json.dump(2) + "\n";
}

}  // namespace

ReviewFacts generate_reviews(const ReviewOptions& options, Progress& progress) {
  if (options.rows == 0) input_error("--rows 0: at least one row is needed");
  check_place(options.out);
  Lexicon lexicon;
  Grammar grammar;
  ReviewRows rows(options, lexicon, grammar);
  PartialFile file(options.out);
  file.writer().write(rows.header());

  // Rows are independent, so the size of a chunk is free: about a megabyte.
  uint64_t chunk_rows = std::clamp<uint64_t>((uint64_t{1} << 20) / (rows.typical_words() * 6 + 120), 1, 8192);
  uint64_t chunks = (options.rows - 1) / chunk_rows + 1;
  struct Chunk {
    std::string bytes;
    ReviewFacts facts;
  };
  ReviewFacts facts;
  progress.begin("generate", options.rows, "rows");
  in_order<Chunk>(
      chunks, options.threads,
      [&](uint64_t number, Chunk& chunk) {
        Composer composer = rows.composer();
        std::string text;
        chunk.bytes.clear();
        chunk.facts = {};
        uint64_t begin = number * chunk_rows, end = begin + std::min(chunk_rows, options.rows - begin);
        for (uint64_t row = begin; row < end; ++row)
          rows.append(row, composer, text, chunk.bytes, chunk.facts);
      },
      [&](const Chunk& chunk) {
        throw_if_interrupted();
        file.writer().write(chunk.bytes);
        add(chunk.facts, facts);
        progress.update(facts.rows);
      });
  file.writer().close(true);
  progress.end();

  facts.bytes = file.writer().bytes_written();
  facts.best_possible_accuracy = 1 - options.noise;
  facts.null_accuracy = static_cast<double>(std::max(facts.negative, facts.rows - facts.negative)) /
                        static_cast<double>(facts.rows);
  fs::path facts_path = options.out;
  facts_path += ".facts.json";
  write_file_atomically(facts_path, facts_json(options, facts));
  try {
    file.place();
  } catch (...) {
    unlink(facts_path.c_str());
    throw;
  }
  return facts;
}

}  // namespace paceline
