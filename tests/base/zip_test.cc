// Zip archives, as they should be and as strangers send them.
#include "../refusal.h"
#include "../scratch.h"
#include "../zip_builder.h"

namespace paceline {
namespace {

class Zip : public Scratch {
 protected:
  static std::string unpacked(const ZipReader& zip, const std::string& name) {
    std::string all;
    zip.unpack(*zip.find(name), [&](std::string_view bytes) { all += bytes; });
    return all;
  }
  static ZipBuilder sample() {
    ZipBuilder builder;
    builder.add("a/first", "hello").add("a/second", std::string(1000000, 'x'), true).add("empty", "");
    return builder;
  }
  void refuses(const ZipBuilder& builder, const std::vector<std::string>& parts) {
    const std::string path = write("bad.zip", builder.finish());
    EXPECT_TRUE(refused([&] { ZipReader zip(path); }, parts));
  }
};

TEST_F(Zip, StoredDeflatedAndWideEntriesComeOutAsTheyWentIn) {
  for (bool wide : {false, true}) {
    ZipBuilder builder = sample();
    builder.wide = wide;
    builder.comment = wide ? "" : "PK\5\6 is only a comment here";
    const ZipReader zip(write("a.zip", builder.finish()));
    EXPECT_EQ(zip.entries().size(), 3u);
    EXPECT_EQ(unpacked(zip, "a/first"), "hello");
    EXPECT_EQ(unpacked(zip, "a/second"), std::string(1000000, 'x'));
    EXPECT_EQ(unpacked(zip, "empty"), "");
    EXPECT_EQ(zip.find("first"), nullptr);
  }
}

TEST_F(Zip, EveryTruncationIsRefused) {
  ZipBuilder builder;
  builder.add("first", "hello").add("second", "world", true);
  for (bool wide : {false, true}) {
    builder.wide = wide;
    const std::string whole = builder.finish();
    for (size_t length = 0; length < whole.size(); ++length) {
      const std::string path = write("cut.zip", whole.substr(0, length));
      EXPECT_TRUE(refused([&] { ZipReader zip(path); }, {"cut.zip"})) << length;
    }
  }
}

TEST_F(Zip, PlacesOutsideTheFileAreRefused) {
  for (bool wide : {false, true}) {
    ZipBuilder builder = sample();
    builder.wide = wide;
    builder.directory[0].header = wide ? uint64_t{1} << 60 : 4000000000;
    refuses(builder, {"a/first", "does not fit"});
    builder = sample();
    builder.wide = wide;
    builder.directory[2].packed = builder.directory[2].bytes = wide ? UINT64_MAX - 5 : 4000000000;
    refuses(builder, {"empty", "does not fit"});
  }
}

TEST_F(Zip, EntriesThatShareBytesAreRefused) {
  ZipBuilder builder = sample();
  builder.directory.push_back(builder.directory[1]);
  builder.directory.back().name = "a/third";
  refuses(builder, {"reaches into"});
  builder = sample();
  builder.directory[0].packed = builder.directory[0].bytes = 60;
  refuses(builder, {"a/first", "reaches into"});
}

TEST_F(Zip, ContradictionsAreRefused) {
  ZipBuilder builder = sample();
  builder.directory[0].bytes = 6;
  refuses(builder, {"a/first", "not compressed", "6"});
  builder = sample();
  builder.directory[1].bytes = uint64_t{1} << 31;
  refuses(builder, {"a/second", "cannot unpack", "2147483648"});
  builder = sample();
  builder.directory[2].name = "a/first";
  refuses(builder, {"a/first", "twice"});
  builder = sample();
  builder.flags = 1;
  refuses(builder, {"a/first", "encrypted"});
}

TEST_F(Zip, DamagedBytesAreRefusedWhenTheyAreUnpacked) {
  ZipBuilder builder = sample();
  builder.directory[0].crc ^= 1;
  builder.directory[1].bytes -= 1;
  builder.directory[2].method = 12;
  const ZipReader zip(write("a.zip", builder.finish()));
  EXPECT_TRUE(refused([&] { unpacked(zip, "a/first"); }, {"a/first", "damaged"}));
  EXPECT_TRUE(refused([&] { unpacked(zip, "a/second"); }, {"a/second", "damaged", "999999"}));
  EXPECT_TRUE(refused([&] { unpacked(zip, "empty"); }, {"empty", "method 12"}));
  std::string bytes = sample().finish();
  bytes[0] = 'Q';
  const ZipReader moved(write("b.zip", bytes));
  EXPECT_TRUE(refused([&] { unpacked(moved, "a/first"); }, {"a/first", "is not at byte 0"}));
}

TEST_F(Zip, WhatIsNoArchiveIsRefused) {
  for (const std::string& bytes :
       {std::string(), std::string("PK"), std::string(100000, 'P'), std::string(22, '\0')})
    EXPECT_TRUE(refused([&] { ZipReader zip(write("no.zip", bytes)); }, {"no.zip", "not a zip archive"}));
  EXPECT_TRUE(refused([&] { ZipReader zip(folder); }, {"not a regular file"}));
  EXPECT_TRUE(refused([&] { ZipReader zip(folder / "nowhere"); }, {"nowhere"}));
}

}  // namespace
}  // namespace paceline
