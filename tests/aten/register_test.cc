// Makes --kernels aten known, so that the golden tests of tests/engine run on LibTorch's operations.
#include <gtest/gtest.h>

#include "engine/aten/aten_bert.h"
#include "engine/aten/aten_lstm.h"

namespace paceline {
namespace {

class Registration final : public testing::Environment {
  void SetUp() override {
    register_aten_lstm();
    register_aten_bert();
  }
};
[[maybe_unused]] const auto* const registration = testing::AddGlobalTestEnvironment(new Registration);

}  // namespace
}  // namespace paceline
