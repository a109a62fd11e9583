// Models of strangers: numbers are checked against the files before memory is taken or bytes are believed.
#include <nlohmann/json.hpp>

#include "program.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

class SafeModels : public Scratch {
 protected:
  void SetUp() override {
    Scratch::SetUp();
    fs::copy(tiny_run() + "/model", "model", fs::copy_options::recursive);
    const std::string bytes = read_file(weights);
    uint64_t length = 0;
    bytes.copy(reinterpret_cast<char*>(&length), sizeof length);
    header_ = Json::parse(bytes.substr(sizeof length, length));
    data_ = bytes.substr(sizeof length + length);
  }
  static constexpr const char* weights = "model/model.safetensors";

  void write_weights(const std::string& header, uint64_t length) {
    write(weights, std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data_);
  }
  void write_weights(const Json& header) { write_weights(header.dump(), header.dump().size()); }
  void change_config(const char* key, const Json& value) {
    Json config = Json::parse(read_file(tiny_run() + "/model/config.json"));
    config[Json::json_pointer(key)] = value;
    write("model/config.json", config.dump());
  }
  void predict_refuses(const Words& parts) {
    const Words before = names();
    const Output output = run({"predict", "model", "--text", "fine"});
    EXPECT_TRUE(is_one_sentence(output, 2, parts));
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(output.peak_bytes, uint64_t{600} << 20) << "memory was taken before the numbers were checked";
#endif
    EXPECT_EQ(names(), before);
  }
  // Both commands open models by the same code, so evaluate is tried once a test.
  void both_refuse(const Words& parts) {
    predict_refuses(parts);
    refuses({"evaluate", "model", "--data", tiny_data()}, parts);
  }

  Json header_;
  std::string data_;
};

TEST_F(SafeModels, TheUntouchedCopyWorks) {
  write_weights(header_);
  EXPECT_EQ(run({"predict", "model", "--text", "fine"}).code, 0);
}

TEST_F(SafeModels, EmptyFolderIsOneSentence) {
  fs::create_directory("nothing");
  refuses({"predict", "nothing", "--text", "fine"}, {"nothing", "neither a model nor a run"});
  refuses({"evaluate", "nothing", "--data", tiny_data()}, {"nothing", "neither a model nor a run"});
  refuses({"predict", "nowhere", "--text", "fine"}, {"nowhere", "no such model or run"});
}

TEST_F(SafeModels, MissingFilesAreOneSentence) {
  fs::rename("model/vocab.txt", "vocab.txt");
  predict_refuses({"model/vocab.txt"});
  fs::rename("vocab.txt", "model/vocab.txt");
  fs::remove(weights);
  both_refuse({weights, "missing"});
}

TEST_F(SafeModels, ConfigThatDoesNotFitTheWeightsIsOneSentence) {
  change_config("/dim", 11);
  both_refuse({"model.safetensors"});
  change_config("/dim", 9);
  predict_refuses({"model.safetensors", "embedding.weight"});
  change_config("/buckets", 1001);
  predict_refuses({"model.safetensors"});
  change_config("/classes", {"negative", "positive", "neutral"});
  predict_refuses({"model.safetensors", "output.weight"});
}

TEST_F(SafeModels, ImpossibleNumbersInTheConfigTakeNoMemory) {
  change_config("/buckets", uint64_t{1} << 28);
  both_refuse({"model.safetensors"});
  change_config("/buckets", uint64_t{1} << 62);
  predict_refuses({"model/config.json", "buckets"});
  change_config("/dim", -1);
  predict_refuses({"model/config.json", "dim"});
  change_config("/dim", "ten");
  predict_refuses({"model/config.json", "dim"});
  change_config("/tokenizer/vocabulary_size", uint64_t{1} << 60);
  predict_refuses({"model/config.json", "vocabulary"});
  change_config("/classes", Json::array());
  predict_refuses({"model/config.json", "classes"});
}

TEST_F(SafeModels, ConfigOfAnotherKindOrVersionIsOneSentence) {
  change_config("/version", 99);
  both_refuse({"model/config.json", "version 99"});
  change_config("/model", "oracle");
  predict_refuses({"model/config.json", "'oracle'"});
  change_config("/format", "something");
  predict_refuses({"model/config.json"});
  write("model/config.json", "{");
  predict_refuses({"model/config.json"});
  write("model/config.json", "[1]");
  predict_refuses({"model/config.json"});
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  write("model/config.json", R"({"format":"paceline-model","version":)" + deep + "}");
  predict_refuses({"model/config.json", "deep"});
}

