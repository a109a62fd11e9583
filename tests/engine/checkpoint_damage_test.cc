// Checkpoints that were damaged, cut or made up: refused by name, never believed.
#include "checkpoint_fixture.h"
#include "engine/checkpoint/manifest.h"

namespace paceline {
namespace {

class DamagedCheckpoint : public CheckpointScratch {
 protected:
  DamagedCheckpoint() {
    CheckpointWriter writer(folder, 2);
    save_now(writer, 1);
    save_now(writer, 2, {"accuracy"});
    good_fields_ = nlohmann::ordered_json::parse(read_file(newest_ / manifest_file));
    good_fields_.erase("checksum");
  }
  void seal_manifest(const nlohmann::ordered_json& fields) const {
    write("step-2/manifest.json", sealed(fields));
  }
  // The checkpoint is refused with this text, and the one before it is used.
  void expect_refused(std::string_view part) const {
    EXPECT_TRUE(says(refusal(newest_), part)) << refusal(newest_);
    std::vector<std::string> problems;
    const auto used = open_newest_checkpoint(folder, problems);
    ASSERT_TRUE(used);
    EXPECT_TRUE(holds(*used, 1));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_TRUE(says(problems[0], part)) << problems[0];
  }
  const fs::path newest_ = step_folder(2);
  nlohmann::ordered_json good_fields_;  // of its manifest, as it was saved
};

constexpr const char* all_files[] = {manifest_file, state_file, tensors_file};

TEST_F(DamagedCheckpoint, AFlippedBitInAnyByteIsFoundAndItsFileNamed) {
  for (const char* name : all_files) {
    const std::string good = read_file(newest_ / name);
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
      write(fmt::format("step-2/{}", name), bad);
      EXPECT_EQ(refusal(newest_), (newest_ / name).string() + ": damaged (its checksum does not fit)") << at;
    }
    write(fmt::format("step-2/{}", name), good);
  }
  EXPECT_TRUE(holds(open_checkpoint(newest_), 2));
}

TEST_F(DamagedCheckpoint, ADamagedOneIsNamedAndTheOneBeforeIsUsed) {
  for (const char* name : all_files) {
    const std::string good = read_file(newest_ / name);
    for (size_t at : {size_t{0}, good.size() / 2, good.size() - 1}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 4);
      write(fmt::format("step-2/{}", name), bad);
      expect_refused(fmt::format("step-2/{}: damaged", name));
    }
    write(fmt::format("step-2/{}", name), good);
  }
}

TEST_F(DamagedCheckpoint, ACutFileIsNamed) {
  for (const char* name : all_files) {
    const std::string good = read_file(newest_ / name);
    for (size_t size : {size_t{0}, size_t{1}, good.size() / 2, good.size() - 1}) {
      write(fmt::format("step-2/{}", name), good.substr(0, size));
      expect_refused((newest_ / name).string());
    }
    write(fmt::format("step-2/{}", name), good + "x");
    expect_refused((newest_ / name).string());
    write(fmt::format("step-2/{}", name), good);
  }
}

TEST_F(DamagedCheckpoint, AMissingFileIsNamedAndWithoutManifestItIsNotListed) {
  for (const char* name : all_files) {
    fs::rename(newest_ / name, folder / "aside");
    expect_refused(fmt::format("step-2/{}: missing", name));
    EXPECT_EQ(listed(), name == std::string(manifest_file) ? Steps{1} : (Steps{1, 2}));
    fs::rename(folder / "aside", newest_ / name);
  }
}

TEST_F(DamagedCheckpoint, WhenNoneCanBeReadAllAreNamed) {
  fs::remove(step_folder(1) / state_file);
  fs::remove(step_folder(2) / tensors_file);
  std::vector<std::string> problems;
  EXPECT_FALSE(open_newest_checkpoint(folder, problems));
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_TRUE(says(problems[0], "step-2/state.safetensors")) << problems[0];
  EXPECT_TRUE(says(problems[1], "step-1/state.json")) << problems[1];
}

TEST_F(DamagedCheckpoint, OfANewerVersionItIsRefusedAndNoOlderOneTakesItsPlace) {
  auto newer = good_fields_;
  newer["version"] = 2;
  newer["files"] = "described otherwise";
  seal_manifest(newer);
  const std::string sentence = "checkpoint " + newest_.string() +
                               " is of version 2, this program reads version 1; use a newer program";
  EXPECT_EQ(refusal(newest_), sentence);
  std::vector<std::string> problems;
  try {
    open_newest_checkpoint(folder, problems);
    FAIL() << "an older one was used";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), sentence);
  }
  CheckpointWriter writer(folder, 1);
  save_now(writer, 3);
  EXPECT_TRUE(fs::exists(newest_)) << "what cannot be read is not removed";
}

