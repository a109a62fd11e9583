#include "../scratch.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "data/dataset/hdf5.h"
#include "data/dataset/reader.h"
#include "data/dataset/shard_writer.h"

namespace paceline {
namespace {

class Dataset : public Scratch {
 protected:
  // rows of 0 to 9 tokens, small shards.
  DatasetInfo write_dataset(const fs::path& where, LabelKind labels, uint64_t rows, uint64_t fixed = 0) {
    fs::create_directory(where);
    DatasetInfo info;
    info.labels = labels;
    info.classes = {"a", "b", "c"};
    if (labels == LabelKind::none) info.classes.clear();
    info.tokenizer.vocabulary_size = 50;
    info.fixed_length = fixed;
    SplitWriter writer(where, "train", {labels, info.classes.size(), fixed}, {64, 20});
    RandomStream random({11});
    for (uint64_t r = 0; r < rows; ++r) {
      std::vector<uint32_t> ids(random.below(10));
      for (auto& id : ids) id = static_cast<uint32_t>(random.below(50));
      const uint8_t flags[3] = {static_cast<uint8_t>(r % 2), 0, 1};
      RowView row{ids, static_cast<uint32_t>(r % 3), {}};
      if (labels == LabelKind::multiple) row.labels = flags;
      writer.add(row);
      expected_.push_back(ids);
    }
    info.splits.push_back(writer.finish());
    write_file_atomically(where / "dataset.json", to_json(info).dump());
    return info;
  }
  static std::string problem(const std::function<void()>& action) {
    try {
      action();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  std::vector<std::vector<uint32_t>> expected_;
};

TEST_F(Dataset, RowsComeBackAsWrittenAcrossShards) {
  const auto written = write_dataset(folder / "d", LabelKind::single, 100);
  EXPECT_GT(written.splits[0].shards.size(), 4u);
  const auto info = read_dataset_info(folder / "d");
  SplitReader reader(folder / "d", info, "train");
  ASSERT_EQ(reader.rows(), 100u);
  for (uint64_t first : {0u, 7u, 55u})
    for (uint64_t count : {1u, 30u, 45u}) {
      Rows rows;
      reader.read(first, count, rows);
      ASSERT_EQ(rows.size(), count);
      for (uint64_t i = 0; i < count; ++i) {
        EXPECT_TRUE(std::ranges::equal(rows.row(i), expected_[first + i]));
        EXPECT_EQ(rows.labels[i], (first + i) % 3);
      }
    }
}

TEST_F(Dataset, SeveralLabelsAndFixedMatrixComeBack) {
  write_dataset(folder / "d", LabelKind::multiple, 30, 4);
  const auto info = read_dataset_info(folder / "d");
  EXPECT_EQ(info.splits[0].class_rows, (std::vector<uint64_t>{15, 0, 30}));
  SplitReader reader(folder / "d", info, "train");
  Rows rows;
  reader.read(0, 30, rows);
  EXPECT_EQ(rows.flags[3], 1);
  const fs::path path = folder / "d" / info.splits[0].shards[0].file;
  const uint64_t n = info.splits[0].shards[0].rows;
  Hdf5Array fixed(open_hdf5(path), path, "fixed", H5T_NATIVE_UINT32, n, 4);
  std::vector<uint32_t> values(n * 4);
  fixed.read(0, n, values.data());
  for (uint64_t r = 0; r < n; ++r)
    for (size_t j = 0; j < 4; ++j)
      EXPECT_EQ(values[r * 4 + j], j < expected_[r].size() ? expected_[r][j] : 0u);
}

TEST_F(Dataset, EqualRowsGiveEqualBytes) {
  const auto first = write_dataset(folder / "a", LabelKind::single, 60);
  const auto second = write_dataset(folder / "b", LabelKind::single, 60);
  ASSERT_EQ(first.splits[0].shards.size(), second.splits[0].shards.size());
  for (const auto& shard : first.splits[0].shards)
    EXPECT_EQ(file_checksum(folder / "a" / shard.file), file_checksum(folder / "b" / shard.file));
  EXPECT_EQ(first.fingerprint(), second.fingerprint());
}

TEST_F(Dataset, DamagedShardsAreNamedAndNotBelieved) {
  const auto info = write_dataset(folder / "d", LabelKind::single, 40);
  const fs::path path = folder / "d" / info.splits[0].shards[0].file;
  auto poke = [&](const char* name, hid_t type, uint64_t index, uint64_t value) {
    Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    Hdf5Id array(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
    Hdf5Id space(H5Dget_space(array), H5Sclose);
    const hsize_t start[1] = {index}, count[1] = {1};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
    Hdf5Id memory(H5Screate_simple(1, count, nullptr), H5Sclose);
    ASSERT_GE(H5Dwrite(array, type, memory, space, H5P_DEFAULT, &value), 0);
  };
  auto read_all = [&] {
    return problem([&] {
      SplitReader reader(folder / "d", info, "train");
      Rows rows;
      reader.read(0, 40, rows);
    });
  };
  EXPECT_EQ(read_all(), "no error");
  poke("ids", H5T_NATIVE_UINT64, 3, 50);
  EXPECT_NE(read_all().find("beyond the vocabulary"), std::string::npos);
  poke("ids", H5T_NATIVE_UINT64, 3, 1);
  poke("labels", H5T_NATIVE_UINT64, 2, 3);
  EXPECT_NE(read_all().find("3 classes"), std::string::npos);
  poke("labels", H5T_NATIVE_UINT64, 2, 0);
  poke("offsets", H5T_NATIVE_UINT64, 2, 1u << 30);
  EXPECT_NE(read_all().find("damaged"), std::string::npos);
  poke("offsets", H5T_NATIVE_UINT64, 2, uint64_t{1} << 63);
  EXPECT_NE(read_all().find("damaged"), std::string::npos);
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_NE(read_all(), "no error");
  fs::remove(path);
  EXPECT_NE(read_all().find("missing"), std::string::npos);
}

TEST_F(Dataset, AChangedDatasetJsonIsRefused) {
  const auto info = write_dataset(folder / "d", LabelKind::single, 40);
  const std::string good = read_file(folder / "d" / "dataset.json");
  auto with = [&](const std::function<void(nlohmann::json&)>& change) {
    auto value = nlohmann::json::parse(good);
    change(value);
    write("d/dataset.json", value.dump());
    return problem([&] { read_dataset_info(folder / "d"); });
  };
  EXPECT_EQ(with([](auto&) {}), "no error");
  EXPECT_NE(with([](auto& v) { v["version"] = 2; }).find("version 2"), std::string::npos);
  EXPECT_NE(with([](auto& v) { v["splits"][0]["rows"] = 41; }).find("41"), std::string::npos);
  EXPECT_NE(with([](auto& v) { v["splits"][0]["rows"] = -1; }).find("not a count"), std::string::npos);
  EXPECT_NE(with([](auto& v) { v["splits"][0]["shards"][0]["file"] = "../x.h5"; }).find("../x.h5"),
            std::string::npos);
  EXPECT_NE(with([](auto& v) { v["tokenizer"]["vocabulary_size"] = 1000; }).find("fingerprint"),
            std::string::npos);
  EXPECT_NE(with([](auto& v) { v.erase("classes"); }).find("classes"), std::string::npos);
  EXPECT_NE(with([](auto& v) { v["format"] = "other"; }).find("not of a Paceline data set"),
            std::string::npos);
  write("d/dataset.json", "{");
  EXPECT_NE(problem([&] { read_dataset_info(folder / "d"); }).find("dataset.json"), std::string::npos);
}

TEST_F(Dataset, AnEmptySplitSaysWhatThereIs) {
  write_dataset(folder / "d", LabelKind::single, 10);
  const auto info = read_dataset_info(folder / "d");
  EXPECT_NE(problem([&] { SplitReader(folder / "d", info, "test"); }).find("there is train"),
            std::string::npos);
}

}  // namespace
}  // namespace paceline
