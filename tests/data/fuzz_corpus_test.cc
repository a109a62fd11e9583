// Everything that fuzzing found worth keeping goes through the same checks with every run of the tests.
#include <gtest/gtest.h>

#include "../fuzz/dataset_target.h"
#include "../fuzz/records_target.h"
#include "../fuzz/wordpiece_target.h"
#include "../scratch.h"
#include "base/files.h"

namespace paceline {
namespace {

void run_corpus(const char* target, const std::function<void(std::string_view)>& check,
                size_t at_least = 12) {
  size_t files = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(PACELINE_SOURCE_DIR) / "tests/fuzz/corpus" / target)) {
    SCOPED_TRACE(entry.path().string());
    check(read_file(entry.path()));
    ++files;
  }
  EXPECT_GE(files, at_least) << "the corpus of " << target << " is gone";
}

TEST(FuzzCorpus, CsvReaderHoldsItsInvariants) { run_corpus("fuzz_csv", check_csv); }
TEST(FuzzCorpus, TsvReaderHoldsItsInvariants) { run_corpus("fuzz_tsv", check_tsv); }
TEST(FuzzCorpus, JsonlReaderHoldsItsInvariants) { run_corpus("fuzz_jsonl", check_jsonl); }
TEST(FuzzCorpus, WordPieceFindsWhatThePlainWayFinds) { run_corpus("fuzz_wordpiece", check_wordpiece); }

class FuzzCorpusInFolder : public Scratch {};
TEST_F(FuzzCorpusInFolder, DatasetReaderHoldsItsInvariants) {
  run_corpus(
      "fuzz_dataset", [&](std::string_view bytes) { check_dataset(bytes, folder); }, 6);
}

}  // namespace
}  // namespace paceline
