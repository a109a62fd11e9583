// The bytes of what is made depend on the input, the configuration and the seed, never on the executors.
#include <zlib.h>

#include <map>

#include "program.h"

namespace paceline {
namespace {

class SameBits : public Scratch {
 protected:
  static std::map<std::string, std::string> files_of(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        files[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
    return files;
  }
  static void run_well(Words arguments) {
    const Output output = run(std::move(arguments));
    ASSERT_EQ(output.code, 0) << output.err;
  }
  static std::string weights(const std::string& run_folder) {
    return read_file(run_folder + "/model/model.safetensors");
  }

  // Trains with 1, 2 and 3 executors; all models must have the same bytes, which it returns.
  static std::string train(const std::string& data, const std::string& name, Words more) {
    for (const std::string executors : {"1", "2", "3"}) {
      Words all = {"train",     "--data", data,       "--out", name + executors, "--executors", executors,
                   "--buckets", "5000",   "--epochs", "2"};
      all.insert(all.end(), more.begin(), more.end());
      run_well(all);
    }
    std::string bytes = weights(name + "1");
    EXPECT_TRUE(bytes == weights(name + "2")) << name << ": two executors differ from one";
    EXPECT_TRUE(bytes == weights(name + "3")) << name << ": three executors differ from one";
    EXPECT_EQ(files_of(name + "1/model"), files_of(name + "3/model"));
    return bytes;
  }
};

TEST_F(SameBits, TrainingDoesNotDependOnExecutors) {
  const std::string& data = tiny_data();
  const std::string plain = train(data, "plain", {});
  const std::string seeded = train(data, "seeded", {"--seed", "99"});
  EXPECT_FALSE(plain == seeded) << "the seed changes nothing";
  train(data, "grains", {"--batch-size", "50", "--grain-size", "7", "--ngrams", "3", "--dim", "17"});
}

TEST_F(SameBits, AnLstmDoesNotDependOnExecutors) {
  const Words small = {"--model",  "lstm", "--embedding",         "16",
                       "--hidden", "24",   "--recurrent-dropout", "0.1"};
  const std::vector<Words> kinds = {{"--cell", "lstm"},
                                    {"--cell", "gru", "--bidirectional", "--seed", "2"},
                                    {"--cell", "lstm", "--layers", "2", "--ema", "0.9", "--seed", "3"}};
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    std::string first;
    for (const std::string executors : {"1", "2", "3", "5"}) {
      const std::string out = fmt::format("lstm{}-{}", kind, executors);
      Words all = {"train", "--data", tiny_data(), "--out", out, "--executors", executors, "--steps", "25"};
      all.insert(all.end(), small.begin(), small.end());
      all.insert(all.end(), kinds[kind].begin(), kinds[kind].end());
      run_well(all);
      if (first.empty()) first = weights(out);
      EXPECT_TRUE(first == weights(out)) << executors << " executors differ from one: " << kinds[kind][1];
    }
  }
}

TEST_F(SameBits, TrainingWithClassWeightsDoesNotDependOnExecutors) {
  const std::string& data = tiny_data();
  const std::string balanced = train(data, "balanced", {"--class-weights", "balanced"});
  const std::string given = train(data, "given", {"--class-weights", "3.5,1", "--seed", "4"});
  EXPECT_FALSE(balanced == given);
}

TEST_F(SameBits, MultiLabelTrainingDoesNotDependOnExecutors) {
  std::string rows = "text,toxic,insult,threat\n";
  for (int i = 0; i < 400; ++i)
    rows +=
        fmt::format("word{} word{} word{},{},{},{}\n", i % 7, i % 11, i % 13, i % 2, i % 3 == 0, i % 5 == 0);
  write("rows.csv", rows);
  run_well({"prepare", "--input", "rows.csv", "--label", "toxic,insult,threat", "--out", "data"});
  train("data", "multi", {});
  train("data", "balanced", {"--class-weights", "balanced", "--seed", "2"});
}

TEST_F(SameBits, TrainingAgainGivesTheSameBytes) {
  for (const std::string name : {"once", "again"})
    run_well({"train", "--data", tiny_data(), "--out", name, "--buckets", "1000"});
  EXPECT_TRUE(weights("once") == weights("again"));
}

TEST_F(SameBits, PrepareDoesNotDependOnExecutors) {
  run_well({"generate", "reviews", "--rows", "20000", "--length", "3-40", "--out", "reviews.jsonl"});
  const Words more[] = {{"--deduplicate"}, {"--fixed-length", "16", "--vocabulary-size", "500"}};
  for (const auto& options : more) {
    for (const std::string executors : {"1", "2", "3"}) {
      Words all = prepare_reviews("reviews.jsonl", "data" + executors, options);
      all.insert(all.end(), {"--executors", executors});
      run_well(all);
    }
    const auto one = files_of("data1");
    EXPECT_GE(one.size(), 5u);
    EXPECT_TRUE(one == files_of("data2")) << "two executors differ from one";
    EXPECT_TRUE(one == files_of("data3")) << "three executors differ from one";
    for (const char* folder : {"data1", "data2", "data3"}) fs::remove_all(folder);
  }
}

TEST_F(SameBits, PrepareFromGzipIsAsFromPlain) {
  const std::string bytes = read_file(tiny_reviews());
  fs::create_directory("packed");
  gzFile file = gzopen("packed/reviews.jsonl", "wb");
  ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  gzclose(file);
  write("reviews.jsonl", bytes);
  run_well(prepare_reviews("reviews.jsonl", "data"));
  run_well(prepare_reviews("packed/reviews.jsonl", "packed-data"));
  auto plain = files_of("data"), packed = files_of("packed-data");
  // dataset.json records how the file was named.
  EXPECT_TRUE(has(packed.at("dataset.json"), "packed/reviews.jsonl"));
  plain.erase("dataset.json");
  packed.erase("dataset.json");
  EXPECT_TRUE(plain == packed);
}

TEST_F(SameBits, GenerateDoesNotDependOnExecutors) {
  for (const std::string executors : {"1", "2", "3"}) {
    fs::create_directory(executors);
    run_well({"generate", "reviews", "--rows", "20000", "--seed", "3", "--executors", executors, "--out",
              executors + "/reviews.csv"});
  }
  EXPECT_TRUE(files_of("1") == files_of("2"));
  EXPECT_TRUE(files_of("1") == files_of("3"));
  run_well({"generate", "reviews", "--rows", "20000", "--seed", "4", "--out", "other.csv"});
  EXPECT_FALSE(read_file("1/reviews.csv") == read_file("other.csv")) << "the seed changes nothing";
}

TEST_F(SameBits, ScoresDoNotDependOnExecutors) {
  Words outs;
  for (const std::string executors : {"1", "2", "3"}) {
    const Output output = run({"evaluate", tiny_run(), "--data", tiny_data(), "--split", "train",
                               "--executors", executors, "--json"});
    ASSERT_EQ(output.code, 0) << output.err;
    outs.push_back(output.out);
  }
  EXPECT_EQ(outs[0], outs[1]);
  EXPECT_EQ(outs[0], outs[2]);
}

}  // namespace
}  // namespace paceline
