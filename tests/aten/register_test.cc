// Makes --kernels aten known, so that tests/engine/lstm_golden_test.cc runs on LibTorch's operations.
#include <gtest/gtest.h>

#include "engine/aten/aten_lstm.h"

namespace paceline {
namespace {

class Registration final : public testing::Environment {
  void SetUp() override { register_aten_lstm(); }
};
[[maybe_unused]] const auto* const registration = testing::AddGlobalTestEnvironment(new Registration);

}  // namespace
}  // namespace paceline
