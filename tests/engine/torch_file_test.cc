// Files of torch.save from people who wish us no good. No pickle here would do harm in Python either: what it
// asks for is harmless, and refused all the same.
#include "engine/model/torch_file.h"

#include "../refusal.h"
#include "../scratch.h"
#include "torch_builder.h"

namespace paceline {
namespace {

using namespace pickled;

class Torch : public Scratch {
 protected:
  void refuses_archive(const std::string& bytes, std::vector<std::string> parts) const {
    parts.emplace_back("x.bin");
    const std::string path = write("x.bin", bytes);
    EXPECT_TRUE(refused([&] { TorchFile file(path); }, parts));
  }
  void refuses(const std::string& pickle, const std::vector<std::string>& parts) const {
    refuses_archive(torch_archive(pickle).finish(), parts);
  }
  std::vector<float> values(const std::string& pickle) const {
    const TorchFile file(write("x.bin", torch_archive(pickle).finish()));
    std::vector<float> into(file.find("w")->elements);
    file.read("w", file.shape("w"), into.data());
    return into;
  }
  const std::string six = storage("FloatStorage", "0", 6);
};

using Floats = std::vector<float>;

TEST_F(Torch, AnyStridesInsideTheStorageAreRead) {
  EXPECT_EQ(values(dict("w", tensor(six, 0, {2, 3}, {3, 1}))), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(dict("w", tensor(six, 0, {3, 2}, {1, 3}))), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values(dict("w", tensor(six, 4, {2}, {1}))), (Floats{5, 6}));
  EXPECT_EQ(values(dict("w", tensor(six, 1, {3}, {0}))), (Floats{2, 2, 2}));
  EXPECT_EQ(values(dict("w", tensor(six, 0, {3}, {2}))), (Floats{1, 3, 5}));
  EXPECT_EQ(values(dict("w", tensor(six, 5, {}, {}))), (Floats{6}));
  EXPECT_EQ(values(dict("w", tensor(six, 6, {0}, {1}))), (Floats{}));
  EXPECT_EQ(values(dict("w", tensor(six, 0, {1, 2}, {1000, 1}))), (Floats{1, 2}));
}

TEST_F(Torch, AnyNameOfTheFolderInTheArchiveWillDo) {
  for (const std::string prefix : {"archive/", "pytorch_model/", "x y/"})
    for (bool wide : {false, true}) {
      ZipBuilder builder = torch_archive(dict("w", tensor(six, 0, {6}, {1})), prefix);
      builder.wide = wide;
      EXPECT_TRUE(TorchFile(write("x.bin", builder.finish())).has("w"));
    }
}

TEST_F(Torch, WhatIsNotForTensorsIsNamedAndRefused) {
  for (const auto& [module, name] :
       {std::pair("os", "system"), std::pair("posix", "system"), std::pair("builtins", "eval"),
        std::pair("torch", "load"), std::pair("torch._utils", "_import_dotted_name"),
        std::pair("subprocess", "Popen")}) {
    const std::string asked = std::string("it asks for ") + module + "." + name + "; only tensors are read";
    refuses(dict("w", call(global(module, name), {text("true")})), {asked});
    refuses("\x80\x04" + text(module) + text(name) + "\x93.", {asked});                    // STACK_GLOBAL
    refuses("\x80\x02" + global(module, name) + "0" + dict("w", six).substr(2), {asked});  // and thrown away
  }
  refuses(dict("w", global("torch._utils._rebuild_tensor_v2.x", "y")),
          {"torch._utils._rebuild_tensor_v2.x.y"});
  refuses(dict("w", global(std::string(1000000, 'm'), "n")), {"mmm"});
}

TEST_F(Torch, OpcodesThatTensorsDoNotNeedAreRefused) {
  // INST, OBJ, NEWOBJ, EXT1, PERSID, old texts and numbers, DUP, sets, bytes, buffers, LONG4, and what does
  // not exist.
  for (const std::string opcode :
       {"i",    "o",    "\x81", "\x82", "\x92", "P",    "S", "U",    "T",    "V",    "I",
        "L",    "F",    "2",    "\x8f", "\x90", "\x91", "B", "C",    "\x8e", "\x96", "\x97",
        "\x98", "\x8b", "l",    "d",    "g",    "p",    "1", "\xff", "x"})
    refuses("\x80\x02}" + opcode + "os\nsystem\n.", {"opcode 0x", "byte 3"});
  refuses(std::string(1, '\0') + ".", {"opcode 0x00"});
  refuses("\x80\x06}.", {"protocol 6"});
}

TEST_F(Torch, ProgramsThatStumbleAreRefused) {
  refuses("", {"ends in the middle"});
  refuses("\x80", {"ends in the middle"});
  refuses("}", {"ends in the middle"});
  refuses(
      "X\xff\xff\xff\xff"
      "abc",
      {"ends in the middle"});
  refuses("\x8d" + std::string(8, '\xff') + "abc", {"ends in the middle"});
  refuses("cos", {"ends in the middle"});
  refuses("cos\nsys", {"ends in the middle"});
  refuses(".", {"where nothing is"});
  refuses("0.", {"where nothing is"});
  refuses("}(s.", {"where nothing is"});  // a mark is a floor
  refuses("}(0.", {"where nothing is"});
  refuses("}t.", {"mark"});
  refuses("}u.", {"mark"});
  refuses("}(Nu.", {"key without a value"});
  refuses("N(NNu.", {"None where a dict belongs"});
  refuses("N(NNe.", {"None where a list belongs"});
  refuses("}N}b.", {"None where a dict belongs"});
  refuses("NNR.", {"None where a tuple belongs"});
  refuses("N)R.", {"None where a type or function belongs"});
  refuses("NN\x93.", {"None where a text belongs"});
  refuses("}h\x05.", {"value 5", "not remembered"});
  refuses("}j\xff\xff\xff\xff.", {"value 4294967295", "not remembered"});
  refuses("q\x01.", {"where nothing is"});
  refuses("}}.", {"left on its stack"});
  refuses("(}.", {"left on its stack"});
  refuses("\x8a\x09" + std::string(9, '\1') + ".", {"integer of 9 bytes"});
  refuses(call(global("collections", "OrderedDict"), {"]"}) + ".", {"makes an OrderedDict from something"});
}

TEST_F(Torch, BombsTakeLittle) {
  refuses(std::string(2000000, '}') + ".", {"more than 1048576 values"});
  refuses(std::string(2000000, '(') + ".", {"more than 1048576 marks"});
  refuses("}" + std::string(2000000, '\x94') + ".", {"remembers more than 1048576"});
  // A tuple in a tuple in a tuple; and each twice the one before.
  refuses(")" + std::string(1000000, '\x85') + ".", {"a tuple, not a dict"});
  std::string doubled = ")";
  for (int i = 0; i < 100; ++i) doubled += "q\x01h\x01\x86";
  refuses(doubled + ".", {"a tuple, not a dict"});
  // A list that holds itself.
  refuses(
      "]q\x01h\x01"
      "a.",
      {"a list, not a dict"});
  // One large tuple as the arguments of many calls.
  std::string calls = rebuild +
                      "q\x01"
                      "0(" +
                      std::string(100000, 'N') +
                      "tq\x02"
                      "0](";
  for (int i = 0; i < 200000; ++i) calls += "h\x01h\x02R";
  refuses(calls + "e.", {"a list, not a dict"});
  ZipBuilder large = torch_archive(std::string(17 << 20, '}'));
  refuses_archive(large.finish(), {"data.pkl", "17825792 bytes"});
}

TEST_F(Torch, TensorsOutsideTheirStorageAreRefused) {
  refuses(dict("w", tensor(six, 0, {7}, {1})), {"'w'", "7", "storage of 6"});
  refuses(dict("w", tensor(six, 1, {6}, {1})), {"'w'", "from element 1 on", "storage of 6"});
  refuses(dict("w", tensor(six, 7, {0}, {1})), {"'w'", "from element 7 on"});
  refuses(dict("w", tensor(six, INT64_MAX, {1}, {1})), {"'w'", "9223372036854775807"});
  refuses(dict("w", tensor(six, 0, {2}, {6})), {"'w'", "storage of 6"});
  refuses(dict("w", tensor(six, 0, {3, 2}, {INT64_MAX, 1})), {"'w'", "storage of 6"});
  refuses(dict("w", tensor(six, 0, {INT64_MAX, INT64_MAX}, {0, 0})), {"'w'", "impossible"});
  refuses(dict("w", tensor(six, -1, {1}, {1})), {"'w'", "offset", "-1"});
  refuses(dict("w", tensor(six, 0, {-1}, {1})), {"'w'", "shape", "-1"});
  refuses(dict("w", tensor(six, 0, {2}, {-1})), {"'w'", "strides", "-1"});
  refuses(dict("w", tensor(six, 0, {2, 3}, {1})), {"'w'", "2 extents and 1 strides"});
  refuses(dict("w", tensor(six, 0, std::vector<int64_t>(65, 1), std::vector<int64_t>(65, 1))),
          {"'w'", "65", "64"});
}

TEST_F(Torch, StoragesThatAreNotThereAreRefused) {
  const auto one = [&](const std::string& from) { return dict("w", tensor(from, 0, {1}, {1})); };
  refuses(one(storage("FloatStorage", "0", 7)), {"'w'", "24 bytes", "7 numbers"});
  refuses(one(storage("DoubleStorage", "0", 4)), {"'w'", "24 bytes", "4 numbers", "F64"});
  refuses(one(storage("FloatStorage", "0", INT64_MAX)), {"'w'", "24 bytes"});
  refuses(one(storage("FloatStorage", "0", -1)), {"'w'", "-1"});
  refuses(one(storage("FloatStorage", "1", 1)), {"no 'archive/data/1'"});
  refuses(one(storage("FloatStorage", "../data.pkl", 1)), {"no 'archive/data/../data.pkl'"});
  refuses(one(storage("QInt8Storage", "0", 1)), {"torch.QInt8Storage"});
  refuses(one(tuple({text("module"), "N", "N", "N", "N"}) + "Q"), {"'w'", "no storage"});
  refuses(one(text("storage") + "Q"), {"'w'", "no storage"});
  refuses(one("N"), {"'w'", "no storage"});
  refuses(one(tuple({text("storage"), "N", text("0"), text("cpu"), integer(1)}) + "Q"),
          {"'w'", "unknown type"});
  refuses(dict("w", call(rebuild, {six})), {"'w'", "1 values"});
  refuses(dict("w", call(rebuild, {six, "N", "N", "N"})), {"'w'", "offset", "None"});
  refuses(dict("w", call(rebuild, {six, integer(0), integer(1), integer(1)})),
          {"'w'", "shape", "not a tuple"});
}

TEST_F(Torch, FilesWithoutTensorsByNameAreRefused) {
  refuses("}.", {"no tensors by name"});
  refuses(dict("w", integer(3)), {"no tensors by name"});
  refuses("}" + integer(3) + tensor(six, 0, {1}, {1}) + "s.", {"no tensors by name"});
  refuses("N.", {"None, not a dict"});
  const std::string pair = text("w") + tensor(six, 0, {1}, {1});
  refuses("}(" + pair + pair + "u.", {"'w' twice"});
}

TEST_F(Torch, ArchivesOfAnotherFormAreRefused) {
  const std::string good = dict("w", tensor(six, 0, {6}, {1}));
  ZipBuilder builder;
  builder.add("archive/data.pkl", good).add("archive/data/0", std::string(24, 'a'), true);
  refuses_archive(builder.finish(), {"archive/data/0", "compressed"});
  builder = {};
  builder.add("archive/data.pkl", good, true);
  refuses_archive(builder.finish(), {"archive/data.pkl", "compressed"});
  builder = {};
  builder.add("data.pkl", good);
  refuses_archive(builder.finish(), {"no data.pkl"});
  builder.add("a/b/data.pkl", good);
  refuses_archive(builder.finish(), {"no data.pkl"});
  builder.add("a/data.pkl", good).add("b/data.pkl", good);
  refuses_archive(builder.finish(), {"more than one data.pkl"});
  builder = {};
  builder.add("a/data.pkl", good).add("a/byteorder", "big");
  refuses_archive(builder.finish(), {"'big'"});
  refuses_archive("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", {"before 1.6", "torch.save"});
  refuses_archive("", {"no zip archive"});
  refuses_archive("hello", {"no zip archive"});
  refuses_archive("PK\3\4", {"not a zip archive"});
}

}  // namespace
}  // namespace paceline
