#include <gtest/gtest.h>

#include "base/config/fields.h"
#include "base/error.h"
#include "base/files.h"

namespace paceline {
namespace {

struct Options {
  std::string name = "plain";
  uint64_t count = 3;
  double rate = 0.5;
  bool loud = false;
  std::vector<std::string> files;
  std::string place;
};

class Config : public testing::Test {
 protected:
  Config() {
    table.positional("place", &options.place, "Where.").named("PLACE");
    table.text("name", &options.name, "A name.").one_of({"plain", "fancy"});
    table.integer("count", &options.count, 1, 5000000, "A count.");
    table.real("rate", &options.rate, 0, 1, "A rate.");
    table.flag("loud", &options.loud, "Be loud.");
    table.list("files", &options.files, "Some files.");
  }
  Asked parse(std::vector<std::string> arguments) { return parse_arguments(table, arguments); }
  std::string message(std::vector<std::string> arguments) {
    try {
      parse(std::move(arguments));
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  Options options;
  FieldTable table;
};

TEST_F(Config, FlagsSetTheirFields) {
  EXPECT_EQ(parse({"here", "--name", "fancy", "--count=2k", "--rate", "1e-1", "--loud", "--files", "a", "b"}),
            Asked::run);
  EXPECT_EQ(options.place, "here");
  EXPECT_EQ(options.name, "fancy");
  EXPECT_EQ(options.count, 2000u);
  EXPECT_DOUBLE_EQ(options.rate, 0.1);
  EXPECT_TRUE(options.loud);
  EXPECT_EQ(options.files, (std::vector<std::string>{"a", "b"}));
}

TEST_F(Config, FlagIsStrongerThanSetIsStrongerThanFile) {
  const fs::path file = fs::temp_directory_path() / fmt::format("config-test-{}.yaml", getpid());
  write_file_atomically(file, "count: 7\nrate: 0.25\nname: fancy\nfiles: [x, y]\n");
  parse({"--config", file.string(), "--count", "9", "--set", "rate=0.75", "--set", "count=8"});
  fs::remove(file);
  EXPECT_EQ(options.count, 9u);
  EXPECT_DOUBLE_EQ(options.rate, 0.75);
  EXPECT_EQ(options.name, "fancy");
  EXPECT_EQ(options.files, (std::vector<std::string>{"x", "y"}));
}

TEST_F(Config, YamlRoundTripKeepsEveryValue) {
  parse({"--name", "fancy", "--count", "12", "--files", "a: b", "c\"d", "--loud"});
  const std::string yaml = to_yaml(table);
  Options copy;
  FieldTable again;
  again.positional("place", &copy.place, "");
  again.text("name", &copy.name, "");
  again.integer("count", &copy.count, 1, 100, "");
  again.real("rate", &copy.rate, 0, 1, "");
  again.flag("loud", &copy.loud, "");
  again.list("files", &copy.files, "");
  from_yaml(again, yaml, "copy.yaml");
  EXPECT_EQ(to_yaml(again), yaml);
  EXPECT_EQ(copy.files, options.files);
}

TEST_F(Config, MistakesNameTheFlagAndSuggestTheNearest) {
  EXPECT_NE(message({"--cuont", "3"}).find("did you mean --count?"), std::string::npos);
  EXPECT_NE(message({"--set", "raet=1"}).find("did you mean rate?"), std::string::npos);
  EXPECT_NE(message({"--name", "fancyy"}).find("did you mean fancy?"), std::string::npos);
  EXPECT_NE(message({"--count", "0"}).find("--count"), std::string::npos);
  EXPECT_NE(message({"--count", "three"}).find("not a whole number"), std::string::npos);
  EXPECT_NE(message({"--count", "-3"}).find("not a whole number"), std::string::npos);
  EXPECT_NE(message({"--rate", "nan"}).find("not a number"), std::string::npos);
  EXPECT_NE(message({"--rate"}).find("a value is missing"), std::string::npos);
  EXPECT_NE(message({"--name", "--loud"}).find("a value is missing"), std::string::npos);
  EXPECT_NE(message({"a", "b"}).find("'b'"), std::string::npos);
  EXPECT_NE(message({"--config", "/nonexistent.yaml"}).find("/nonexistent.yaml"), std::string::npos);
}

TEST_F(Config, BrokenYamlIsOneSentenceWithItsLine) {
  auto problem = [&](const std::string& yaml) {
    try {
      from_yaml(table, yaml, "run.yaml");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(problem("count: 3\nrate: [").find("run.yaml:"), std::string::npos);
  EXPECT_NE(problem("count: 3\nraet: 0.5\n").find("run.yaml:2"), std::string::npos);
  EXPECT_NE(problem("count: {a: 1}\n").find("run.yaml:1"), std::string::npos);
  EXPECT_NE(problem("- 1\n- 2\n").find("keys and values"), std::string::npos);
}

TEST_F(Config, RequiredFieldsAreAskedFor) {
  table.find("name")->need();
  EXPECT_NE(message({}).find("--name is missing"), std::string::npos);
  EXPECT_EQ(parse({"--help"}), Asked::help);
  EXPECT_EQ(parse({"--dump-config"}), Asked::dump_config);
}

TEST_F(Config, HelpNamesEveryFieldWithItsDefault) {
  const std::string help = help_text(table, "paceline try", "Tries.");
  for (const auto& field : table.fields())
    EXPECT_NE(help.find(field.positional ? field.value_name : "--" + field.name), std::string::npos)
        << field.name;
  EXPECT_NE(help.find("(default: 3)"), std::string::npos);
  EXPECT_NE(help.find("plain|fancy"), std::string::npos);
}

}  // namespace
}  // namespace paceline
