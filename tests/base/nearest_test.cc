#include "base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace paceline {
namespace {

TEST(Nearest, DistanceCountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("label", "label"), 0u);
  EXPECT_EQ(edit_distance("lable", "label"), 1u) << "a swap is one edit";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, FindsWhatWasMeantOrNothing) {
  const std::vector<std::string> names = {"reviewText", "overall", "learning-rate", "id"};
  EXPECT_EQ(nearest_name("reviewtext", names), "reviewText");
  EXPECT_EQ(nearest_name("overal", names), "overall");
  EXPECT_EQ(nearest_name("learning_rte", names), "learning-rate");
  EXPECT_EQ(nearest_name("di", names), "id");
  EXPECT_EQ(nearest_name("sentiment", names), "");
  EXPECT_EQ(nearest_name("x", names), "");
  EXPECT_EQ(nearest_name("anything", {}), "");
}

}  // namespace
}  // namespace paceline
