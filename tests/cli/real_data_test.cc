// The commands of docs/real-data.md on the real files: every record is in the data set, or in the rejects
// with a reason.
#include <algorithm>
#include <set>

#include "code_blocks.h"
#include "data/dataset/info.h"
#include "program.h"

namespace paceline {
namespace {

struct RealFile {
  const char* dataset;  // what the page's command calls it
  uint64_t records;     // what its publisher counts, over all of its files
};

void PrintTo(const RealFile& file, std::ostream* out) { *out << file.dataset; }

constexpr RealFile real_files[] = {
    {"imdb-data", 25000},     {"jigsaw-data", 120000}, {"jigsaw-six-data", 1600},  {"davidson-data", 24783},
    {"books-data", 2000},     {"dvd-data", 2000},      {"electronics-data", 2000}, {"sst2-data", 67349 + 872},
    {"sst2-test-data", 1821}, {"beauty-data", 5269},   {"fashion-data", 3176},     {"appliances-data", 2277},
    {"music-data", 6908},     {"tatoeba-data", 32565},
};

const fs::path& shared_data() {
  static const fs::path folder = fs::path(PACELINE_SOURCE_DIR) / "../shared/data";
  return folder;
}

std::string block_of(const std::string& dataset) {
  for (const auto& block : code_blocks("docs/real-data.md", "sh"))
    if (has(block, " --out " + dataset + "\n")) return block;
  return "";
}

class RealData : public Scratch, public ::testing::WithParamInterface<RealFile> {
 protected:
  void SetUp() override {
    Scratch::SetUp();
    if (!fs::exists(shared_data() / "imdb")) GTEST_SKIP() << "the real files are not in ../shared/data";
    for (const auto& entry : fs::directory_iterator(shared_data()))
      if (entry.is_directory())
        fs::create_directory_symlink(fs::canonical(entry.path()), entry.path().filename());
  }
};

TEST_P(RealData, EveryRecordIsInTheDataSetOrInTheRejects) {
  const std::string dataset = GetParam().dataset;
  const std::string block = block_of(dataset);
  ASSERT_NE(block, "") << "the page has no command for it";
  const Output output = run_script(as_script(block));
  ASSERT_EQ(output.code, 0) << output.err;

  const DatasetInfo info = read_dataset_info(dataset);
  uint64_t records = 0, rows = 0, rejected = 0;
  for (const auto& input : info.inputs) records += input.records;
  for (const auto& split : info.splits) rows += split.rows;
  for (const auto& [reason, count] : info.rejects) rejected += count;
  EXPECT_EQ(records, GetParam().records);
  EXPECT_EQ(rows + rejected, records);
  EXPECT_GT(rows, 0u);
  uint64_t lines = 0;
  if (rejected > 0) {
    const std::string text = read_file(fs::path(dataset) / "rejects.jsonl");
    lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  }
  EXPECT_EQ(lines, rejected);
}

INSTANTIATE_TEST_SUITE_P(Files, RealData, ::testing::ValuesIn(real_files), [](const auto& file) {
  std::string name = file.param.dataset;
  std::erase(name, '-');
  return name;
});

TEST(RealDataPage, EveryDataSetOfThePageIsChecked) {
  std::set<std::string> written, checked;
  for (const auto& block : code_blocks("docs/real-data.md", "sh"))
    for (size_t at = block.find("--out "); at != std::string::npos; at = block.find("--out ", at + 1))
      written.insert(block.substr(at + 6, block.find_first_of(" \n", at + 6) - at - 6));
  for (const auto& file : real_files) checked.insert(file.dataset);
  EXPECT_EQ(written, checked);
}

}  // namespace
}  // namespace paceline
