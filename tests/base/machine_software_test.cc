#include "base/machine/software.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "base/machine/disk.h"
#include "base/machine/resources.h"
#include "base/machine/speed.h"
#include "machine_fake_root.h"

namespace paceline {
namespace {

TEST(Programs, AreFoundInTheOrderOfThePathAndOnlyIfExecutable) {
  FakeRoot root;
  root.file("a/tool", "not executable");
  auto tool = root.script("b/tool", "true");
  root.script("c/tool", "true");
  std::string search = root.path() / "a";
  search += ":" + (root.path() / "b").string() + ":" + (root.path() / "c").string();
  EXPECT_EQ(find_program("tool", search), tool);
  EXPECT_FALSE(find_program("other", search));
  EXPECT_TRUE(find_program("sh"));
}

TEST(Mpi, VersionIsMpirunsFirstLine) {
  FakeRoot root;
  root.script("mpirun", "echo 'mpirun (Open MPI) 4.1.4'; echo; echo 'Report bugs to nobody'");
  MpiFacts facts = examine_mpi(root.path().string());
  ASSERT_TRUE(facts.mpirun);
  EXPECT_EQ(facts.version, "mpirun (Open MPI) 4.1.4");
  EXPECT_TRUE(facts.problem.empty());
}

TEST(Mpi, HydraNamesItsVersionOnALineOfItsOwn) {
  FakeRoot root;
  root.script("mpirun", "printf 'HYDRA build details:\\n    Version:          4.0.2\\n    Release: x\\n'");
  EXPECT_EQ(examine_mpi(root.path().string()).version, "MPICH (Hydra) 4.0.2");
}

TEST(Mpi, AMissingOrBrokenMpirunIsSaid) {
  FakeRoot root;
  EXPECT_FALSE(examine_mpi(root.path().string()).mpirun);
  root.script("mpirun", "echo 'libopen-rte.so.40: cannot open' >&2; exit 127");
  MpiFacts facts = examine_mpi(root.path().string());
  EXPECT_EQ(facts.version, "");
  EXPECT_EQ(facts.problem, "libopen-rte.so.40: cannot open");
}

TEST(Slurm, NodesAreCountedOnce) {
  FakeRoot root;
  root.script("srun", "echo slurm-wlm 22.05.8");
  root.script("sinfo", "printf 'n1\\nn1\\nn2\\n'");
  SlurmFacts facts = examine_slurm(root.path().string());
  EXPECT_EQ(facts.version, "slurm-wlm 22.05.8");
  EXPECT_TRUE(facts.answers);
  EXPECT_EQ(facts.nodes, 2u);
}

TEST(Slurm, AControllerThatDoesNotAnswerIsGivenUpAfterTwoSeconds) {
  FakeRoot root;
  root.script("srun", "echo slurm-wlm 22.05.8");
  root.script("sinfo", "sleep 60");
  auto begin = std::chrono::steady_clock::now();
  SlurmFacts facts = examine_slurm(root.path().string());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_FALSE(facts.answers);
  EXPECT_EQ(facts.problem, "no answer from sinfo within 2 s");
  root.script("sinfo", "echo 'slurm_load_partitions: Unable to contact slurm controller' >&2; exit 1");
  EXPECT_EQ(examine_slurm(root.path().string()).problem,
            "slurm_load_partitions: Unable to contact slurm controller");
}

TEST(Disk, IsMeasuredAndLeavesNothingBehind) {
  FakeRoot root;
  DiskFacts facts = examine_disk(root.path());
  EXPECT_FALSE(facts.filesystem.empty());
  EXPECT_GT(facts.free_bytes, 0u);
  EXPECT_TRUE(facts.problem.empty()) << facts.problem;
  EXPECT_EQ(facts.write_mb_per_s > 0, facts.free_bytes >= 128'000'000);
  EXPECT_TRUE(fs::is_empty(root.path()));
}

TEST(Disk, AFolderThatIsNotThereIsSaid) {
  DiskFacts facts = examine_disk("/no/such/folder");
  EXPECT_EQ(facts.problem, "/no/such/folder cannot be used: No such file or directory");
}

TEST(Disk, SharedMemoryIsRecognisedAsMemory) {
  DiskFacts facts = examine_disk("/dev/shm", false);
  if (facts.filesystem != "tmpfs") GTEST_SKIP() << "/dev/shm is no tmpfs here";
  EXPECT_TRUE(facts.memory);
  EXPECT_FALSE(facts.network);
  EXPECT_EQ(facts.write_mb_per_s, 0);
}

TEST(Speed, MeasurementsGivePlausibleNumbers) {
  double memory = measure_memory(1, 30'000'000, 0.02);
  EXPECT_GT(memory, 0.1);
  EXPECT_LT(memory, 5000);
  double multiply = measure_multiply(2, "default", 0.02);
  EXPECT_GT(multiply, 0.1);
  EXPECT_LT(multiply, 5000);
}

TEST(Resources, AreReadFromProc) {
  FakeRoot root;
  root.file("proc/self/status", "VmHWM:\t 200 kB\nVmRSS:\t 100 kB\n");
  root.file("proc/self/io", "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n");
  root.file("proc/stat", "cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
  ResourceSample sample = read_resources(root.path());
  EXPECT_EQ(sample.resident_bytes, 100u * 1024);
  EXPECT_EQ(sample.peak_resident_bytes, 200u * 1024);
  EXPECT_EQ(sample.bytes_read, 4096u);
  EXPECT_EQ(sample.bytes_written, 8192u);
  EXPECT_DOUBLE_EQ(sample.steal_seconds.value(), 250.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

TEST(Resources, WhatCannotBeReadIsLeftOut) {
  FakeRoot root;
  ResourceSample sample = read_resources(root.path());
  EXPECT_EQ(sample.resident_bytes, 0u);
  EXPECT_FALSE(sample.bytes_read);
  EXPECT_FALSE(sample.steal_seconds);
}

TEST(Resources, CpuTimeAndMemoryOfThisProcessGrow) {
  ResourceSample before = sample_resources();
  measure_multiply(1, "default", 0.05);
  std::vector<char> block(32 << 20, 1);
  ResourceSample after = sample_resources();
  EXPECT_GT(after.user_seconds + after.system_seconds, before.user_seconds + before.system_seconds);
  EXPECT_GE(after.peak_resident_bytes, after.resident_bytes);
  EXPECT_GT(after.peak_resident_bytes, block.size());
}

}  // namespace
}  // namespace paceline
