#include "base/sha256.h"

#include "../scratch.h"

namespace paceline {
namespace {

std::string sha256_of(std::string_view bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.hex();
}

// The examples of FIPS 180-4.
TEST(Sha256, AgreesWithThePublishedExamples) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HowTheBytesArriveDoesNotMatter) {
  for (size_t length = 0; length < 200; ++length) {
    const std::string bytes(length, 'x');
    for (size_t piece : {1, 7, 63, 64, 65}) {
      Sha256 sum;
      for (size_t at = 0; at < length; at += piece) sum.update(std::string_view(bytes).substr(at, piece));
      ASSERT_EQ(sum.hex(), sha256_of(bytes)) << length << " bytes in pieces of " << piece;
    }
  }
}

class Sha256File : public Scratch {};
TEST_F(Sha256File, OfAFileIsThatOfItsBytes) {
  const std::string bytes(3000001, 'q');
  EXPECT_EQ(file_sha256(write("file", bytes)), sha256_of(bytes));
  EXPECT_EQ(file_sha256(write("empty", "")), sha256_of(""));
}

}  // namespace
}  // namespace paceline
