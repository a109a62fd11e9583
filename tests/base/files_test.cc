#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace paceline {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("paceline-files-{}-{}", getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  // Everything below the test's folder, hidden or not.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.push_back(entry.path().filename());
    std::sort(out.begin(), out.end());
    return out;
  }
  fs::path folder_;
};

template <typename Error, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no such error";
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

TEST_F(Files, WrittenAtomicallyAreThereWholeAndAlone) {
  const fs::path path = folder_ / "a.json";
  write_file_atomically(path, "first");
  write_file_atomically(path, std::string("second\0half", 11));
  EXPECT_EQ(read_file(path), std::string("second\0half", 11));
  EXPECT_EQ(names(), std::vector<std::string>{"a.json"});
}

TEST_F(Files, ThatCannotBeWrittenAreAnErrorAndLeaveNothing) {
  fs::create_directories(folder_ / "taken/inside");
  const auto message = message_of<WorkError>([&] { write_file_atomically(folder_ / "taken", "x"); });
  EXPECT_TRUE(says(message, (folder_ / "taken").string())) << message;
  EXPECT_EQ(names(), std::vector<std::string>{"taken"});
  EXPECT_THROW(write_file_atomically(folder_ / "missing/a", "x"), WorkError);
}

TEST_F(Files, ReadChecksKindAndSizeFirst) {
  write_file_atomically(folder_ / "a", "12345");
  EXPECT_EQ(read_file(folder_ / "a", 5), "12345");
  EXPECT_TRUE(says(message_of<InputError>([&] { read_file(folder_ / "a", 4); }), "5 bytes, at most 4"));
  EXPECT_TRUE(says(message_of<InputError>([&] { read_file(folder_); }), "not a regular file"));
  EXPECT_TRUE(says(message_of<InputError>([&] { read_file(folder_ / "b"); }), "No such file"));
}

TEST_F(Files, ReadDoesNotWaitForAPipeWithoutWriter) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(says(message_of<InputError>([&] { read_file(folder_ / "pipe"); }), "not a regular file"));
}

TEST_F(Files, AWriterGivesBackWhatWasWrittenWhateverItsBuffer) {
  for (size_t buffer : {0u, 1u, 7u, 1000u}) {
    std::string expected;
    FileWriter writer(folder_ / "out", buffer);
    for (int i = 0; i < 500; ++i) {
      const std::string piece(static_cast<size_t>(i % 23), static_cast<char>('a' + i % 26));
      writer.write(piece);
      expected += piece;
      EXPECT_EQ(writer.bytes_written(), expected.size());
    }
    FileWriter moved(std::move(writer));
    moved.close(true);
    moved.close();
    EXPECT_EQ(read_file(folder_ / "out"), expected) << buffer;
  }
}

TEST_F(Files, AWriterThatCannotCreateItsFileNamesIt) {
  const auto message = message_of<WorkError>([&] { FileWriter writer(folder_ / "missing/out"); });
  EXPECT_TRUE(says(message, "missing/out: creating failed: No such file")) << message;
}

TEST(Numbers, OfBytesReadWell) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1500), "1.5 kB");
  EXPECT_EQ(human_bytes(999499), "999 kB");
  EXPECT_EQ(human_bytes(999500), "1.0 MB");
  EXPECT_EQ(human_bytes(4000000000), "4.0 GB");
  EXPECT_EQ(human_bytes(142000000000), "142 GB");
}

}  // namespace
}  // namespace paceline
