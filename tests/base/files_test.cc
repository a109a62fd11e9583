#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "base/error.h"

namespace paceline {
namespace {

using Files = Scratch;

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
  const fs::path path = folder / "a.json";
  write_file_atomically(path, "first");
  write_file_atomically(path, std::string("second\0half", 11));
  EXPECT_EQ(read_file(path), std::string("second\0half", 11));
  EXPECT_EQ(names(), std::vector<std::string>{"a.json"});
}

TEST_F(Files, ThatCannotBeWrittenAreAnErrorAndLeaveNothing) {
  fs::create_directories(folder / "taken/inside");
  const auto message = message_of<WorkError>([&] { write_file_atomically(folder / "taken", "x"); });
  EXPECT_TRUE(says(message, (folder / "taken").string())) << message;
  EXPECT_EQ(names(), std::vector<std::string>{"taken"});
  EXPECT_THROW(write_file_atomically(folder / "missing/a", "x"), WorkError);
}

TEST_F(Files, ReadChecksKindAndSizeFirst) {
  write_file_atomically(folder / "a", "12345");
  EXPECT_EQ(read_file(folder / "a", 5), "12345");
  EXPECT_TRUE(says(message_of<InputError>([&] { read_file(folder / "a", 4); }), "5 bytes, at most 4"));
  EXPECT_TRUE(says(message_of<InputError>([&] { read_file(folder); }), "not a regular file"));
  EXPECT_TRUE(says(message_of<InputError>([&] { read_file(folder / "b"); }), "No such file"));
}

TEST_F(Files, ReadDoesNotWaitForAPipeWithoutWriter) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(says(message_of<InputError>([&] { read_file(folder / "pipe"); }), "not a regular file"));
}

TEST_F(Files, AWriterGivesBackWhatWasWrittenWhateverItsBuffer) {
  for (size_t buffer : {0u, 1u, 7u, 1000u}) {
    std::string expected;
    FileWriter writer(folder / "out", buffer);
    for (int i = 0; i < 500; ++i) {
      const std::string piece(static_cast<size_t>(i % 23), static_cast<char>('a' + i % 26));
      writer.write(piece);
      expected += piece;
      EXPECT_EQ(writer.bytes_written(), expected.size());
    }
    FileWriter moved(std::move(writer));
    moved.close(true);
    moved.close();
    EXPECT_EQ(read_file(folder / "out"), expected) << buffer;
  }
}

TEST_F(Files, AWriterThatCannotCreateItsFileNamesIt) {
  const auto message = message_of<WorkError>([&] { FileWriter writer(folder / "missing/out"); });
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
