// Hashes are part of the data format: these values may never change.
#include "base/hash.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "base/error.h"
#include "base/files.h"

namespace paceline {
namespace {

TEST(Hash, IsXxh3AndStaysSo) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(hash64("a"), 0xe6c632b61e964e1fu);
  EXPECT_EQ(hash64("paceline"), 0x7a823f5027c375d7u);
  EXPECT_EQ(hash64("paceline", 7), 0x6dbad5cde83f4ac5u);
  EXPECT_EQ(hash64(std::string(1000, 'x')), 0xc0a4877b962cba82u);
}

TEST(Hash, Of128BitsIsWrittenHighHalfFirst) {
  EXPECT_EQ(to_hex(hash128("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(to_hex(hash128("paceline")), "b16a1f5bb468492300ae83e69c1ee9c9");
  EXPECT_EQ(to_hex({0x1, 0x2}), "00000000000000020000000000000001");
}

TEST(Hash, Mix64IsTheFinalizerOfSplitMix64) {
  EXPECT_EQ(mix64(0), 0u);
  EXPECT_EQ(mix64(1), 0x5692161d100b05e5u);
  std::set<uint64_t> values;
  for (uint64_t i = 0; i < 100000; ++i) values.insert(mix64(i));
  EXPECT_EQ(values.size(), 100000u);
}

TEST(Hash, OfAFileEqualsTheHashOfItsBytesWhateverItsSize) {
  const fs::path path = fs::temp_directory_path() / fmt::format("paceline-hash-{}", getpid());
  for (size_t size : {size_t{0}, size_t{1}, size_t{1} << 20, (size_t{1} << 20) + 1, size_t{3} << 20}) {
    std::string bytes(size, 'x');
    for (size_t i = 0; i < size; i += 97) bytes[i] = static_cast<char>(i);
    write_file_atomically(path, bytes);
    EXPECT_EQ(file_checksum(path), "xxh3:" + to_hex(hash128(bytes))) << size;
  }
  fs::remove(path);
}

TEST(Hash, OfAFileThatCannotBeReadIsAnErrorThatNamesIt) {
  EXPECT_THROW(file_checksum("no-such-file"), WorkError);
  EXPECT_THROW(file_checksum(fs::temp_directory_path()), WorkError);
}

}  // namespace
}  // namespace paceline
