// Files of weights as PyTorch and safetensors write them, value by value (golden/make_weights.py).
#include <bit>
#include <cmath>

#include "../refusal.h"
#include "../scratch.h"
#include "base/files.h"
#include "engine/model/safetensors.h"
#include "engine/model/torch_file.h"

namespace paceline {
namespace {

fs::path golden(const std::string& name) {
  return fs::path(PACELINE_SOURCE_DIR "/tests/engine/golden/weights") / name;
}

std::vector<float> values_of(const TensorFile& file, const std::string& name) {
  std::vector<float> values(file.find(name)->elements);
  file.read(name, file.shape(name), values.data());
  return values;
}

std::vector<uint32_t> bits(const std::vector<float>& values) {
  std::vector<uint32_t> words;
  for (float value : values) words.push_back(std::isnan(value) ? 0x7FC00000 : std::bit_cast<uint32_t>(value));
  return words;
}

// Every tensor that is expected is there with the same shape and bits.
void expect_same(const TensorFile& file, const std::string& name) {
  const SafetensorsReader expected(golden(name + ".expected.safetensors"));
  EXPECT_FALSE(expected.names().empty());
  for (const std::string& tensor : expected.names()) {
    SCOPED_TRACE(name + ": " + tensor);
    ASSERT_TRUE(file.has(tensor));
    ASSERT_EQ(file.shape(tensor), expected.shape(tensor));
    EXPECT_EQ(bits(values_of(file, tensor)), bits(values_of(expected, tensor)));
  }
}

TEST(WeightFiles, SafetensorsOfEveryTypeAreReadAsFloat32) {
  const SafetensorsReader file(golden("types.safetensors"));
  expect_same(file, "types.safetensors");
  EXPECT_EQ(file.find("bfloat16")->type->name, "BF16");
  EXPECT_EQ(file.shape("scalar"), std::vector<uint64_t>{});
  EXPECT_EQ(file.shape("empty"), (std::vector<uint64_t>{0, 3}));
}

TEST(WeightFiles, EveryVariantOfTorchSaveIsReadAsFloat32) {
  for (const std::string name : {"types.bin", "views.bin", "protocol3.bin", "protocol4.bin", "protocol5.bin",
                                 "state_dict.bin", "parameters.bin"})
    expect_same(TorchFile(golden(name)), name);
}

TEST(WeightFiles, IntegersAreListedAndNotReadAsWeights) {
  const SafetensorsReader safe(golden("types.safetensors"));
  const TorchFile torch(golden("types.bin"));
  std::vector<float> into(3);
  for (const TensorFile* file :
       {static_cast<const TensorFile*>(&safe), static_cast<const TensorFile*>(&torch)})
    for (const auto& [name, type] : std::map<std::string, std::string>{{"int64", "I64"},
                                                                       {"int32", "I32"},
                                                                       {"int16", "I16"},
                                                                       {"int8", "I8"},
                                                                       {"uint8", "U8"},
                                                                       {"bool", "BOOL"}}) {
      EXPECT_EQ(file->find(name)->type->name, type);
      EXPECT_TRUE(refused(
          [file, &tensor = name, &into] {
            file->read(tensor, {1, 3}, into.data());
          },
          {name, type, "F32"}));
    }
}

TEST(WeightFiles, AnotherShapeNamesBoth) {
  std::vector<float> into(300);
  EXPECT_TRUE(refused(
      [&] {
        SafetensorsReader(golden("types.safetensors")).read("float16", {30, 10}, into.data());
      },
      {"types.safetensors", "float16", "10 x 30", "30 x 10"}));
  EXPECT_TRUE(refused([&] { TorchFile(golden("types.bin")).read("float16", {300}, into.data()); },
                      {"types.bin", "float16", "10 x 30", "300"}));
  EXPECT_TRUE(
      refused([&] { TorchFile(golden("types.bin")).read("float17", {300}, into.data()); }, {"float17"}));
}

TEST(WeightFiles, WholeModulesListsAndTheOldFormatAreRefused) {
  EXPECT_TRUE(
      refused([] { TorchFile file(golden("module.bin")); },
              {"module.bin", "it asks for torch.nn.modules.container.Sequential", "only tensors are read"}));
  EXPECT_TRUE(refused([] { TorchFile file(golden("list.bin")); }, {"list.bin", "a list", "not a dict"}));
  EXPECT_TRUE(refused([] { TorchFile file(golden("old.bin")); }, {"old.bin", "before 1.6"}));
}

TEST(WeightFiles, RowsFarApartAreFilledAndWhatIsBetweenThemStays) {
  const SafetensorsReader file(golden("types.safetensors"));
  for (const std::string name : {"float32", "bfloat16"}) {
    std::vector<float> into(10 * 32, -5.f);
    file.read(name, {10, 30}, into.data(), 30, 32);
    const std::vector<float> values = values_of(file, name);
    for (size_t row = 0; row < 10; ++row) {
      for (size_t i = 0; i < 30; ++i)
        EXPECT_EQ(std::bit_cast<uint32_t>(into[row * 32 + i]), std::bit_cast<uint32_t>(values[row * 30 + i]));
      EXPECT_EQ(into[row * 32 + 30], -5.f);
    }
  }
}

class CutWeightFiles : public Scratch {};
TEST_F(CutWeightFiles, EveryTruncationIsRefused) {
  for (const std::string name : {"state_dict.bin", "state_dict.bin.expected.safetensors"}) {
    const std::string whole = read_file(golden(name));
    for (size_t length = 0; length < whole.size(); length += 1 + length / 200) {
      const std::string path = write("cut", whole.substr(0, length));
      const bool torch = name.ends_with(".bin");
      EXPECT_TRUE(refused(
          [&] {
            if (torch)
              TorchFile file(path);
            else
              SafetensorsReader file(path);
          },
          {"cut"}))
          << name << " " << length;
    }
  }
}

}  // namespace
}  // namespace paceline
