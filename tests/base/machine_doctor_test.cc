#include "base/machine/doctor.h"

#include <gtest/gtest.h>

#include "machine_fake_root.h"

namespace paceline {
namespace {

using State = Finding::State;
constexpr uint64_t GB = 1'000'000'000;

// Everything a machine can have, and all of it works.
MachineFacts good_machine() {
  MachineFacts facts;
  facts.limits.logical_cores = facts.limits.affinity_cores = 8;
  facts.limits.memory_total = 16 * GB;
  facts.limits.memory_available = 12 * GB;
  facts.cpu = {"GenuineIntel", "Xeon", {}};
  for (const char* name : {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "amx-tile"})
    facts.cpu.sets.push_back({name, true, true, IsaProof::works});
  facts.gpus.driver = true;
  facts.gpus.driver_version = "580.65";
  facts.gpus.driver_cuda = 13000;
  facts.gpus.gpus = {{"Tesla T4", 16 * GB, 7, 5}};
  facts.engine.cuda = "13.2";
  facts.engine.libtorch_version = "2.15.0";
  facts.engine.gemm_one = 100;
  facts.engine.gemm_all = 700;
  facts.mpi = {"/usr/bin/mpirun", "mpirun (Open MPI) 4.1.4", "", "libmpi.so.40"};
  facts.slurm = {"/usr/bin/srun", "/usr/bin/sinfo", "slurm-wlm 22.05.8", true, 4, ""};
  facts.disk = {".", "ext4", false, false, 100 * GB, 800, ""};
  facts.speed = {8, 12, 40, 150, 1100};
  return facts;
}

// The findings on a subject that are not plainly OK; an OK one when there are none.
Finding worst(const MachineFacts& facts, std::string_view subject) {
  Finding result;
  for (const Finding& finding : judge(facts))
    if (finding.subject == subject && (finding.state >= result.state)) result = finding;
  EXPECT_EQ(result.subject, subject);
  return result;
}

TEST(Doctor, AGoodMachineIsOkThroughout) {
  for (const Finding& finding : judge(good_machine())) EXPECT_EQ(finding.state, State::ok) << finding.subject;
  EXPECT_FALSE(needs_fixing(judge(good_machine())));
}

TEST(Doctor, ACpuQuotaIsSaidWithItsSource) {
  MachineFacts facts = good_machine();
  facts.limits.logical_cores = facts.limits.affinity_cores = 2;
  facts.limits.quota = CpuQuota{1.5, "cgroup v2 cpu.max"};
  Finding finding = worst(facts, "cores");
  EXPECT_EQ(finding.state, State::note);
  EXPECT_EQ(finding.found, "2 cores, of which this container may use 1.5 (cgroup v2 cpu.max)");
  EXPECT_EQ(finding.advice, "--executors defaults to 2");
}

TEST(Doctor, AffinityIsSaid) {
  MachineFacts facts = good_machine();
  facts.limits.affinity_cores = 1;
  EXPECT_EQ(worst(facts, "cores").found, "8 cores, of which this process may use 1 (CPU affinity)");
}

TEST(Doctor, TooLittleMemoryStopsTraining) {
  MachineFacts facts = good_machine();
  facts.limits.memory_limit = MemoryLimit{GB / 4, "cgroup v2 memory.max"};
  facts.limits.free_in_limit = GB / 5;
  EXPECT_EQ(worst(facts, "memory").state, State::fix);
  EXPECT_TRUE(needs_fixing(judge(facts)));
  facts.limits.free_in_limit = GB;
  EXPECT_EQ(worst(facts, "memory").state, State::note);
}

TEST(Doctor, TilesThatDieAreANoteBecauseFloat32Works) {
  MachineFacts facts = good_machine();
  facts.cpu.sets.back().proof = IsaProof::dies;
  Finding finding = worst(facts, "instruction sets");
  EXPECT_EQ(finding.state, State::note);
  EXPECT_EQ(finding.found, "amx-tile: advertised, but dies when used");
  EXPECT_NE(finding.advice.find("ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"), std::string::npos);
}

TEST(Doctor, VectorsThatDieStopTrainingUntilTheEnvironmentAvoidsThem) {
  MachineFacts facts = good_machine();
  facts.cpu.sets[2].proof = IsaProof::dies;
  Finding finding = worst(facts, "instruction sets");
  EXPECT_EQ(finding.state, State::fix);
  EXPECT_NE(finding.advice.find("ATEN_CPU_CAPABILITY=avx2"), std::string::npos);
  facts.capability_override = "avx2";
  facts.onednn_override = "AVX2";
  EXPECT_EQ(worst(facts, "instruction sets").state, State::note);
}

TEST(Doctor, WhatTheOperatingSystemKeepsOffIsHarmless) {
  MachineFacts facts = good_machine();
  facts.cpu.sets.back().enabled = false;
  facts.cpu.sets.back().proof = IsaProof::dies;
  EXPECT_EQ(worst(facts, "instruction sets").state, State::note);
}

TEST(Doctor, KernelClassIsVendorAndInstructionSet) {
  EXPECT_EQ(worst(good_machine(), "kernel class").found, "GenuineIntel, avx512");
}

TEST(Doctor, AGpuThatLibTorchCannotDriveIsNamedWithTheWayOut) {
  MachineFacts facts = good_machine();
  facts.gpus.gpus = {{"Tesla V100", 16 * GB, 7, 0}};
  Finding finding = worst(facts, "GPU");
  EXPECT_EQ(finding.state, State::note);
  EXPECT_NE(finding.found.find("Tesla V100"), std::string::npos);
  EXPECT_NE(finding.advice.find("LibTorch 2.7 for CUDA 12.6"), std::string::npos);
  facts.gpus = {false, "no NVIDIA driver", "", 0, {}};
  EXPECT_EQ(worst(facts, "GPU").found, "no NVIDIA driver");
}

TEST(Doctor, AMachineWithNothingOptionalCanStillTrain) {
  MachineFacts facts = good_machine();
  facts.gpus = {false, "no NVIDIA driver", "", 0, {}};
  facts.mpi = {};
  facts.slurm = {};
  facts.cpu.sets.clear();
  facts.disk.network = true;
  EXPECT_FALSE(needs_fixing(judge(facts)));
}

TEST(Doctor, AnMpiThatWorkersDoNotSpeakIsANote) {
  MachineFacts facts = good_machine();
  EXPECT_EQ(worst(facts, "MPI").state, State::ok);
  facts.mpi = {"/usr/bin/mpirun", "MPICH (Hydra) 4.0.2", "", "libmpich.so.12"};
  EXPECT_EQ(worst(facts, "MPI").state, State::note);
  EXPECT_NE(worst(facts, "MPI").advice.find("openmpi-bin"), std::string::npos);
}

TEST(Doctor, ADiskWithoutRoomOrRightsStopsTraining) {
  MachineFacts facts = good_machine();
  facts.disk.free_bytes = 10'000'000;
  EXPECT_EQ(worst(facts, "disk").state, State::fix);
  facts = good_machine();
  facts.disk.problem = "writing into . failed: Permission denied";
  EXPECT_EQ(worst(facts, "disk").state, State::fix);
  facts = good_machine();
  facts.disk.memory = true;
  EXPECT_EQ(worst(facts, "disk").state, State::note);
}

TEST(Doctor, AMissingEngineGivesItsReason) {
  MachineFacts facts = good_machine();
  facts.engine.problem = "libpaceline_engine.so is not there";
  Finding finding = worst(facts, "engine");
  EXPECT_EQ(finding.state, State::fix);
  EXPECT_EQ(finding.found, "engine not available: libpaceline_engine.so is not there");
}

TEST(Doctor, GarbageInALimitIsNamed) {
  MachineFacts facts = good_machine();
  facts.limits.not_understood = {"/sys/fs/cgroup/cpu.max"};
  EXPECT_EQ(worst(facts, "limits").state, State::note);
}

TEST(Doctor, ExaminesThisMachineInAFewSeconds) {
  FakeRoot root;
  DoctorOptions options;
  options.folder = root.path();
  std::vector<unsigned> asked;
  options.examine_engine = [&](unsigned threads) {
    asked.push_back(threads);
    EngineFacts engine;
    engine.gemm_one = 50;
    return engine;
  };
  auto begin = std::chrono::steady_clock::now();
  MachineFacts facts = gather_facts(options);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  EXPECT_EQ(asked, std::vector<unsigned>{facts.limits.usable_cores()});
  EXPECT_EQ(facts.engine.gemm_one, 50.0);
  EXPECT_GT(facts.speed.memory_one, 0);
  EXPECT_GE(judge(facts).size(), 9u);
}

}  // namespace
}  // namespace paceline
