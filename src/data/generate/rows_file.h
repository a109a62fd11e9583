// A file of generated rows and the facts beside it: both there whole, or neither.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "data/generate/ordered_chunks.h"

namespace paceline {

// What every kind of generated rows has to be told.
struct RowsOptions {
  uint64_t rows = 0;
  uint64_t seed = 1;
  fs::path out;                  // must not exist; OUT.facts.json is written beside it
  std::string format = "jsonl";  // or "csv"
  std::string length;            // "" a long tail, median 40 words; "25" another median; "3-8" a range
  unsigned threads = 0;          // 0: one per core; never changes the bytes
};

// What is counted of every kind.
struct RowsFacts {
  uint64_t rows = 0, words = 0, longest = 0;
  uint64_t bytes = 0;
  void count(uint64_t words_of_row);
  void add(const RowsFacts& part);
  double share(uint64_t of_rows) const { return static_cast<double>(of_rows) / static_cast<double>(rows); }
};

class RowsFile {
 public:
  // Throws InputError: no rows, an existing file, a folder that is not there. Makes nothing yet.
  explicit RowsFile(const RowsOptions& options);
  ~RowsFile();
  RowsFile(const RowsFile&) = delete;
  RowsFile& operator=(const RowsFile&) = delete;

  // Rows has a Facts that derives from RowsFacts and has add(), a Scratch that scratch() makes for each
  // chunk, header(), typical_bytes() of a row, and append(row, scratch, bytes, facts), which depends on the
  // row's number alone and is called by several threads at once. Throws WorkError, Interrupted.
  template <typename Rows>
  typename Rows::Facts write(const Rows& rows, Progress& progress);

  // The keys that all facts begin with; own are the options of this kind.
  nlohmann::ordered_json facts_json(std::string_view schema, const nlohmann::ordered_json& own) const;
  // Writes the facts and puts both into place. A file of that name that appeared meanwhile is left alone.
  void place(const nlohmann::ordered_json& facts);

 private:
  FileWriter& open();
  const RowsOptions options_;
  std::optional<FileWriter> writer_;
  bool placed_ = false;
};

template <typename Rows>
typename Rows::Facts RowsFile::write(const Rows& rows, Progress& progress) {
  FileWriter& writer = open();
  writer.write(rows.header());
  // Rows are independent, so the size of a chunk is free: about a megabyte.
  const uint64_t chunk_rows = std::clamp<uint64_t>((uint64_t{1} << 20) / rows.typical_bytes(), 1, 8192);
  const uint64_t chunks = (options_.rows - 1) / chunk_rows + 1;
  struct Chunk {
    std::string bytes;
    typename Rows::Facts facts;
  };
  typename Rows::Facts facts;
  progress.begin("generate", options_.rows, "rows");
  in_order<Chunk>(
      chunks, options_.threads,
      [&](uint64_t number, Chunk& chunk) {
        typename Rows::Scratch scratch = rows.scratch();
        chunk.bytes.clear();
        chunk.facts = {};
        const uint64_t begin = number * chunk_rows, end = begin + std::min(chunk_rows, options_.rows - begin);
        for (uint64_t row = begin; row < end; ++row) rows.append(row, scratch, chunk.bytes, chunk.facts);
      },
      [&](const Chunk& chunk) {
        throw_if_interrupted();
        writer.write(chunk.bytes);
        facts.add(chunk.facts);
        progress.update(facts.rows);
      });
  writer.close(true);
  progress.end();
  facts.bytes = writer.bytes_written();
  return facts;
}

}  // namespace paceline
