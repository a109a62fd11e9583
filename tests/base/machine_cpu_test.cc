#include "base/machine/cpu.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/machine/probe.h"
#include "machine_fake_root.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

// This test program plays the part of `paceline`: started with --probe-isa it does nothing else.
[[maybe_unused]] const bool answered_probe = [] {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string program, argument, name;
  std::getline(file, program, '\0') && std::getline(file, argument, '\0') && std::getline(file, name, '\0');
  if (argument == probe_argument) _exit(run_isa_probe(name));
  return false;
}();

TEST(InstructionSets, WhatWorksIsProvenByARealChild) {
  Cpu cpu = examine_cpu();
  EXPECT_FALSE(cpu.vendor.empty());
  EXPECT_FALSE(cpu.model.empty());
  if (cpu.sets.empty()) GTEST_SKIP() << "no instruction sets are known for this architecture";
  for (const InstructionSet& set : cpu.sets) {
    EXPECT_EQ(set.proof == IsaProof::untested, !set.advertised) << set.name;
    EXPECT_TRUE(set.advertised || !set.enabled) << set.name;
  }
  const InstructionSet* oldest = cpu.find("sse4.2");
  ASSERT_NE(oldest, nullptr);
  EXPECT_EQ(oldest->proof, oldest->advertised ? IsaProof::works : IsaProof::untested);
}

TEST(InstructionSets, AnInstructionThatTheProcessorLacksKillsOnlyTheChild) {
  Cpu cpu = read_cpu();
  for (const InstructionSet& set : cpu.sets) {
    if (set.advertised) continue;
    EXPECT_EQ(prove_instruction_set(set.name), IsaProof::dies) << set.name;
    return;
  }
  GTEST_SKIP() << "this processor has every set that is probed";
}

TEST(InstructionSets, EveryAdvertisedSetHasAProbe) {
  Cpu cpu = read_cpu();
  ASSERT_EQ(cpu.sets.size(), probed_instruction_sets().size());
  for (size_t i = 0; i < cpu.sets.size(); ++i) EXPECT_EQ(cpu.sets[i].name, probed_instruction_sets()[i]);
}

TEST(InstructionSets, AChildThatDiesHangsOrErrsIsToldApart) {
  FakeRoot root;
  EXPECT_EQ(
      prove_instruction_set("amx-tile", root.script("works", "test \"$1 $2\" = '--probe-isa amx-tile'")),
      IsaProof::works);
  EXPECT_EQ(prove_instruction_set("amx-tile", root.script("ill", "kill -ILL $$")), IsaProof::dies);
  EXPECT_EQ(prove_instruction_set("amx-tile", root.script("segv", "kill -SEGV $$")), IsaProof::dies);
  EXPECT_EQ(prove_instruction_set("amx-tile", root.script("hangs", "sleep 60"), 200ms), IsaProof::hangs);
  EXPECT_EQ(prove_instruction_set("amx-tile", root.script("wrong", "exit 3")), IsaProof::wrong);
  EXPECT_EQ(prove_instruction_set("amx-tile", root.script("unknown", "exit 2")), IsaProof::untested);
  EXPECT_EQ(prove_instruction_set("amx-tile", root.path() / "missing"), IsaProof::untested);
}

TEST(InstructionSets, TheProbeDoesNotInheritALaunchersEnvironment) {
  FakeRoot root;
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("PMIX_RANK", "0", 1);
  setenv("SLURM_PROCID", "0", 1);
  auto program = root.script("env", "test -z \"$OMPI_COMM_WORLD_RANK$PMIX_RANK$SLURM_PROCID\"");
  EXPECT_EQ(prove_instruction_set("avx", program), IsaProof::works);
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) unsetenv(name);
}

TEST(InstructionSets, AnUnknownNameIsRefusedByTheProbe) {
  EXPECT_EQ(prove_instruction_set("mmx9000"), IsaProof::untested);
}

Cpu cpu_with(std::initializer_list<const char*> names) {
  Cpu cpu{"GenuineIntel", "a processor", {}};
  for (const char* name : names) cpu.sets.push_back({name, true, true, IsaProof::works});
  return cpu;
}

TEST(KernelClass, FollowsTheSetsThatWork) {
  EXPECT_EQ(kernel_capability(cpu_with({"sse4.2", "avx"})), "default");
  EXPECT_EQ(kernel_capability(cpu_with({"avx2"})), "default");
  EXPECT_EQ(kernel_capability(cpu_with({"avx2", "fma"})), "avx2");
  EXPECT_EQ(kernel_capability(cpu_with({"avx2", "fma", "avx512f"})), "avx2");
  Cpu wide = cpu_with({"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"});
  EXPECT_EQ(kernel_capability(wide), "avx512");
  wide.sets[3].proof = IsaProof::dies;
  EXPECT_EQ(kernel_capability(wide), "avx2");
}

}  // namespace
}  // namespace paceline
