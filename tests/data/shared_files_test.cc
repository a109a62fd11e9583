// Real files: every record is found and parsed.
#include <gtest/gtest.h>

#include "data/text/records.h"

namespace paceline {
namespace {

struct SharedFile {
  const char* path;
  RecordFormat format;
  Quoting quoting;
  std::vector<std::string> columns;
  uint64_t rows;
};

const std::vector<SharedFile> shared_files = {
    {"sst2/train.tsv.gz", RecordFormat::tsv, Quoting::raw, {"sentence", "label"}, 67'349},
    {"sst2/dev.tsv.gz", RecordFormat::tsv, Quoting::raw, {"sentence", "label"}, 872},
    {"sst2/test.tsv.gz", RecordFormat::tsv, Quoting::raw, {"index", "sentence"}, 1'821},
    {"imdb/train.csv.gz", RecordFormat::csv, Quoting::quoted, {"review", "sentiment"}, 25'000},
    {"jigsaw/binary.csv.gz", RecordFormat::csv, Quoting::quoted, {"is_toxic", "comment_text"}, 120'000},
    {"jigsaw/six_labels.csv.gz",
     RecordFormat::csv,
     Quoting::quoted,
     {"comment_text", "identity_hate"},
     1'600},
    {"blitzer/books.all.tsv.gz", RecordFormat::tsv, Quoting::quoted, {"sentence", "label"}, 2'000},
    {"blitzer/dvd.all.tsv.gz", RecordFormat::tsv, Quoting::quoted, {"sentence", "label"}, 2'000},
    {"blitzer/electronics.all.tsv.gz", RecordFormat::tsv, Quoting::quoted, {"sentence", "label"}, 2'000},
    {"davidson/labeled_data.csv.gz", RecordFormat::csv, Quoting::quoted, {"class", "tweet"}, 24'783},
    {"amazon/All_Beauty_5.json.gz", RecordFormat::jsonl, Quoting::raw, {"overall", "reviewText"}, 5'269},
    {"amazon/AMAZON_FASHION_5.json.gz", RecordFormat::jsonl, Quoting::raw, {"overall", "reviewText"}, 3'176},
    {"amazon/Appliances_5.json.gz", RecordFormat::jsonl, Quoting::raw, {"overall", "reviewText"}, 2'277},
    {"amazon/reviews_Digital_Music_5.head.json.gz",
     RecordFormat::jsonl,
     Quoting::raw,
     {"overall", "reviewText"},
     6'908},
};

TEST(SharedFiles, EveryRecordIsFoundAndParsed) {
  const fs::path folder = fs::path(PACELINE_SOURCE_DIR) / "../shared/data";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no real data at ../shared/data";
  for (const SharedFile& file : shared_files) {
    SCOPED_TRACE(file.path);
    const SplitOptions options{.format = file.format, .quoting = file.quoting};
    RecordSplitter splitter(folder / file.path, options);
    RecordParser parser(options, splitter.header(), file.columns, file.path);
    RecordBlock block;
    std::vector<std::optional<std::string_view>> values;
    uint64_t rows = 0;
    while (splitter.next_block(block)) {
      for (size_t k = 0; k < block.entries.size(); ++k) {
        const char* reason = parser.parse(block.record(k), values);
        EXPECT_EQ(reason, nullptr) << "line " << block.entries[k].line << ": " << reason << " "
                                   << parser.detail();
      }
      rows += block.entries.size();
    }
    EXPECT_EQ(rows, file.rows);
  }
}

}  // namespace
}  // namespace paceline
