// Everything that fuzzing found worth keeping goes through the same checks with every run of the tests.
#include "../fuzz/weights_target.h"
#include "../scratch.h"

namespace paceline {
namespace {

class WeightsCorpus : public Scratch {
 protected:
  void run(const char* target, void (*check)(std::string_view, const fs::path&)) const {
    size_t files = 0;
    for (const auto& entry :
         fs::directory_iterator(fs::path(PACELINE_SOURCE_DIR) / "tests/fuzz/corpus" / target)) {
      SCOPED_TRACE(entry.path().string());
      check(read_file(entry.path()), folder);
      ++files;
    }
    EXPECT_GE(files, 12u) << "the corpus of " << target << " is gone";
  }
};

TEST_F(WeightsCorpus, SafetensorsReaderHoldsItsInvariants) { run("fuzz_safetensors", check_safetensors); }
TEST_F(WeightsCorpus, TorchFileReaderHoldsItsInvariants) { run("fuzz_torch_file", check_torch_file); }

}  // namespace
}  // namespace paceline
