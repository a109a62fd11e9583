// Plain and compressed files, whole and broken.
#include "data/text/byte_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"

namespace paceline {
namespace {

std::string gzip(std::string_view bytes) {
  std::string packed(compressBound(bytes.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string input(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

std::string sample(size_t size) {
  std::string bytes;
  for (size_t k = 0; bytes.size() < size; ++k)
    bytes += std::to_string(k * 2654435761u) + (k % 9 ? "," : "\n");
  bytes.resize(size);
  return bytes;
}

class ByteSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("paceline_bytes_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(std::string_view bytes) {
    std::ofstream(folder_ / "f.bin", std::ios::binary) << bytes;
    return folder_ / "f.bin";
  }
  static std::string read_all(const fs::path& path, size_t piece = 10'000) {
    const auto source = open_byte_source(path);
    std::string bytes, buffer(piece, '\0');
    while (const size_t got = source->read(buffer)) bytes.append(buffer, 0, got);
    EXPECT_EQ(source->consumed(), fs::file_size(path));
    return bytes;
  }
  static std::string error_of(const fs::path& path) {
    try {
      read_all(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(ByteSourceTest, EveryPackingGivesTheSameBytes) {
  const std::string bytes = sample(1'000'000);
  const std::string first = bytes.substr(0, 300'000), second = bytes.substr(300'000);
  for (const size_t piece : {1, 7, 4096, 10'000'000}) {
    EXPECT_EQ(read_all(file(bytes), piece), bytes);
    EXPECT_EQ(read_all(file(gzip(bytes)), piece), bytes);
    EXPECT_EQ(read_all(file(zstd(bytes)), piece), bytes);
    EXPECT_EQ(read_all(file(gzip(first) + gzip("") + gzip(second)), piece), bytes) << "members";
    EXPECT_EQ(read_all(file(gzip(bytes) + std::string(512, '\0')), piece), bytes) << "padding";
    EXPECT_EQ(read_all(file(zstd(first) + zstd("") + zstd(second)), piece), bytes) << "frames";
    const std::string skippable("\x5A\x2A\x4D\x18\x03\0\0\0abc", 11);
    EXPECT_EQ(read_all(file(skippable + zstd(bytes)), piece), bytes) << "skippable frame";
  }
}

TEST_F(ByteSourceTest, FilesShorterThanAnyMagicArePlain) {
  for (const std::string_view bytes : {"a", "ab", "abc", "\x1F"}) EXPECT_EQ(read_all(file(bytes)), bytes);
}

TEST_F(ByteSourceTest, PipesWork) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string bytes = sample(300'000), packed = gzip(bytes);
  std::jthread writer([&] {
    FILE* out = std::fopen(pipe.c_str(), "wb");
    std::fwrite(packed.data(), 1, packed.size(), out);
    std::fclose(out);
  });
  const auto source = open_byte_source(pipe);
  std::string all, buffer(5000, '\0');
  while (const size_t got = source->read(buffer)) all.append(buffer, 0, got);
  EXPECT_EQ(all, bytes);
}

TEST_F(ByteSourceTest, WhatCannotBeOpenedIsNamed) {
  EXPECT_NE(error_of(folder_ / "missing.csv").find("missing.csv: there is no such file"), std::string::npos);
  EXPECT_NE(error_of(folder_).find("is a directory"), std::string::npos);
  const fs::path secret = file("x");
  fs::permissions(secret, fs::perms::none);
  if (::geteuid() == 0) return;  // nothing is forbidden to root
  EXPECT_NE(error_of(secret).find("Permission denied"), std::string::npos);
}

TEST_F(ByteSourceTest, EmptyIsAnError) {
  EXPECT_NE(error_of(file("")).find("is empty"), std::string::npos);
  EXPECT_NE(error_of(file(gzip(""))).find("unpacks to nothing"), std::string::npos);
  EXPECT_NE(error_of(file(zstd(""))).find("unpacks to nothing"), std::string::npos);
}

TEST_F(ByteSourceTest, EveryTruncationIsNoticed) {
  const std::string bytes = sample(3000);
  for (const std::string& packed : {gzip(bytes), zstd(bytes)}) {
    for (size_t size = 4; size < packed.size(); ++size) {
      const std::string error = error_of(file(std::string_view(packed).substr(0, size)));
      ASSERT_NE(error.find("truncated"), std::string::npos) << size << ": " << error;
    }
  }
  const std::string packed = gzip(bytes);
  const std::string error = error_of(file(packed + packed.substr(0, packed.size() - 4)));
  EXPECT_NE(error.find("after 6000 unpacked bytes"), std::string::npos) << error;
}

TEST_F(ByteSourceTest, CorruptionIsNoticed) {
  const std::string bytes = sample(100'000);
  std::string packed = gzip(bytes);
  packed[packed.size() - 6] ^= 1;  // in the checksum
  std::string error = error_of(file(packed));
  EXPECT_NE(error.find("corrupt after 100000 unpacked bytes"), std::string::npos) << error;
  EXPECT_NE(error_of(file(gzip(bytes) + "garbage")).find("corrupt"), std::string::npos);
  EXPECT_NE(error_of(file(gzip(bytes) + std::string(5, '\0') + "x")).find("corrupt"), std::string::npos);
  packed = zstd(bytes);
  packed[5] ^= 0x40;
  packed[packed.size() / 2] ^= 0x55;
  error = error_of(file(packed));
  EXPECT_NE(error, "");
  EXPECT_NE(error_of(file(zstd(bytes) + "garbage")).find("corrupt"), std::string::npos);
}

}  // namespace
}  // namespace paceline
