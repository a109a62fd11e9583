#include "engine/train/agreement.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline {
namespace {

TEST(Agreement, WorkersWithTheSameProbeNeedNoRemark) {
  EXPECT_EQ(remark_on_kernels({{"a", "AVX2", 2, 7}, {"b", "AVX3", 4, 7}}, true), "");
  EXPECT_EQ(remark_on_kernels({{"a", "AVX2", 2, 7}}, true), "");
}

TEST(Agreement, AnotherProbeIsToldWithWhatItMeansAndWhatToDo) {
  const std::vector<WorkerFacts> workers = {{"a", "AVX2", 2, 7}, {"a", "AVX2", 2, 7}, {"b", "SSE4", 1, 8}};
  const std::string remark = remark_on_kernels(workers, true);
  for (const char* part : {"worker 2 on b", "SSE4", "worker 0 on a", "AVX2", "depends", "--portable-bits"})
    EXPECT_NE(remark.find(part), std::string::npos) << part << ": " << remark;
  EXPECT_EQ(remark_on_kernels(workers, false).find("--portable-bits"), std::string::npos)
      << "it is on already";
}

TEST(Agreement, AloneAProblemIsThrownAsItIs) {
  const auto alone = make_single_exchange();
  EXPECT_THROW(do_together(*alone, [] { input_error("--x: wrong"); }), InputError);
  EXPECT_THROW(do_together(*alone, [] { work_error("the disk is full"); }), WorkError);
  EXPECT_EQ(share_text(*alone, "text"), "text");
}

}  // namespace
}  // namespace paceline
