// README.md's own commands, run as a reader would: every sh block in its order, all in one folder. Blocks of
// another kind show output, or fetch, test and pack this very program.
#include "code_blocks.h"
#include "program.h"

namespace paceline {
namespace {

class Readme : public Scratch {
 protected:
  static void works(std::string block) {
#ifdef __SANITIZE_ADDRESS__
    // Instrumented code is ten times slower: the same commands on fewer rows.
    replace(block, "--rows 20000", "--rows 2000");
    replace(block, "quickstart\n", "quickstart --rows 2000\n");
#endif
    const Output output = run_script(as_script(block));
    EXPECT_EQ(output.code, 0) << block << output.out << output.err;
  }

 private:
  [[maybe_unused]] static void replace(std::string& text, const std::string& what, const std::string& with) {
    const size_t at = text.find(what);
    if (at != std::string::npos) text.replace(at, what.size(), with);
  }
};

TEST_F(Readme, EveryCommandOfTheTourWorks) {
  std::string tour;
  for (const auto& block : code_blocks("README.md", "sh")) {
    works(block);
    tour += block;
  }
  for (const char* command : {"generate", "prepare", "inspect", "train", "evaluate", "predict"})
    EXPECT_TRUE(has(tour, std::string("./paceline ") + command)) << command;
}

TEST_F(Readme, TheFirstCommandWorks) {
  const std::string command = "./paceline quickstart\n";
  const auto blocks = code_blocks("README.md", "console");
  ASSERT_FALSE(blocks.empty());
  ASSERT_TRUE(blocks[0].ends_with("\n" + command)) << blocks[0];
  works(command);
}

}  // namespace
}  // namespace paceline
