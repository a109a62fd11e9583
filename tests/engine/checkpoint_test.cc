#include <sys/resource.h>

#include <chrono>
#include <set>

#include "base/hash.h"
#include "checkpoint_fixture.h"
#include "engine/checkpoint/step_folder.h"

namespace paceline {
namespace {

class Checkpoint : public CheckpointScratch {};

TEST_F(Checkpoint, WhatWasSavedIsReadBackAlsoFromRowsWithGaps) {
  const std::vector<float> table = {1, 2, -1, 3, 4, -1, 5, 6, -1};  // rows of 2, 3 apart
  const std::vector<float> moments = {7, 8, 9};
  const float scale = 0.5f;
  CheckpointWriter(folder, 1).save(7, {{"epoch", 3}, {"name", "naïve"}},
                                   {{"table", {3, 2}, table.data(), 3, 2, 3},
                                    {"moments", {3}, moments.data(), 1, 3, 3},
                                    {"column", {3}, table.data() + 1, 3, 1, 3},
                                    {"empty", {0, 4}, nullptr, 0, 4, 4},
                                    {"scale", {}, &scale, 1, 1, 1}},
                                   {});
  const auto checkpoint = open_checkpoint(folder / "step-7");
  EXPECT_EQ(checkpoint.step, 7u);
  EXPECT_EQ(checkpoint.state, (nlohmann::json{{"epoch", 3}, {"name", "naïve"}}));
  std::vector<float> wide(12, 0), three(3);
  checkpoint.tensors.read("table", {3, 2}, wide.data(), 2, 4);
  EXPECT_EQ(wide, (std::vector<float>{1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0}));
  checkpoint.tensors.read("moments", {3}, three.data(), 3, 3);
  EXPECT_EQ(three, moments);
  checkpoint.tensors.read("column", {3}, three.data(), 1, 1);
  EXPECT_EQ(three, (std::vector<float>{2, 4, 6}));
  float found = 0;
  checkpoint.tensors.read("scale", {}, &found, 1, 1);
  EXPECT_EQ(found, scale);
}

TEST_F(Checkpoint, TensorsMayChangeAsSoonAsSaveReturns) {
  constexpr size_t size = 1 << 20;
  CheckpointWriter writer(folder, 10);
  std::vector<float> weights;
  for (uint64_t step = 1; step <= 5; ++step) {
    weights = weights_of(step, size);
    writer.save(step, {{"step", step}}, {{"weight", {size / 2, 2}, weights.data(), size / 2, 2, 2}}, {});
    std::fill(weights.begin(), weights.end(), -1.0f);
  }
  writer.wait();
  EXPECT_FALSE(writer.busy());
  for (uint64_t step = 1; step <= 5; ++step)
    EXPECT_TRUE(holds(open_checkpoint(step_folder(step)), step, size));
}

TEST_F(Checkpoint, SmallerAndLargerSnapshotsFollowEachOther) {
  CheckpointWriter writer(folder, 10);
  for (uint64_t size : {1000, 10, 5000, 4}) {
    EXPECT_EQ(save_now(writer, size, {}, size), "");
    EXPECT_TRUE(holds(open_checkpoint(step_folder(size)), size, size));
  }
}

TEST_F(Checkpoint, TheManifestHasTheChecksumsOfTheFilesAsTheyLieOnDisk) {
  { save_now(*std::make_unique<CheckpointWriter>(folder, 1), 3, {"macro_f1"}); }
  const auto manifest = nlohmann::json::parse(read_file(folder / "step-3/manifest.json"));
  EXPECT_EQ(manifest.at("format"), "paceline-checkpoint");
  EXPECT_EQ(manifest.at("version"), 1);
  EXPECT_EQ(manifest.at("step"), 3);
  EXPECT_EQ(manifest.at("best_for"), nlohmann::json::array({"macro_f1"}));
  ASSERT_EQ(manifest.at("files").size(), 2u);
  for (const auto& [name, file] : manifest.at("files").items()) {
    EXPECT_EQ(file.at("size"), fs::file_size(folder / "step-3" / name)) << name;
    EXPECT_EQ(file.at("checksum"), file_checksum(folder / "step-3" / name)) << name;
  }
}

TEST_F(Checkpoint, StepsAreInTheOrderOfTheirNumbers) {
  CheckpointWriter writer(folder, 10);
  for (uint64_t step : {100, 9, 10}) EXPECT_EQ(save_now(writer, step), "");
  EXPECT_EQ(listed(), (Steps{9, 10, 100}));
  std::vector<std::string> problems;
  EXPECT_TRUE(holds(*open_newest_checkpoint(folder, problems), 100));
  EXPECT_TRUE(problems.empty());
}

TEST_F(Checkpoint, WhereThereIsNoneNothingIsOpenedAndNothingIsWrong) {
  std::vector<std::string> problems;
  EXPECT_FALSE(open_newest_checkpoint(folder, problems));
  EXPECT_FALSE(open_newest_checkpoint(folder / "missing", problems));
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(list_checkpoints(folder / "missing").empty());
}

TEST_F(Checkpoint, TheLatestAreKeptAndOlderOnesGo) {
  CheckpointWriter writer(folder / "deep/er", 3);
  for (uint64_t step = 10; step <= 60; step += 10) EXPECT_EQ(save_now(writer, step), "");
  EXPECT_EQ(listed(folder / "deep/er"), (Steps{40, 50, 60}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "deep/er"), {}), 3);
}

TEST_F(Checkpoint, TheBestForEachMetricStaysUntilABetterOneIsSaved) {
  CheckpointWriter writer(folder, 1);
  save_now(writer, 1, {"macro_f1", "accuracy"});
  save_now(writer, 2, {"accuracy"});
  save_now(writer, 3);
  EXPECT_EQ(listed(), (Steps{1, 2, 3}));
  const auto infos = list_checkpoints(folder);
  EXPECT_EQ(infos[0].best_for, Names{"macro_f1"}) << "step 2 took accuracy";
  EXPECT_EQ(infos[1].best_for, Names{"accuracy"});
  save_now(writer, 4, {"macro_f1"});
  EXPECT_EQ(listed(), (Steps{2, 4}));
  save_now(writer, 5, {"accuracy"});
  EXPECT_EQ(listed(), (Steps{4, 5}));
}

TEST_F(Checkpoint, WhatARunHasSavedCountsAfterItIsResumed) {
  save_now(*std::make_unique<CheckpointWriter>(folder, 2), 1, {"accuracy"});
  save_now(*std::make_unique<CheckpointWriter>(folder, 2), 2);
  save_now(*std::make_unique<CheckpointWriter>(folder, 2), 3);
  save_now(*std::make_unique<CheckpointWriter>(folder, 2), 4);
  EXPECT_EQ(listed(), (Steps{1, 3, 4}));
}

TEST_F(Checkpoint, TheOneJustSavedStaysAndThoseAheadOfItUntilTheyArePassed) {
  CheckpointWriter writer(folder, 1);
  for (uint64_t step : {50, 60, 40, 45}) save_now(writer, step);
  EXPECT_EQ(listed(), (Steps{45, 60}));
  save_now(writer, 60);
  EXPECT_EQ(listed(), Steps{60});
}

TEST_F(Checkpoint, AStepThatIsSavedAgainIsReplaced) {
  CheckpointWriter writer(folder, 2);
  save_now(writer, 1);
  save_now(writer, 2, {}, 10);
  EXPECT_EQ(save_now(writer, 2, {"accuracy"}, 24), "");
  EXPECT_TRUE(holds(open_checkpoint(step_folder(2)), 2, 24));
  EXPECT_EQ(list_checkpoints(folder).back().best_for, Names{"accuracy"});
  EXPECT_EQ(names(), (Names{"step-1", "step-2"}));
  fs::remove(step_folder(2) / "manifest.json");
  EXPECT_EQ(save_now(writer, 2), "") << "a broken one is replaced as well";
  EXPECT_TRUE(holds(open_checkpoint(step_folder(2)), 2));
  EXPECT_EQ(names(), (Names{"step-1", "step-2"}));
}

TEST_F(Checkpoint, WhereNamesCannotBeExchangedAWholeStepIsKeptAndABrokenOneReplaced) {
  save_now(*std::make_unique<CheckpointWriter>(folder, 2), 2, {}, 10);
  save_now(*std::make_unique<CheckpointWriter>(folder / "other", 2), 2, {}, 24);
  const auto stage = [&] { fs::copy(folder / "other/step-2", staging_of(folder, 2)); };
  stage();
  put_in_place(folder, 2, false);
  remove_leftovers(folder);
  EXPECT_TRUE(holds(open_checkpoint(step_folder(2)), 2, 10));
  fs::resize_file(step_folder(2) / "state.safetensors", 20);
  stage();
  put_in_place(folder, 2, false);
  remove_leftovers(folder);
  EXPECT_TRUE(holds(open_checkpoint(step_folder(2)), 2, 24));
  EXPECT_EQ(names(), (Names{"other", "step-2"}));
}

TEST_F(Checkpoint, JunkInTheFolderIsIgnoredAndStays) {
  const Names junk = {".hidden", "step-", "step-007", "step-1.bak", "step-18446744073709551616",
                      "step--1", "step-x"};
  for (const auto& name : junk) fs::create_directory(folder / name);
  write("step-9", "a file");
  CheckpointWriter writer(folder, 1);
  save_now(writer, 1);
  save_now(writer, 2);
  EXPECT_EQ(listed(), Steps{2});
  std::vector<std::string> problems;
  EXPECT_TRUE(holds(*open_newest_checkpoint(folder, problems), 2));
  EXPECT_TRUE(problems.empty());
  for (const auto& name : junk) EXPECT_TRUE(fs::exists(folder / name)) << name;
  EXPECT_TRUE(fs::exists(folder / "step-9"));
}

TEST_F(Checkpoint, LeftoversOfAKilledProcessAreRemoved) {
  for (const char* name : {".step-4.partial", ".step-2.removed"}) {
    fs::create_directory(folder / name);
    write(std::string(name) + "/state.safetensors", "half");
  }
  EXPECT_TRUE(listed().empty());
  CheckpointWriter writer(folder, 1);
  EXPECT_TRUE(names().empty());
}

TEST_F(Checkpoint, AFolderThatAnotherWriterUsesIsRefused) {
  CheckpointWriter writer(folder, 1);
  try {
    CheckpointWriter second(folder, 1);
    FAIL() << "two writers in one folder";
  } catch (const InputError& error) {
    EXPECT_TRUE(says(error.what(), folder.string() + ": another process writes checkpoints there"))
        << error.what();
  }
}

TEST_F(Checkpoint, AFolderThatCannotBeMadeIsRefused) {
  write("file", "");
  try {
    CheckpointWriter writer(folder / "file/checkpoints", 1);
    FAIL() << "a folder inside a file";
  } catch (const InputError& error) {
    EXPECT_TRUE(says(error.what(), "file/checkpoints: cannot be made: Not a directory")) << error.what();
  }
}

TEST_F(Checkpoint, ReportsTellStepBytesAndTimesInOrderAndOnce) {
  CheckpointWriter writer(folder, 5);
  for (uint64_t step : {1, 2, 3}) save(writer, step);
  writer.wait();
  const auto reports = writer.take_reports();
  ASSERT_EQ(reports.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    uint64_t bytes = 0;
    for (const auto& file : fs::directory_iterator(step_folder(i + 1))) bytes += file.file_size();
    EXPECT_EQ(reports[i].step, i + 1);
    EXPECT_EQ(reports[i].bytes, bytes);
    EXPECT_GT(reports[i].copy_seconds, 0);
    EXPECT_GT(reports[i].write_seconds, 0);
    EXPECT_EQ(reports[i].failure + reports[i].warning, "");
  }
  EXPECT_TRUE(writer.take_reports().empty());
}

TEST_F(Checkpoint, TheWriterStepsBackForThreadsThatCompute) {
  if (getpriority(PRIO_PROCESS, 0) >= 10) GTEST_SKIP() << "the tests themselves run at that niceness";
  CheckpointWriter writer(folder, 1);
  save_now(writer, 1);
  std::multiset<std::string> niceness;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "stat");
    std::string line, word;
    std::getline(in, line);
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    for (int field = 3; field <= 19; ++field) fields >> word;
    niceness.insert(word);
  }
  EXPECT_EQ(niceness.count("10"), 1u);
  EXPECT_GE(niceness.size(), 2u);
}

}  // namespace
}  // namespace paceline