TEST_F(DamagedCheckpoint, ARenamedFolderIsNotTakenForAnotherStep) {
  fs::rename(newest_, folder / "step-30");
  EXPECT_TRUE(says(refusal(folder / "step-30"), "written for step 2")) << refusal(folder / "step-30");
  EXPECT_EQ(listed(), Steps{1});
  fs::rename(folder / "step-30", folder / "copied");
  EXPECT_EQ(refusal(folder / "copied"), "");
}

TEST_F(DamagedCheckpoint, NamesThatLeadOutOfTheFolderAreRefused) {
  write("outside", "secret");
  for (const char* name :
       {"/etc/passwd", "../outside", "..", ".", "", "a/b", "a\\b", ".hidden", manifest_file}) {
    auto hostile = good_fields_;
    hostile["files"][name] = {{"size", 6}, {"checksum", "xxh3:0"}};
    seal_manifest(hostile);
    expect_refused("it names a file that cannot be part of a checkpoint");
  }
  auto with_zero = good_fields_;
  with_zero["files"][std::string("a\0b", 3)] = {{"size", 6}, {"checksum", "xxh3:0"}};
  seal_manifest(with_zero);
  expect_refused("it names a file that cannot be part of a checkpoint");
}

TEST_F(DamagedCheckpoint, ALinkInPlaceOfAFileIsRefused) {
  fs::rename(newest_ / state_file, folder / "outside");
  fs::create_symlink(folder / "outside", newest_ / state_file);
  expect_refused("step-2/state.json: not a regular file");
  fs::remove(newest_ / state_file);
  fs::create_directory(newest_ / state_file);
  expect_refused("step-2/state.json: not a regular file");
}

TEST_F(DamagedCheckpoint, HugeSizesTakeNoMemory) {
  auto hostile = good_fields_;
  hostile["files"][tensors_file]["size"] = std::numeric_limits<uint64_t>::max();
  seal_manifest(hostile);
  expect_refused("expected 18446744073709551615");
  write("step-2/manifest.json", std::string(max_manifest_bytes + 1, ' '));
  expect_refused("at most 1048576 are expected");
}

TEST_F(DamagedCheckpoint, FieldsOfAnotherTypeAreNamed) {
  const std::pair<const char*, nlohmann::ordered_json> cases[] = {{"format", 1},
                                                                  {"format", "paceline-model"},
                                                                  {"version", "1"},
                                                                  {"version", 1.0},
                                                                  {"version", -1},
                                                                  {"version", 0},
                                                                  {"step", -2},
                                                                  {"step", 1e300},
                                                                  {"step", nullptr},
                                                                  {"best_for", "accuracy"},
                                                                  {"best_for", {1}},
                                                                  {"best_for", {{"a", 1}}},
                                                                  {"files", {"a", "b"}},
                                                                  {"files", nullptr},
                                                                  {"files", {{"state.json", 1}}}};
  for (const auto& [key, value] : cases) {
    auto hostile = good_fields_;
    hostile[key] = value;
    seal_manifest(hostile);
    expect_refused("step-2/manifest.json: not the manifest of a checkpoint: ");
    hostile.erase(key);
    seal_manifest(hostile);
    expect_refused(fmt::format("'{}' is missing", key));
  }
  for (const char* key : {"size", "checksum"}) {
    for (const nlohmann::ordered_json& value : {nlohmann::ordered_json(-1), nlohmann::ordered_json(1.5)}) {
      auto hostile = good_fields_;
      hostile["files"][state_file][key] = value;
      seal_manifest(hostile);
      expect_refused(fmt::format("'{}' is missing or of another type", key));
    }
  }
  auto without = good_fields_;
  without["files"].erase(tensors_file);
  seal_manifest(without);
  expect_refused("'files' lacks state.safetensors");
}

TEST_F(DamagedCheckpoint, ASealedManifestThatIsNoObjectIsRefused) {
  for (const char* text : {"[\n1\n}", "{\n]\n}", "{\"a\":\n}"}) {
    write("step-2/manifest.json", text);
    expect_refused("damaged");
  }
  write("step-2/manifest.json", sealed(nlohmann::ordered_json::array({1, 2})));
  expect_refused("not the manifest of a checkpoint");
}

TEST_F(DamagedCheckpoint, AStateThatIsNoJsonIsNamed) {
  write("step-2/state.json", "{");
  auto changed = good_fields_;
  const auto file = describe_file(state_file, "{");
  changed["files"][state_file] = {{"size", file.size}, {"checksum", file.checksum}};
  seal_manifest(changed);
  expect_refused("step-2/state.json: not usable");
}

TEST_F(DamagedCheckpoint, UnknownFieldsAndFilesInTheFolderAreIgnored) {
  auto extended = good_fields_;
  extended["written_by"] = {{"host", "elsewhere"}};
  seal_manifest(extended);
  write("step-2/notes.txt", "keep this one");
  EXPECT_TRUE(holds(open_checkpoint(newest_), 2));
}

}  // namespace
}  // namespace paceline
