// Data sets of strangers: checked before being believed.
#include <fstream>

#include "data/dataset/hdf5.h"
#include "program.h"

namespace paceline {
namespace {

class BadDataset : public Scratch {
 protected:
  void SetUp() override {
    Scratch::SetUp();
    fs::copy(tiny_data(), "data", fs::copy_options::recursive);
  }
  // Overwrites one value of an array of a shard; negative: counted from its end.
  template <typename T>
  static void poke(const char* shard, const char* array, int64_t index, T value, hid_t type) {
    Hdf5Id file(H5Fopen(shard, H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    Hdf5Id dataset(H5Dopen2(file, array, H5P_DEFAULT), H5Dclose);
    Hdf5Id space(H5Dget_space(dataset), H5Sclose);
    const int64_t size = H5Sget_simple_extent_npoints(space);
    const hsize_t start[1] = {static_cast<hsize_t>(index < 0 ? size + index : index)}, one[1] = {1};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, one, nullptr);
    Hdf5Id memory(H5Screate_simple(1, one, nullptr), H5Sclose);
    ASSERT_GE(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, &value), 0);
  }
  static void replace(const fs::path& path, const std::string& from, const std::string& to) {
    std::string text = read_file(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_file_atomically(path, text.replace(at, from.size(), to));
  }
  void train_refuses(const Words& parts) { refuses({"train", "--data", "data", "--out", "run"}, parts); }
  void evaluate_refuses(const Words& parts) { refuses({"evaluate", tiny_run(), "--data", "data"}, parts); }
};

TEST_F(BadDataset, OfAnotherVersionIsOneSentence) {
  replace("data/dataset.json", "\"version\": 1", "\"version\": 99");
  train_refuses({"data/dataset.json", "version 99", "reads version 1"});
  evaluate_refuses({"data/dataset.json", "version 99"});
  refuses({"inspect", "data"}, {"data/dataset.json", "version 99"});
}

TEST_F(BadDataset, ThatIsNoJsonIsOneSentence) {
  write("data/dataset.json", "{\"format\": \"paceline-dataset\",\n");
  train_refuses({"data/dataset.json"});
  write("data/dataset.json", std::string(100000, '['));
  train_refuses({"data/dataset.json"});
  write("data/dataset.json", "{\"format\": \"paceline-dataset\", \"version\": \"1\"}");
  train_refuses({"data/dataset.json"});
}

TEST_F(BadDataset, WhoseCountsWereChangedIsOneSentence) {
  replace("data/dataset.json", "\"rows\": ", "\"rows\": 1");
  train_refuses({"data/dataset.json"});
}

TEST_F(BadDataset, ThatNamesFilesElsewhereIsOneSentence) {
  replace("data/dataset.json", "train-00000.h5", "../train-00000.h5");
  train_refuses({"data/dataset.json", "../train-00000.h5"});
}

TEST_F(BadDataset, OffsetsThatFallAreOneSentence) {
  poke<uint64_t>("data/train-00000.h5", "offsets", 5, 1, H5T_NATIVE_UINT64);
  poke<uint64_t>("data/test-00000.h5", "offsets", -2, 1, H5T_NATIVE_UINT64);
  train_refuses({"data/train-00000.h5", "row 4", "damaged"});
  evaluate_refuses({"data/test-00000.h5", "damaged"});
}

TEST_F(BadDataset, OffsetsBeyondTheTokensAreOneSentence) {
  poke<uint64_t>("data/train-00000.h5", "offsets", -1, uint64_t{1} << 60, H5T_NATIVE_UINT64);
  poke<uint64_t>("data/test-00000.h5", "offsets", -1, 1000000, H5T_NATIVE_UINT64);
  train_refuses({"data/train-00000.h5", "damaged"});
  evaluate_refuses({"data/test-00000.h5", "token 1000000", "damaged"});
}

TEST_F(BadDataset, IdsBeyondTheVocabularyAreOneSentence) {
  poke<uint32_t>("data/train-00000.h5", "ids", 7, 4000000000u, H5T_NATIVE_UINT32);
  poke<uint32_t>("data/test-00000.h5", "ids", -1, 50000, H5T_NATIVE_UINT32);
  train_refuses({"data/train-00000.h5", "id 4000000000", "beyond the vocabulary", "damaged"});
  evaluate_refuses({"data/test-00000.h5", "id 50000", "damaged"});
  refuses({"inspect", "data", "--rows", "1000", "--split", "test"}, {"data/test-00000.h5", "id 50000"});
}

TEST_F(BadDataset, LabelsBeyondTheClassesAreOneSentence) {
  poke<uint32_t>("data/train-00000.h5", "labels", 0, 2, H5T_NATIVE_UINT32);
  train_refuses({"data/train-00000.h5", "label 2", "2 classes", "damaged"});
}

TEST_F(BadDataset, ShardThatIsCutOrMissingOrSomethingElseIsOneSentence) {
  fs::resize_file("data/train-00000.h5", fs::file_size("data/train-00000.h5") / 2);
  train_refuses({"data/train-00000.h5"});
  write("data/train-00000.h5", "this is no HDF5 file");
  train_refuses({"data/train-00000.h5", "not a readable HDF5 file"});
  fs::remove("data/train-00000.h5");
  train_refuses({"data/train-00000.h5", "missing"});
  fs::copy("data/test-00000.h5", "data/train-00000.h5");
  train_refuses({"data/train-00000.h5", "dataset.json says"});
}

TEST_F(BadDataset, SplitThatIsEmptyIsOneSentence) {
  write("few.csv", "text,label\ngood one,1\nbad one,0\n");
  ASSERT_EQ(run({"prepare", "--input", "few.csv", "--label", "label", "--test-share", "0", "--valid-share",
                 "0", "--out", "few"})
                .code,
            0);
  ASSERT_EQ(run({"train", "--data", "few", "--out", "run", "--buckets", "10"}).code, 0);
  refuses({"evaluate", "run", "--data", "few"}, {"few", "'test'", "there is train"});
}

TEST_F(BadDataset, WithoutLabelsCannotBeTrainedOn) {
  write("text.txt", "one line\nanother line\n");
  ASSERT_EQ(run({"prepare", "--input", "text.txt", "--format", "text", "--out", "plain"}).code, 0);
  refuses({"train", "--data", "plain", "--out", "run"}, {"plain", "no labels", "--label"});
}

TEST_F(BadDataset, OfOtherClassesOrWordsThanTheModelsIsOneSentence) {
  write("other.csv", "text,label\ngood one,yes\nbad one,no\ngood two,yes\nbad two,no\n");
  const Words base = {"prepare", "--input", "other.csv", "--test", "other.csv"};
  auto with = [&](Words more) {
    more.insert(more.begin(), base.begin(), base.end());
    return run(more).code;
  };
  ASSERT_EQ(with({"--label", "label", "--out", "other"}), 0);
  ASSERT_EQ(with({"--label", "label==yes:positive,label==no:negative", "--out", "words"}), 0);
  refuses({"evaluate", tiny_run(), "--data", "other"}, {"other", "classes", "negative, positive"});
  refuses({"evaluate", tiny_run(), "--data", "words"}, {"words", "vocabulary", "--tokenizer-from"});
}

TEST_F(BadDataset, WrongClassWeightsAreOneSentence) {
  auto weights = [&](const char* text) {
    return Words{"train", "--data", "data", "--out", "run", "--class-weights", text};
  };
  refuses(weights("1,2,3"), {"--class-weights", "3 numbers for 2 classes"});
  refuses(weights("heavy"), {"--class-weights", "heavy"});
  refuses(weights("1,-2"), {"--class-weights", "-2"});
}

}  // namespace
}  // namespace paceline
