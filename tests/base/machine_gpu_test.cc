#include "base/machine/gpu.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace paceline {
namespace {

TEST(Gpu, LibTorchDrivesWhatItsCudaHasCodeFor) {
  struct Case {
    const char* cuda;
    int major, minor;
    bool can;
  };
  const Case table[] = {
      {"13.2", 6, 0, false},  {"13.2", 6, 1, false},  {"13.0", 7, 0, false}, {"13.2", 7, 2, false},
      {"13.2", 7, 5, true},   {"13.2", 8, 0, true},   {"13.2", 9, 0, true},  {"13.0", 12, 0, true},
      {"12.6", 6, 0, true},   {"12.6", 7, 0, true},   {"12.6", 5, 0, true},  {"12.6", 3, 7, false},
      {"12.6", 9, 0, true},   {"12.6", 10, 0, false}, {"12.8", 10, 0, true}, {"12.8", 12, 0, true},
      {"12.8", 6, 1, false},  {"12.8", 7, 0, true},   {"12.10", 7, 0, true}, {"14.0", 7, 0, false},
      {"12.6.3", 7, 0, true}, {"13", 7, 5, true},     {"", 8, 0, false},     {"cpu", 8, 0, false},
      {"13.2", 0, 0, false},
  };
  for (const Case& c : table)
    EXPECT_EQ(libtorch_can_drive(c.major, c.minor, c.cuda), c.can)
        << c.cuda << " " << c.major << "." << c.minor;
}

TEST(Gpu, AnOlderDriverRunsNoNewerCuda) {
  EXPECT_TRUE(driver_can_run(13000, "13.2"));
  EXPECT_TRUE(driver_can_run(13000, "12.6"));
  EXPECT_FALSE(driver_can_run(12080, "13.2"));
  EXPECT_FALSE(driver_can_run(13000, ""));
}

TEST(Gpu, WithoutLibTorchNoCudaIsLoaded) { EXPECT_EQ(loaded_cuda_version(), ""); }

TEST(Gpu, WithoutALibraryThereIsNoDriver) {
  GpuFacts facts = examine_gpus("libpaceline-no-such-library.so");
  EXPECT_FALSE(facts.driver);
  EXPECT_EQ(facts.problem, "no NVIDIA driver");
  EXPECT_TRUE(facts.gpus.empty());
}

TEST(Gpu, ALibraryWithoutTheFunctionsIsTooOld) {
  GpuFacts facts = examine_gpus("libc.so.6");
  EXPECT_FALSE(facts.driver);
  EXPECT_EQ(facts.problem, "the NVIDIA driver is too old to be asked");
}

int fake_text(char* out, unsigned size, const char* text) {
  std::snprintf(out, size, "%s", text);
  return 0;
}

Nvml fake_driver() {
  Nvml nvml;
  nvml.init = [] { return 0; };
  nvml.shutdown = [] { return 0; };
  nvml.driver_version = [](char* out, unsigned size) { return fake_text(out, size, "580.65.06"); };
  nvml.cuda_version = [](int* version) { return *version = 13000, 0; };
  nvml.count = [](unsigned* count) { return *count = 2, 0; };
  nvml.by_index = [](unsigned index, void** device) {
    static int devices[2];
    *device = &devices[index];
    return index == 0 ? 0 : 4;
  };
  nvml.name = [](void*, char* out, unsigned size) { return fake_text(out, size, "Tesla T4"); };
  nvml.memory = [](void*, NvmlMemory* memory) { return memory->total = 16'000'000'000, 0; };
  nvml.capability = [](void*, int* major, int* minor) { return *major = 7, *minor = 5, 0; };
  nvml.error_text = [](int) { return "Driver Not Loaded"; };
  return nvml;
}

TEST(Gpu, DescribesEveryDeviceAndSaysWhichGivesNoAccess) {
  GpuFacts facts = examine_gpus(fake_driver());
  EXPECT_TRUE(facts.driver);
  EXPECT_EQ(facts.driver_version, "580.65.06");
  EXPECT_EQ(facts.driver_cuda, 13000);
  ASSERT_EQ(facts.gpus.size(), 2u);
  EXPECT_EQ(facts.gpus[0].name, "Tesla T4");
  EXPECT_EQ(facts.gpus[0].memory_bytes, 16'000'000'000u);
  EXPECT_EQ(facts.gpus[0].major, 7);
  EXPECT_EQ(facts.gpus[0].minor, 5);
  EXPECT_NE(facts.gpus[1].name.find("no access"), std::string::npos);
}

TEST(Gpu, ADriverThatDoesNotStartGivesItsReason) {
  Nvml nvml = fake_driver();
  nvml.init = [] { return 9; };
  GpuFacts facts = examine_gpus(nvml);
  EXPECT_FALSE(facts.driver);
  EXPECT_NE(facts.problem.find("Driver Not Loaded"), std::string::npos);
}

}  // namespace
}  // namespace paceline
