#include "base/machine/limits.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

#include "base/machine/proc.h"
#include "machine_fake_root.h"

namespace paceline {
namespace {

constexpr uint64_t GiB = uint64_t{1} << 30;

// Eight cores and 16 GiB, of which 12 GiB are available.
class Limits : public testing::Test {
 protected:
  Limits() {
    root_.file("sys/devices/system/cpu/online", "0-7\n");
    root_.file("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nVmRSS:\t 10 kB\n");
    root_.file("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:   12582912 kB\n");
  }
  void v2(std::string_view group, std::string_view mounted = "/") {
    root_.file("proc/self/cgroup", "0::" + std::string(group) + "\n");
    root_.file("proc/self/mountinfo", "24 1 0:22 / /proc rw - proc proc rw\n30 23 0:26 " +
                                          std::string(mounted) +
                                          " /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void v1(std::string_view group, std::string_view mounted = "/") {
    std::string g(group), m(mounted);
    root_.file("proc/self/cgroup", "9:name=systemd:/x\n4:memory:" + g + "\n2:cpu,cpuacct:" + g + "\n");
    root_.file("proc/self/mountinfo",
               "33 31 0:30 " + m + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
                   "35 31 0:32 " + m + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }
  MachineLimits limits() { return read_limits(root_.path()); }
  FakeRoot root_;
};

TEST_F(Limits, WithoutControlGroupsTheWholeMachineIsUsable) {
  MachineLimits found = limits();
  EXPECT_EQ(found.logical_cores, 8u);
  EXPECT_EQ(found.affinity_cores, 8u);
  EXPECT_FALSE(found.quota);
  EXPECT_FALSE(found.memory_limit);
  EXPECT_EQ(found.usable_cores(), 8u);
  EXPECT_EQ(found.memory_total, 16 * GiB);
  EXPECT_EQ(found.usable_memory(), 12 * GiB);
}

TEST_F(Limits, AffinityCountsOnlyCoresThatAreOnline) {
  root_.file("proc/self/status", "Cpus_allowed_list:\t1,3-4\n");
  EXPECT_EQ(limits().usable_cores(), 3u);
  root_.file("proc/self/status", "Cpus_allowed_list:\t0-127\n");
  EXPECT_EQ(limits().usable_cores(), 8u);
}

TEST_F(Limits, Version2QuotaAndMemoryAreFound) {
  v2("/");
  root_.file("sys/fs/cgroup/cpu.max", "150000 100000\n");
  root_.file("sys/fs/cgroup/memory.max", "2147483648\n");
  root_.file("sys/fs/cgroup/memory.current", "1073741824\n");
  root_.file("sys/fs/cgroup/memory.stat", "anon 1\ninactive_file 536870912\nactive_file 5\n");
  MachineLimits found = limits();
  ASSERT_TRUE(found.quota);
  EXPECT_DOUBLE_EQ(found.quota->cores, 1.5);
  EXPECT_EQ(found.quota->source, "cgroup v2 cpu.max");
  EXPECT_EQ(found.usable_cores(), 2u);
  ASSERT_TRUE(found.memory_limit);
  EXPECT_EQ(found.memory_limit->bytes, 2 * GiB);
  EXPECT_EQ(found.memory_limit->source, "cgroup v2 memory.max");
  // 2 GiB less what is used, but cached files are given back.
  EXPECT_EQ(found.usable_memory(), 3 * GiB / 2);
}

TEST_F(Limits, TheSmallestOfNestedGroupsWins) {
  v2("/jobs/17/step");
  root_.file("sys/fs/cgroup/jobs/17/step/cpu.max", "max 100000\n");
  root_.file("sys/fs/cgroup/jobs/17/step/memory.max", "8589934592\n");
  root_.file("sys/fs/cgroup/jobs/17/cpu.max", "400000 200000\n");
  root_.file("sys/fs/cgroup/jobs/17/memory.max", "max\n");
  root_.file("sys/fs/cgroup/jobs/cpu.max", "700000 100000\n");
  root_.file("sys/fs/cgroup/jobs/memory.max", "4294967296\n");
  MachineLimits found = limits();
  EXPECT_DOUBLE_EQ(found.quota->cores, 2.0);
  EXPECT_EQ(found.usable_cores(), 2u);
  EXPECT_EQ(found.memory_limit->bytes, 4 * GiB);
  EXPECT_EQ(found.usable_memory(), 4 * GiB);
}

TEST_F(Limits, MaxMeansNoLimit) {
  v2("/a");
  root_.file("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  root_.file("sys/fs/cgroup/a/memory.max", "max\n");
  MachineLimits found = limits();
  EXPECT_FALSE(found.quota);
  EXPECT_FALSE(found.memory_limit);
  EXPECT_TRUE(found.not_understood.empty());
  EXPECT_EQ(found.usable_cores(), 8u);
}

TEST_F(Limits, AQuotaBelowOneCoreStillGivesOneExecutor) {
  v2("/");
  root_.file("sys/fs/cgroup/cpu.max", "40000 100000\n");
  EXPECT_DOUBLE_EQ(limits().quota->cores, 0.4);
  EXPECT_EQ(limits().usable_cores(), 1u);
}

TEST_F(Limits, Version1QuotaAndMemoryAreFound) {
  v1("/docker/abc");
  root_.file("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "250000\n");
  root_.file("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  root_.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root_.file("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "1073741824\n");
  root_.file("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "268435456\n");
  root_.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  MachineLimits found = limits();
  EXPECT_DOUBLE_EQ(found.quota->cores, 2.5);
  EXPECT_EQ(found.quota->source, "cgroup v1 cpu.cfs_quota_us");
  EXPECT_EQ(found.usable_cores(), 3u);
  EXPECT_EQ(found.memory_limit->bytes, GiB);
  EXPECT_EQ(found.memory_limit->source, "cgroup v1 memory.limit_in_bytes");
  EXPECT_EQ(found.usable_memory(), 3 * GiB / 4);
}

TEST_F(Limits, Version1WritesNoLimitAsAHugeNumber) {
  v1("/");
  root_.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root_.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(limits().quota);
  EXPECT_FALSE(limits().memory_limit);
}

TEST_F(Limits, AContainerSeesItsGroupAsTheRootOfTheMount) {
  v1("/docker/abc", "/docker/abc");
  root_.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
  root_.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000\n");
  EXPECT_DOUBLE_EQ(limits().quota->cores, 2.0);
}

TEST_F(Limits, AGroupOutsideTheMountFallsBackToTheMount) {
  v2("/../../other", "/");
  root_.file("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(limits().usable_cores(), 3u);
  v2("/elsewhere", "/docker/abc");
  EXPECT_EQ(limits().usable_cores(), 3u);
}

TEST_F(Limits, HybridMachinesCombineBothVersions) {
  root_.file("proc/self/cgroup", "4:memory:/box\n1:cpu:/\n0::/user\n");
  root_.file("proc/self/mountinfo",
             "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
             "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
             "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
  root_.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "600000");
  root_.file("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "3221225472");
  root_.file("sys/fs/cgroup/unified/user/cpu.max", "500000 100000");
  MachineLimits found = limits();
  EXPECT_EQ(found.usable_cores(), 5u);
  EXPECT_EQ(found.quota->source, "cgroup v2 cpu.max");
  EXPECT_EQ(found.memory_limit->bytes, 3 * GiB);
}

TEST_F(Limits, WithoutMountinfoTheUsualPlacesAreTried) {
  root_.file("proc/self/cgroup", "4:memory:/box\n0::/\n");
  root_.file("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824");
  root_.file("sys/fs/cgroup/cpu.max", "200000 100000");
  EXPECT_EQ(limits().memory_limit->bytes, GiB);
  EXPECT_EQ(limits().usable_cores(), 2u);
}

TEST_F(Limits, AMountPointWithASpaceIsFound) {
  root_.file("proc/self/cgroup", "0::/\n");
  root_.file("proc/self/mountinfo", "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  root_.file("my groups/cpu.max", "100000 100000");
  EXPECT_EQ(limits().usable_cores(), 1u);
}

TEST_F(Limits, GarbageIsNamedAndTakenAsNoLimit) {
  v2("/a");
  for (const char* text : {"", "garbage", "0 100000", "100000 0", "-5 100000", "1e5 100000", "1 2 3",
                           "99999999999999999999 100000"}) {
    root_.file("sys/fs/cgroup/a/cpu.max", text);
    MachineLimits found = limits();
    EXPECT_FALSE(found.quota) << text;
    ASSERT_EQ(found.not_understood.size(), 1u) << text;
    EXPECT_TRUE(found.not_understood[0].ends_with("sys/fs/cgroup/a/cpu.max"));
    EXPECT_EQ(found.usable_cores(), 8u) << text;
  }
  root_.file("sys/fs/cgroup/a/cpu.max", "max");
  root_.file("sys/fs/cgroup/a/memory.max", "12 potatoes");
  EXPECT_FALSE(limits().memory_limit);
  EXPECT_EQ(limits().not_understood.size(), 1u);
}

TEST_F(Limits, GarbageInProcDoesNotCrash) {
  root_.file("proc/self/cgroup", "nonsense\n::\n:\n4:memory\n\n0::");
  root_.file("proc/self/mountinfo", " - \n- cgroup2\n1 2 - cgroup2\n");
  root_.file("proc/self/status", "Cpus_allowed_list:\t9-2,x\n");
  root_.file("proc/meminfo", "MemTotal: many kB\n");
  root_.file("sys/devices/system/cpu/online", "zero\n");
  MachineLimits found = limits();
  EXPECT_EQ(found.usable_cores(), 1u);
  EXPECT_EQ(found.usable_memory(), 0u);
}

TEST(EmptyRoot, IsAMachineOfOneCoreAndUnknownMemory) {
  FakeRoot root;
  MachineLimits found = read_limits(root.path());
  EXPECT_EQ(found.usable_cores(), 1u);
  EXPECT_EQ(found.usable_memory(), 0u);
}

TEST(ThisMachine, AffinityAgreesWithTheScheduler) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  MachineLimits found = read_limits();
  EXPECT_EQ(found.affinity_cores, static_cast<unsigned>(CPU_COUNT(&set)));
  EXPECT_GE(usable_cores(), 1u);
  EXPECT_LE(usable_cores(), found.affinity_cores);
  EXPECT_GT(usable_memory(), 0u);
}

TEST(Proc, CpuListsAreCounted) {
  EXPECT_EQ(count_cpu_list("0"), 1u);
  EXPECT_EQ(count_cpu_list("0-3,8,10-11\n"), 7u);
  for (const char* bad : {"", "-", "3-1", "a", "1,,2", "0-99999999999"})
    EXPECT_FALSE(count_cpu_list(bad)) << bad;
}

TEST(Proc, AFieldIsFoundByItsWholeName) {
  const char* text = "MemTotalExtra: 5 kB\nMemTotal:  7 kB\nempty:\n";
  EXPECT_EQ(proc_number(text, "MemTotal"), 7u * 1024);
  EXPECT_EQ(proc_field(text, "empty"), "");
  EXPECT_FALSE(proc_field(text, "Mem"));
}

}  // namespace
}  // namespace paceline
