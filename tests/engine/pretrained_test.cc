// Folders in Hugging Face's layout, as they should be and as they should not.
#include "engine/model/pretrained.h"

#include "../refusal.h"
#include "../scratch.h"
#include "engine/model/safetensors.h"

namespace paceline {
namespace {

using Floats = std::vector<float>;
using Named = std::map<std::string, std::pair<std::vector<uint64_t>, Floats>>;

fs::path golden(const std::string& name) {
  return fs::path(PACELINE_SOURCE_DIR "/tests/engine/golden/weights") / name;
}

class Pretrained : public Scratch {
 protected:
  Pretrained() {
    write(
        "config.json",
        R"({"model_type":"bert","vocab_size":7,"hidden_size":4,"num_hidden_layers":1,"num_attention_heads":2,)"
        R"("intermediate_size":6,"max_position_embeddings":5,"type_vocab_size":2,"hidden_act":"gelu"})");
    const SafetensorsReader reader(golden("bert.bin.expected.safetensors"));
    for (const std::string& name : reader.names()) {
      auto& [shape, values] = bert_[name];
      shape = reader.shape(name);
      values.resize(reader.find(name)->elements);
      reader.read(name, shape, values.data());
    }
  }
  void write_weights(const std::string& name, const Named& tensors) const {
    std::vector<TensorView> views;
    for (const auto& [tensor, content] : tensors)
      views.push_back(
          {tensor, content.first, content.second.data(), 1, content.second.size(), content.second.size()});
    write_safetensors(folder / name, views, {});
  }
  // The model with every name changed.
  Named renamed(const std::function<std::string(std::string)>& change) const {
    Named tensors;
    for (const auto& [name, content] : bert_) tensors[change(name)] = content;
    return tensors;
  }
  void expect_bert(const PretrainedWeights& weights) const {
    for (const auto& [name, content] : bert_) {
      ASSERT_TRUE(weights.has(name)) << name;
      EXPECT_EQ(weights.shape(name), content.first);
      Floats values(content.second.size());
      weights.read(name, content.first, values.data());
      EXPECT_EQ(values, content.second) << name;
    }
    EXPECT_FALSE(weights.has("bert.pooler.dense.weight"));
    EXPECT_FALSE(weights.has("classifier.weight"));
  }
  void refuses(std::vector<std::string> parts) const {
    parts.push_back(folder.string());
    EXPECT_TRUE(refused([&] { PretrainedWeights weights(folder); }, parts));
  }
  Named bert_;  // by our names
};

TEST_F(Pretrained, EveryLayoutGivesTheSameValues) {
  write_weights("model.safetensors", bert_);
  expect_bert(PretrainedWeights(folder));
  fs::remove(folder / "model.safetensors");

  fs::copy(golden("bert.bin"), folder / "pytorch_model.bin");  // F16, no prefix, gamma and beta
  const PretrainedWeights old(folder);
  expect_bert(old);
  EXPECT_EQ(old.files(), std::vector<std::string>{"pytorch_model.bin"});
  EXPECT_TRUE(old.has("embeddings.position_ids"));
  fs::rename(folder / "pytorch_model.bin", folder / "pytorch_model-00001-of-00001.bin");

  std::string map;
  for (const std::string& name : old.names())
    map += fmt::format("{}\"{}\":\"pytorch_model-00001-of-00001.bin\"", map.empty() ? "" : ",", name);
  write("pytorch_model.bin.index.json", R"({"metadata":{"total_size":1},"weight_map":{)" + map + "}}");
  expect_bert(PretrainedWeights(folder));
}

TEST_F(Pretrained, ShardsOfSafetensorsAreOneModel) {
  Named halves[2];
  std::string map;
  for (const auto& [name, content] : bert_) {
    const size_t half = map.size() / 40 % 2;
    halves[half][name] = content;
    map +=
        fmt::format("{}\"{}\":\"model-0000{}-of-00002.safetensors\"", map.empty() ? "" : ",", name, half + 1);
  }
  for (size_t half : {0, 1})
    write_weights(fmt::format("model-0000{}-of-00002.safetensors", half + 1), halves[half]);
  write("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
  const PretrainedWeights weights(folder);
  expect_bert(weights);
  EXPECT_EQ(weights.files().size(), 2u);
  fs::remove(folder / "model-00002-of-00002.safetensors");
  refuses({"model-00002-of-00002.safetensors", "missing"});
}

TEST_F(Pretrained, TheUsualVariantsOfNamesAreFound) {
  const auto bare = [](const std::string& name) { return name.substr(5); };
  const auto old = [](std::string name) {
    for (const auto& [now, then] :
         {std::pair("LayerNorm.weight", "LayerNorm.gamma"), std::pair("LayerNorm.bias", "LayerNorm.beta")})
      if (name.ends_with(now))
        name.replace(name.size() - std::string(now).size(), std::string(now).size(), then);
    return name;
  };
  for (const auto& tensors :
       {renamed(bare), renamed(old), renamed([&](const std::string& name) { return old(bare(name)); })}) {
    write_weights("model.safetensors", tensors);
    expect_bert(PretrainedWeights(folder));
  }
}

TEST_F(Pretrained, IndexesThatLeadElsewhereAreRefused) {
  for (const std::string name :
       {"../model.safetensors", "/etc/passwd.safetensors", "a/b.safetensors", "..\\\\x.safetensors", "",
        ".hidden.safetensors", "x.bin", "x.safetensors\\u0000.safetensors", "config.json"}) {
    write("model.safetensors.index.json", R"({"weight_map":{"bert.x":")" + name + "\"}}");
    refuses({"model.safetensors.index.json", "bert.x", "not the name"});
  }
  write("model.safetensors.index.json", R"({"weight_map":{"bert.x":3}})");
  refuses({"bert.x"});
  for (const std::string index :
       {"{}", R"({"weight_map":[]})", R"({"weight_map":{}})", R"({"weight_map":"x"})"}) {
    write("model.safetensors.index.json", index);
    refuses({"index.json", "weight_map"});
  }
  write("model.safetensors.index.json", R"({"weight_map":{"a":"x.safetensors","a":"y.safetensors"}})");
  refuses({"index.json", "'a' twice"});
  write_weights("x.safetensors", bert_);
  write("model.safetensors.index.json", R"({"weight_map":{"not.there":"x.safetensors"}})");
  refuses({"index.json", "not.there", "x.safetensors"});
  write("model.safetensors.index.json", std::string(9 << 20, ' '));
  refuses({"index.json", "bytes"});
}

TEST_F(Pretrained, FoldersWithoutAModelSayWhatIsNeeded) {
  refuses({"no weights", "model.safetensors or pytorch_model.bin"});
  write("tf_model.h5", "x");
  refuses({"tf_model.h5", "not read"});
  write("pytorch_model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n");
  refuses({"pytorch_model.bin", "git lfs pull"});
  for (const std::string config : {"", "[]", "3", "{", "{\"a\":1,\"a\":2}"}) {
    write("config.json", config);
    refuses({"config.json"});
  }
  write("config.json", std::string(500000, '['));
  refuses({"config.json", "deep"});
  fs::remove(folder / "config.json");
  refuses({"no config.json"});
  EXPECT_TRUE(refused([&] { PretrainedWeights weights(folder / "nowhere"); }, {"nowhere"}));
}

TEST_F(Pretrained, ValuesThatAreNotFiniteAreRefused) {
  Named tensors = bert_;
  tensors["bert.embeddings.LayerNorm.weight"].second[2] = NAN;
  write_weights("model.safetensors", tensors);
  const PretrainedWeights weights(folder);
  Floats values(4);
  EXPECT_TRUE(refused([&] { weights.read("bert.embeddings.LayerNorm.weight", {4}, values.data()); },
                      {"model.safetensors", "bert.embeddings.LayerNorm.weight", "nan", "place 2"}));
}

class PretrainedBert : public Pretrained {
 protected:
  // Parameters of a model with these tensors, all of them nines.
  std::vector<Parameter> parameters(const Named& tensors) {
    std::vector<Parameter> all;
    for (const auto& [name, content] : tensors) {
      memory_.emplace_back(content.second.size(), 9.f);
      all.push_back({name, content.first, memory_.back().data()});
    }
    return all;
  }
  std::vector<Floats> memory_;
};

TEST_F(PretrainedBert, WhatIsNotThereIsNewAndTheRestIsLoaded) {
  Named stored = bert_;
  stored["classifier.weight"] = {{3, 4}, Floats(12)};
  write_weights("model.safetensors", stored);
  Named ours = bert_;
  ours["classifier.weight"] = {{2, 4}, Floats(8)};
  ours["bert.pooler.dense.bias"] = {{4}, Floats(4)};
  const std::vector<Parameter> all = parameters(ours);
  const std::vector<NewTensor> fresh = load_pretrained(all, PretrainedWeights(folder));
  ASSERT_EQ(fresh.size(), 2u);
  EXPECT_EQ(fresh[0].name, "bert.pooler.dense.bias");
  EXPECT_EQ(fresh[0].reason, "there is none");
  EXPECT_EQ(fresh[1].name, "classifier.weight");
  EXPECT_EQ(fresh[1].reason, "there it is 3 x 4, here 2 x 4");
  for (const Parameter& parameter : all) {
    const bool is_new = parameter.name == fresh[0].name || parameter.name == fresh[1].name;
    const Floats expected = is_new ? Floats(parameter.size(), 9.f) : bert_[parameter.name].second;
    EXPECT_EQ(Floats(parameter.values, parameter.values + parameter.size()), expected) << parameter.name;
  }
}

TEST_F(PretrainedBert, ALayerThatIsMissingOrOfAnotherShapeIsRefused) {
  Named stored = bert_;
  stored.erase("bert.encoder.layer.0.output.dense.bias");
  write_weights("model.safetensors", stored);
  const std::vector<Parameter> all = parameters(bert_);
  EXPECT_TRUE(refused([&] { load_pretrained(all, PretrainedWeights(folder)); },
                      {"no tensor 'bert.encoder.layer.0.output.dense.bias'"}));
  stored["bert.encoder.layer.0.output.dense.bias"] = {{5}, Floats(5)};
  write_weights("model.safetensors", stored);
  EXPECT_TRUE(refused([&] { load_pretrained(all, PretrainedWeights(folder)); },
                      {"bert.encoder.layer.0.output.dense.bias", "5", "4"}));
}

TEST_F(PretrainedBert, AVocabularyOfAnotherModelNamesBothNumbers) {
  write_weights("model.safetensors", bert_);
  const PretrainedWeights weights(folder);
  EXPECT_TRUE(refused([&] { check_pretrained_vocabulary(weights); }, {"vocab.txt"}));
  for (const std::string text : {"[PAD]\na\nb\nc\nd\ne\nf\n", "[PAD]\na\nb\nc\nd\ne\nf"}) {
    write("vocab.txt", text);
    check_pretrained_vocabulary(weights);
  }
  write("vocab.txt", "[PAD]\na\nb\nc\nd\ne\nf\ng\n");
  EXPECT_TRUE(refused([&] { check_pretrained_vocabulary(weights); }, {"vocab.txt", "8 lines", "7 x 4"}));
}

TEST_F(PretrainedBert, ConfigsOfOtherModelsAreRefused) {
  write_weights("model.safetensors", bert_);
  EXPECT_EQ(pretrained_bert_options(PretrainedWeights(folder)).intermediate, 6u);
  write("config.json", R"({"model_type":"roberta"})");
  EXPECT_TRUE(
      refused([&] { pretrained_bert_options(PretrainedWeights(folder)); }, {"config.json", "roberta"}));
  write("config.json", R"({"model_type":"bert","vocab_size":-1})");
  EXPECT_TRUE(
      refused([&] { pretrained_bert_options(PretrainedWeights(folder)); }, {"config.json", "vocab_size"}));
}

}  // namespace
}  // namespace paceline
