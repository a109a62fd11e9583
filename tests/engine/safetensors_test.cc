// Headers of safetensors files that no honest program writes.
#include "engine/model/safetensors.h"

#include "../refusal.h"
#include "../scratch.h"

namespace paceline {
namespace {

class Safetensors : public Scratch {
 protected:
  std::string file(const std::string& header, uint64_t data_bytes, uint64_t length) const {
    return write("x.safetensors", std::string(reinterpret_cast<const char*>(&length), sizeof length) +
                                      header + std::string(data_bytes, '\0'));
  }
  void refuses(const std::string& header, uint64_t data_bytes, std::vector<std::string> parts) const {
    parts.emplace_back("x.safetensors");
    const std::string path = file(header, data_bytes, header.size());
    EXPECT_TRUE(refused([&] { SafetensorsReader reader(path); }, parts)) << header.substr(0, 200);
  }
  SafetensorsReader opens(const std::string& header, uint64_t data_bytes) const {
    return SafetensorsReader(file(header, data_bytes, header.size()));
  }
};

TEST_F(Safetensors, EmptyTensorsScalarsAndMetadataAreFine) {
  const SafetensorsReader reader = opens(
      R"({"__metadata__":{"format":"pt","a":""},"b":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]},)"
      R"("a":{"shape":[],"data_offsets":[0,4],"dtype":"F32"},"c":{"dtype":"I8","shape":[2,0,99999999999],"data_offsets":[4,4]}}  )",
      4);
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(reader.has("a"));
  EXPECT_FALSE(reader.has("__metadata__"));
  float value = 1;
  reader.read("a", {}, &value);
  EXPECT_EQ(value, 0);
  reader.read("b", {0, 5}, &value, 5, 7);
  EXPECT_TRUE(opens("{}", 0).names().empty());
}

TEST_F(Safetensors, NamesAndFieldsThatOccurTwiceAreRefused) {
  refuses(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      4, {"'a' twice"});
  refuses(R"({"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4, {"'shape' twice"});
  refuses(R"({"__metadata__":{},"__metadata__":{}})", 0, {"'__metadata__' twice"});
  refuses(R"({"__metadata__":{"x":"1","x":"2"}})", 0, {"'x' twice"});
}

TEST_F(Safetensors, PlacesThatOverlapLeaveGapsOrLieOutsideAreRefused) {
  refuses(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      8, {"'b'", "overlap", "byte 4", "ends at 8"});
  refuses(
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
      12, {"'b'", "gap", "bytes 4 to 8"});
  refuses(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 4, {"'a'", "bytes 4 to 8 of 4"});
  refuses(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,18446744073709551615]}})",
          4, {"'a'", "18446744073709551615"});
  refuses(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", 8, {"'a'", "bytes 8 to 4"});
  refuses(R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[0,4]}})", 4,
          {"'a'", "1 of F16", "bytes 0 to 4"});
  refuses(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 9, {"9 bytes", "describes 4"});
  refuses("{}", 1, {"1 bytes", "describes 0"});
}

TEST_F(Safetensors, ShapesThatCannotBeAreRefused) {
  const auto with_shape = [](const std::string& shape) {
    return R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,4]}})";
  };
  refuses(with_shape("[4294967296,4294967296,2]"), 4, {"'a'", "4294967296 x 4294967296 x 2", "impossible"});
  refuses(with_shape("[9223372036854775807]"), 4, {"'a'", "9223372036854775807"});
  refuses(with_shape("[18446744073709551616]"), 4, {"'a'", "counts"});
  refuses(with_shape("[-1]"), 4, {"'a'", "counts"});
  refuses(with_shape("[1.0]"), 4, {"'a'", "counts"});
  refuses(with_shape("[[1]]"), 4, {"'a'", "counts"});
  refuses(with_shape("[true]"), 4, {"'a'", "counts"});
  refuses(with_shape("1"), 4, {"'a'"});
  refuses(with_shape("{}"), 4, {"'a'"});
  std::string many = "1";
  for (int i = 0; i < 100000; ++i) many += ",1";
  refuses(with_shape("[" + many + "]"), 4, {"'a'", "more than 64"});
}

TEST_F(Safetensors, HeadersOfAnotherFormAreRefused) {
  refuses("[]", 0, {"not an object"});
  refuses("3", 0, {"not an object"});
  refuses("null", 0, {"not an object"});
  refuses("", 0, {"not JSON"});
  refuses("{", 0, {"not JSON"});
  refuses("{}{}", 0, {"not JSON"});
  refuses("{\"\xff\":1}", 0, {"not JSON"});
  refuses(R"({"a":1})", 0, {"'a'"});
  refuses(R"({"a":[]})", 0, {"'a'"});
  refuses(R"({"a":{}})", 0, {"'a'", "dtype"});
  refuses(R"({"a":{"dtype":"F32","shape":[1]}})", 4, {"'a'", "data_offsets"});
  refuses(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, {"'a'", "two counts"});
  refuses(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}})", 4, {"'a'", "two counts"});
  refuses(R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4, {"'a'", "'F31'"});
  refuses(R"({"a":{"dtype":32,"shape":[1],"data_offsets":[0,4]}})", 4, {"'a'"});
  refuses(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"code":"x"}})", 4, {"'a'", "'code'"});
  refuses(R"({"__metadata__":{"a":{}}})", 0, {"__metadata__"});
  refuses(R"({"__metadata__":3})", 0, {"__metadata__"});
}

TEST_F(Safetensors, LongAndDeepHeadersEndInAShortMessage) {
  refuses(std::string(1000000, '['), 0, {"not an object"});
  std::string deep = R"({"a":)";
  for (int i = 0; i < 200000; ++i) deep += R"({"a":)";
  refuses(deep, 0, {"'a'"});
  refuses("{\"" + std::string(1000000, 'n') + "\":3}", 0, {"nnn"});
  refuses("{\"" + std::string(1000000, 'n'), 0, {"not JSON"});
  std::string many = R"({"__metadata__":{"0":"")";
  for (int i = 1; i < 1100000; ++i) many += fmt::format(",\"{}\":\"\"", i);
  refuses(many + "}}", 0, {"more than 1048576 names"});
}

TEST_F(Safetensors, ImpossibleLengthsOfTheHeaderAreRefused) {
  for (uint64_t length : {uint64_t{1} << 62, UINT64_MAX, UINT64_MAX - 7, uint64_t{3}, uint64_t{200} << 20}) {
    const std::string path = file("{}", 0, length);
    EXPECT_TRUE(refused([&] { SafetensorsReader reader(path); }, {"10 bytes", std::to_string(length)}));
  }
  for (size_t bytes = 0; bytes < 8; ++bytes) {
    const std::string path = write("x.safetensors", std::string(bytes, '\0'));
    EXPECT_TRUE(refused([&] { SafetensorsReader reader(path); }, {"not a safetensors file"}));
  }
  EXPECT_TRUE(refused([&] { SafetensorsReader reader(folder / "nowhere"); }, {"nowhere", "missing"}));
  EXPECT_TRUE(refused([&] { SafetensorsReader reader(folder); }, {"not a regular file"}));
}

}  // namespace
}  // namespace paceline
