// A disk that fills up: exit 1, one sentence, and nothing half-written.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "program.h"

namespace paceline {
namespace {

class FullDisk : public Scratch {
 protected:
  struct Result {
    std::string skip;  // why there is no small disk here
    Output output;
    Words left;  // what is on the disk afterwards
  };

  // Runs the program in a process of its own that sees a disk of this size at disk/.
  static Result on_small_disk(const std::string& size, const Words& arguments) {
    fs::create_directory("disk");
    int channel[2];
    if (pipe(channel) != 0) return {"no pipe", {}, {}};
    const pid_t pid = fork();
    if (pid == 0) {
      nlohmann::json answer;
      if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
          mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          mount("tmpfs", "disk", "tmpfs", 0, ("size=" + size).c_str()) != 0) {
        answer = {{"skip", std::strerror(errno)}};
      } else {
        const Output output = run(arguments);
        fs::current_path("disk");
        answer = {{"code", output.code}, {"out", output.out}, {"err", output.err}, {"left", names()}};
      }
      const std::string text = answer.dump();
      _exit(::write(channel[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(channel[1]);
    std::string text;
    char part[4096];
    for (ssize_t n; (n = read(channel[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
    ::close(channel[0]);
    waitpid(pid, nullptr, 0);
    const auto answer = nlohmann::json::parse(text);
    if (answer.contains("skip")) return {answer.at("skip"), {}, {}};
    return {"", {answer.at("code"), answer.at("out"), answer.at("err"), 0}, answer.at("left")};
  }
};

#define SKIP_WITHOUT_DISK(result) \
  if (!(result).skip.empty()) GTEST_SKIP() << "a small disk cannot be mounted here: " << (result).skip

TEST_F(FullDisk, PrepareSaysSoAndLeavesNothing) {
  const Result result = on_small_disk("500k", prepare_reviews(tiny_reviews(), "disk/out"));
  SKIP_WITHOUT_DISK(result);
  EXPECT_TRUE(is_one_sentence(result.output, 1, {"disk/", "No space left on device", "--out"}));
  EXPECT_EQ(result.left, Words{});
}

TEST_F(FullDisk, PrepareThatFailsInAShardSaysSoAndLeavesNothing) {
  const Result result =
      on_small_disk("4m", prepare_reviews(tiny_reviews(), "disk/out", {"--fixed-length", "2000"}));
  SKIP_WITHOUT_DISK(result);
  EXPECT_TRUE(is_one_sentence(result.output, 1, {"disk/", ".h5", "No space left on device"}));
  EXPECT_EQ(result.left, Words{});
}

TEST_F(FullDisk, GenerateSaysSoAndLeavesNothing) {
  const Result result =
      on_small_disk("500k", {"generate", "reviews", "--rows", "50000", "--out", "disk/reviews.jsonl"});
  SKIP_WITHOUT_DISK(result);
  EXPECT_TRUE(is_one_sentence(result.output, 1, {"disk/reviews.jsonl", "No space left on device"}));
  EXPECT_EQ(result.left, Words{});
}

// A run keeps its record, which says how it ended, but no half of a model or checkpoint.
TEST_F(FullDisk, TrainSaysSoAndKeepsNoHalfModel) {
  const Result result =
      on_small_disk("2m", {"train", "--data", tiny_data(), "--out", "disk/run", "--buckets", "100000"});
  SKIP_WITHOUT_DISK(result);
  EXPECT_EQ(result.output.code, 1);
  for (const char* part : {"no checkpoint of step", "training goes on", "the best model could not be saved",
                           "disk/run", "No space left on device"})
    EXPECT_TRUE(has(result.output.err, part)) << part << "\n" << result.output.err;
  for (const auto& name : result.left) {
    EXPECT_FALSE(has(name, "partial")) << name;
    EXPECT_FALSE(has(name, "model")) << name;
    EXPECT_FALSE(has(name, "step-")) << name;
  }
}

// There is space for two models, but not for a model and a checkpoint.
TEST_F(FullDisk, TrainGoesOnWithoutCheckpointsAndSaysSo) {
  const Result result = on_small_disk("1000k", {"train", "--data", tiny_data(), "--out", "disk/run", "--dim",
                                                "1", "--buckets", "100000", "--epochs", "3"});
  SKIP_WITHOUT_DISK(result);
  EXPECT_EQ(result.output.code, 0) << result.output.err;
  EXPECT_TRUE(has(result.output.err, "no checkpoint of step")) << result.output.err;
  EXPECT_TRUE(has(result.output.err, "No space left on device")) << result.output.err;
  EXPECT_FALSE(has(result.output.err, "the model")) << result.output.err;
  bool kept = false;
  for (const auto& name : result.left) {
    EXPECT_FALSE(has(name, "partial") || has(name, "step-")) << name;
    kept = kept || name == "./run/model/model.safetensors";
  }
  EXPECT_TRUE(kept);
}

TEST_F(FullDisk, OutputThatCannotBeWrittenIsNoSuccess) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const Output output = run_script("\"$paceline\" --help > /dev/full");
  EXPECT_TRUE(is_one_sentence(output, 1, {"standard output", "No space left on device"}));
}

}  // namespace
}  // namespace paceline
