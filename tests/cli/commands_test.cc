// Help, versions, configuration and completion: what every command shares.
#include <nlohmann/json.hpp>
#include <set>

#include "program.h"

namespace paceline {
namespace {

const Words all_commands = {"quickstart", "doctor", "generate", "fetch-model", "prepare",
                            "inspect",    "train",  "evaluate", "predict",     "completion"};

class Commands : public Scratch {
 protected:
  static std::string ask(Words arguments) {
    const Output output = run(std::move(arguments));
    EXPECT_EQ(output.code, 0) << output.err;
    EXPECT_EQ(output.err, "");
    return output.out;
  }
  // The keys that --dump-config prints, in their order.
  static Words keys(const std::string& yaml) {
    Words names;
    for (size_t begin = 0; begin < yaml.size(); begin = yaml.find('\n', begin) + 1)
      names.push_back(yaml.substr(begin, yaml.find(':', begin) - begin));
    return names;
  }
};

TEST_F(Commands, OverviewNamesThemAll) {
  const Output bare = run({});
  EXPECT_EQ(bare.code, 2) << "nothing was asked for, so nothing was done";
  EXPECT_EQ(bare.err, "");
  EXPECT_EQ(bare.out, ask({"--help"}));
  EXPECT_EQ(bare.out, ask({"help"}));
  for (const auto& command : all_commands) EXPECT_TRUE(has(bare.out, "\n  " + command + " ")) << command;
}

TEST_F(Commands, VersionIsOneLine) { EXPECT_EQ(ask({"--version"}), "paceline " PACELINE_VERSION "\n"); }

TEST_F(Commands, HelpMentionsEveryKeyAndItsFlags) {
  for (const auto& command : all_commands) {
    const std::string help = ask({command, "--help"});
    EXPECT_TRUE(help.starts_with("usage: paceline " + command)) << help;
    for (const auto& key : keys(ask({command, "--dump-config"})))
      EXPECT_TRUE(has(help, "--" + key) || has(help.substr(0, help.find('\n')), "|") || key == "path" ||
                  key == "what")
          << command << ": " << key;
    for (const char* flag : {"--config", "--set", "--dump-config", "--help"})
      EXPECT_TRUE(has(help, flag)) << flag;
  }
}

TEST_F(Commands, HelpShowsDefaultsChoicesAndWhatIsRequired) {
  const std::string help = ask({"train", "--help"});
  EXPECT_TRUE(has(help, "--epochs N")) << help;
  EXPECT_TRUE(has(help, "(default: 5)"));
  EXPECT_TRUE(has(help, "--schedule constant|linear"));
  EXPECT_TRUE(has(help, "(required)"));
}

TEST_F(Commands, DumpedConfigurationFedBackIsItself) {
  const Words given[] = {
      {"prepare", "--input", "a b.csv", "c.csv", "--label", "x>=4:\"yes\",x<2:no: \\", "--valid-share",
       "0.125"},
      {"train", "--data", "d", "--out", "r", "--learning-rate", "1e-05", "--epochs", "7", "--class-weights",
       "1,2"},
      {"generate", "reviews", "--rows", "5k", "--length", "3-8"},
      {"generate", "comments", "--rows", "5k", "--toxic", "0.2"},
      {"predict", "m", "--text", "- dash", "# hash", "true", "", "é\ttab\nline", "--details"},
      {"evaluate", "m", "--data", "d", "--baseline"},
      {"quickstart", "--rows", "3000"},
      {"fetch-model", "minilm", "--out", "m"},
      {"doctor", "--quick"},
      {"inspect", "d", "--rows", "3"},
  };
  for (Words arguments : given) {
    const std::string command = arguments[0];
    arguments.push_back("--dump-config");
    const std::string first = ask(arguments);
    write("dumped.yaml", first);
    EXPECT_EQ(ask({command, "--config", "dumped.yaml", "--dump-config"}), first) << command;
    EXPECT_NE(ask({command, "--dump-config"}), first) << command << ": nothing that was given is in it";
  }
}

TEST_F(Commands, FlagBeatsSetBeatsConfigBeatsDefault) {
  write("some.yaml", "epochs: 11\nseed: 12\nbatch-size: 13\n");
  write("later.yaml", "seed: 14\n");
  const std::string yaml = ask({"train", "--epochs", "31", "--config", "some.yaml", "--set", "epochs=21",
                                "--set", "seed=22", "--dump-config"});
  EXPECT_TRUE(has(yaml, "\nepochs: 31\n")) << yaml;
  EXPECT_TRUE(has(yaml, "\nseed: 22\n")) << yaml;
  EXPECT_TRUE(has(yaml, "\nbatch-size: 13\n")) << yaml;
  EXPECT_TRUE(has(yaml, "\ngrain-size: 16\n")) << yaml;
  const std::string two = ask({"train", "--config", "some.yaml", "--config", "later.yaml", "--dump-config"});
  EXPECT_TRUE(has(two, "\nseed: 14\n") && has(two, "\nepochs: 11\n")) << two;
}

TEST_F(Commands, ListOfAStrongerSourceReplacesAWeakerOnes) {
  write("some.yaml", "input: [a.csv, b.csv]\n");
  EXPECT_TRUE(
      has(ask({"prepare", "--config", "some.yaml", "--dump-config"}), "input: [\"a.csv\", \"b.csv\"]\n"));
  EXPECT_TRUE(has(ask({"prepare", "--config", "some.yaml", "--input", "c.csv", "--dump-config"}),
                  "input: [\"c.csv\"]\n"));
}

TEST_F(Commands, RunsOwnConfigTrainsTheSameModelAgain) {
  const std::string config = tiny_run() + "/config.yaml";
  ask({"train", "--config", config, "--out", "again"});
  EXPECT_TRUE(read_file("again/model/model.safetensors") ==
              read_file(tiny_run() + "/model/model.safetensors"));
}

TEST_F(Commands, TablesAreValidJsonWhenAsked) {
  const std::string &data = tiny_data(), &model = tiny_run();
  const Words asked[] = {
      {"doctor", "--quick", "--json"},
      {"fetch-model", "--json"},
      {"generate", "reviews", "--rows", "300", "--out", "r.jsonl", "--json"},
      {"generate", "comments", "--rows", "300", "--out", "c.csv", "--json"},
      prepare_reviews("r.jsonl", "data", {"--json"}),
      {"inspect", data, "--json"},
      {"inspect", model, "--json"},
      {"inspect", model + "/model", "--json"},
      {"train", "--data", data, "--out", "run", "--buckets", "100", "--json"},
      {"evaluate", model, "--data", data, "--json"},
      {"predict", model, "--text", "fine", "--json"},
  };
  for (const auto& arguments : asked) {
    const Output output = run(arguments);
    EXPECT_TRUE(output.code == 0 || arguments[0] == "doctor") << arguments[0] << ": " << output.err;
    const auto value = nlohmann::json::parse(output.out, nullptr, false);
    EXPECT_TRUE(value.is_structured()) << arguments[0] << ": " << output.out;
    EXPECT_FALSE(value.empty()) << arguments[0];
  }
}

TEST_F(Commands, CompletionKnowsEveryCommandAndFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = ask({"completion", shell});
    for (const auto& command : all_commands) EXPECT_TRUE(has(script, command)) << shell << ": " << command;
    for (const char* flag : {"class-weights", "deduplicate", "baseline"})
      EXPECT_TRUE(has(script, flag)) << shell;
  }
  EXPECT_EQ(run({"completion", "tcsh"}).code, 2);
}

TEST_F(Commands, BashCompletionWorksInBash) {
  const Output output = run_script(R"(set -e
    "$paceline" completion bash > script
    bash -n script
    . ./script
    COMP_WORDS=(paceline tra); COMP_CWORD=1; _paceline; echo "${COMPREPLY[@]}"
    COMP_WORDS=(paceline train --class-); COMP_CWORD=2; _paceline; echo "${COMPREPLY[@]}")");
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(output.out, "train\n--class-weights\n");
}

}  // namespace
}  // namespace paceline