TEST_F(SafeModels, VocabularyElsewhereIsNotRead) {
  change_config("/tokenizer/vocabulary", "../secret.txt");
  predict_refuses({"model/config.json", "../secret.txt"});
}

TEST_F(SafeModels, TruncatedWeightsAreOneSentence) {
  fs::resize_file(weights, fs::file_size(weights) - 4);
  both_refuse({weights});
  fs::resize_file(weights, 100);
  predict_refuses({weights});
  fs::resize_file(weights, 5);
  predict_refuses({weights});
  fs::resize_file(weights, 0);
  predict_refuses({weights});
}

TEST_F(SafeModels, WeightsWithBytesBehindThemAreOneSentence) {
  data_ += "more";
  write_weights(header_);
  both_refuse({weights, "damaged"});
}

TEST_F(SafeModels, HugeHeaderLengthTakesNoMemory) {
  for (const uint64_t length : {uint64_t{1} << 62, UINT64_MAX, UINT64_MAX - 7, uint64_t{99} << 20}) {
    write_weights(header_.dump(), length);
    predict_refuses({weights, "header"});
  }
}

TEST_F(SafeModels, OffsetsOutOfRangeAreOneSentence) {
  Json header = header_;
  const uint64_t end = header["output.bias"]["data_offsets"][1];
  header["output.bias"]["data_offsets"] = {end, end + 8};
  write_weights(header);
  both_refuse({weights, "output.bias"});
  header["output.bias"]["data_offsets"] = {UINT64_MAX - 7, UINT64_MAX};
  write_weights(header);
  predict_refuses({weights, "output.bias"});
  header["output.bias"]["data_offsets"] = {end, end - 8};
  write_weights(header);
  predict_refuses({weights, "output.bias"});
  header["output.bias"]["data_offsets"] = {-8, 0};
  write_weights(header);
  predict_refuses({weights, "output.bias"});
}

TEST_F(SafeModels, OverlappingTensorsAreOneSentence) {
  Json header = header_;
  header["output.bias"]["data_offsets"] = {0, 8};
  write_weights(header);
  both_refuse({weights, "overlap"});
}

TEST_F(SafeModels, ImpossibleShapesAreOneSentence) {
  Json header = header_;
  header["output.bias"]["shape"] = {uint64_t{1} << 62, 4};
  write_weights(header);
  both_refuse({weights, "output.bias"});
  header["output.bias"]["shape"] = {-2};
  write_weights(header);
  predict_refuses({weights, "output.bias"});
  header["output.bias"]["shape"] = "two";
  write_weights(header);
  predict_refuses({weights});
}

TEST_F(SafeModels, WeightsOfAnotherTypeOrNameAreOneSentence) {
  Json header = header_;
  header["output.bias"]["dtype"] = "F16";  // half as many bytes as are there
  write_weights(header);
  both_refuse({weights, "output.bias", "F16"});
  header["output.bias"]["dtype"] = "I32";
  write_weights(header);
  predict_refuses({weights, "output.bias", "I32", "F32"});
  header["output.bias"]["dtype"] = "F31";
  write_weights(header);
  predict_refuses({weights, "output.bias", "F31"});
  header = header_;
  header["other.bias"] = header["output.bias"];
  header.erase("output.bias");
  write_weights(header);
  predict_refuses({weights, "no tensor 'output.bias'"});
  write_weights("[]", 2);
  predict_refuses({weights});
  write_weights(std::string(100000, '['), 100000);
  predict_refuses({weights});
}

TEST_F(SafeModels, NamesThatOccurTwiceAreOneSentence) {
  const std::string header = header_.dump();
  const std::string twice =
      header.substr(0, header.size() - 1) + ",\"output.bias\":" + header_["output.bias"].dump() + "}";
  write_weights(twice, twice.size());
  predict_refuses({weights, "'output.bias' twice"});
}

TEST_F(SafeModels, VocabularyOfAnotherModelIsOneSentence) {
  std::string words = read_file("model/vocab.txt");
  write("model/vocab.txt", words + "onemore\n");
  predict_refuses({"model", "vocabulary"});
  words[words.size() - 2] = words[words.size() - 2] == 'x' ? 'y' : 'x';
  write("model/vocab.txt", words);
  predict_refuses({"model/vocab.txt", "not the one"});
  write("model/vocab.txt", "");
  predict_refuses({"model/vocab.txt"});
}

}  // namespace
}  // namespace paceline
