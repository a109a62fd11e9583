// Runs the real program as a process, in a scratch folder of the test's own.
#pragma once
#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace paceline {

using Words = std::vector<std::string>;

struct Output {
  int code = -1;  // exit code; minus the signal when one ended it
  std::string out, err;
  uint64_t peak_bytes = 0;  // most resident memory
};

// A process that goes with the test, whatever becomes of it.
class Process {
 public:
  // argv[0] is looked up in PATH when it has no slash.
  explicit Process(const Words& argv, std::string_view input = "");
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void signal(int number) const;
  bool is_running();
  Output wait();

 private:
  pid_t pid_ = -1;
  int files_[3] = {-1, -1, -1};  // unnamed files behind stdin, stdout, stderr
  bool reaped_ = false;
  Output output_;
};

// The program with these arguments.
Output run(Words arguments, std::string_view input = "");
Words with_program(Words arguments);
// A bash script in which "$paceline" is the program.
Output run_script(const std::string& script);

// Ended with the code, said nothing but one line that begins with the program's name and has these parts.
::testing::AssertionResult is_one_sentence(const Output& output, int code, const Words& parts);
bool has(std::string_view text, std::string_view part);

// The test's current folder is a new one, which goes when the test ends.
class Scratch : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  void write(const fs::path& path, std::string_view bytes);
  // Everything below the current folder, sorted.
  static Words names();
  // The program must end with the code and one sentence that has these parts, and leave the folder as it was.
  void refuses(const Words& arguments, const Words& parts, int code = 2);

 private:
  fs::path folder_, before_;
};

// Rows of reviews generated, prepared and trained on once per process, for tests that only read them.
const std::string& tiny_reviews();
const std::string& tiny_data();
const std::string& tiny_run();
// The same reviews as pieces; and packed, without labels.
const std::string& tiny_pieces();
const std::string& tiny_packed();
extern const char* const review_label;
// Arguments of prepare for generated reviews.
Words prepare_reviews(const fs::path& reviews, const fs::path& out, const Words& more = {});
// Arguments of prepare for the rows.csv that lies here, cut into the pieces of vocab.txt.
Words prepare_pieces(const std::string& out, const Words& more = {});

}  // namespace paceline
