// The parts of launching that need no process: environments, host lists, shares of cores, mpirun's words.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "cluster/launch/cores.h"
#include "cluster/launch/host_list.h"
#include "cluster/launch/mpirun_command.h"
#include "cluster/launch/mpirun_output.h"
#include "cluster/launch/remote_hosts.h"
#include "cluster/launch/worker_environment.h"

namespace paceline {
namespace {

std::optional<WorkerEnvironment> worker_in(const std::map<std::string, std::string>& variables) {
  return worker_environment([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  });
}

TEST(WorkerEnvironment, MpirunsRanksAreRecognised) {
  const auto worker = worker_in({{"OMPI_COMM_WORLD_RANK", "3"},
                                 {"OMPI_COMM_WORLD_SIZE", "6"},
                                 {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->rank, 3u);
  EXPECT_EQ(worker->size, 6u);
  EXPECT_EQ(worker->local_rank, 1u);
  EXPECT_EQ(worker->local_size, 4u);
  EXPECT_FALSE(worker->bound);
  EXPECT_FALSE(worker->supervised);
}

TEST(WorkerEnvironment, SrunsTasksAreRecognisedWhenItSpeaksMpi) {
  std::map<std::string, std::string> step = {{"SLURM_JOB_ID", "7"},
                                             {"SLURM_STEP_ID", "0"},
                                             {"SLURM_PROCID", "2"},
                                             {"SLURM_NTASKS", "4"},
                                             {"SLURM_STEP_NUM_TASKS", "4"},
                                             {"SLURM_LOCALID", "0"},
                                             {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};
  EXPECT_FALSE(worker_in(step)) << "--mpi=none: four programs that know nothing of each other";
  step["PMIX_RANK"] = "2";
  const auto worker = worker_in(step);
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->rank, 2u);
  EXPECT_EQ(worker->size, 4u);
  EXPECT_EQ(worker->local_rank, 0u);
  EXPECT_EQ(worker->local_size, 2u);
  step["SLURM_CPU_BIND"] = "quiet,mask_cpu:0x3,0xC";
  EXPECT_TRUE(worker_in(step)->bound);
}

TEST(WorkerEnvironment, WhoIsAloneIsNoWorker) {
  EXPECT_FALSE(worker_in({}));
  EXPECT_FALSE(worker_in({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}));
  EXPECT_FALSE(worker_in({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "2"}}));
  // A shell of salloc, or a batch script.
  EXPECT_FALSE(worker_in({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}));
  // srun -n 1 inside an allocation of four.
  EXPECT_FALSE(worker_in({{"SLURM_STEP_ID", "0"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_NTASKS", "4"},
                          {"SLURM_STEP_NUM_TASKS", "1"},
                          {"PMIX_RANK", "0"}}));
}

TEST(WorkerEnvironment, OneWorkerOfASupervisorIsOne) {
  const auto worker =
      worker_in({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}, {supervised_variable, "1"}});
  ASSERT_TRUE(worker);
  EXPECT_TRUE(worker->supervised);
  EXPECT_FALSE(worker_in({{supervised_variable, "1"}}));
}

TEST(HostList, HostsAndTheirWorkersAreRead) {
  const std::vector<Host> hosts = parse_hosts({"a:2,node-7.lab:40", "c"});
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].name, "a");
  EXPECT_EQ(hosts[0].workers, 2u);
  EXPECT_EQ(hosts[1].name, "node-7.lab");
  EXPECT_EQ(hosts[1].workers, 40u);
  EXPECT_EQ(hosts[2].workers, 1u);
  EXPECT_EQ(workers_of(hosts), 43u);
}

TEST(HostList, AMalformedListIsRefusedInOneSentence) {
  for (const char* text : {"",
                           ",",
                           "a,",
                           ",a",
                           "a,,b",
                           "a:0",
                           "a:x",
                           "a:",
                           "a:-1",
                           "a:2x",
                           "a:5000",
                           "a:2,a:1",
                           "-oProxyCommand=x:1",
                           "a;reboot:1",
                           "$(x)",
                           "a b",
                           "a:1 ",
                           "x@b",
                           ".a",
                           "a:3000,b:3000"})
    EXPECT_THROW(
        {
          try {
            parse_hosts({text});
          } catch (const InputError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("--hosts: ")) << error.what();
            throw;
          }
        },
        InputError)
        << "'" << text << "'";
  EXPECT_THROW(parse_hosts({}), InputError);
}

TEST(HostList, ThisMachineIsKnownByItsNames) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  EXPECT_TRUE(is_this_machine("localhost"));
  EXPECT_TRUE(is_this_machine(name));
  EXPECT_FALSE(is_this_machine("another-machine"));
}

using Cores = std::vector<unsigned>;

TEST(Cores, EveryCoreBelongsToOneWorker) {
  for (unsigned cores : {2u, 3u, 7u, 64u}) {
    Cores allowed;
    for (unsigned i = 0; i < cores; ++i) allowed.push_back(2 * i + 1);
    for (unsigned workers = 1; workers <= cores; ++workers) {
      Cores all;
      for (unsigned i = 0; i < workers; ++i) {
        const CoreShare share = share_of_cores(allowed, std::nullopt, i, workers);
        EXPECT_GE(share.cores.size(), cores / workers);
        EXPECT_LE(share.cores.size(), cores / workers + 1);
        EXPECT_EQ(share.executors, share.cores.size());
        all.insert(all.end(), share.cores.begin(), share.cores.end());
      }
      EXPECT_EQ(all, allowed) << workers << " workers";
    }
  }
}

TEST(Cores, AQuotaIsDividedAmongTheWorkers) {
  const Cores allowed = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(share_of_cores(allowed, 3.5, 0, 2).executors, 2u);
  EXPECT_EQ(share_of_cores(allowed, 3.5, 1, 2).executors, 2u);
  EXPECT_EQ(share_of_cores(allowed, 3.5, 1, 2).cores, (Cores{4, 5, 6, 7}));
  EXPECT_EQ(share_of_cores(allowed, 0.4, 1, 2).executors, 1u) << "at least one";
  EXPECT_EQ(share_of_cores(allowed, 100, 0, 4).executors, 2u) << "a quota beyond the cores is none";
  unsigned total = 0;
  for (unsigned i = 0; i < 3; ++i) total += share_of_cores(allowed, 5, i, 3).executors;
  EXPECT_EQ(total, 5u);
}

TEST(Cores, MoreWorkersThanCoresStayUnpinned) {
  for (unsigned i = 0; i < 3; ++i) {
    const CoreShare share = share_of_cores({0, 1}, std::nullopt, i, 3);
    EXPECT_TRUE(share.cores.empty());
    EXPECT_EQ(share.executors, 1u);
  }
}

TEST(Cores, AThreadStaysWhereItIsTold) {
  const Cores before = allowed_cores();
  ASSERT_FALSE(before.empty());
  stay_on({before.back()});
  EXPECT_EQ(allowed_cores(), Cores{before.back()});
  stay_on(before);
  EXPECT_EQ(allowed_cores(), before);
}

struct Heard {
  std::vector<std::string> shown;
  int begun = 0;
  MpirunOutput output{[this](std::string_view line) { shown.emplace_back(line); }, [this] { ++begun; }};
  // In pieces of any size: the result must not depend on them.
  explicit Heard(std::string_view text, size_t piece = 7) {
    for (size_t i = 0; i < text.size(); i += piece) output.take(text.substr(i, piece));
    output.finish();
  }
};

const std::string rule(74, '-');

TEST(MpirunOutput, ABannerAboutASignalIsUnderstoodAndNotShown) {
  const Heard heard(
      rule +
      "\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per "
      "user-direction, the job has been aborted.\n" +
      rule + "\n" + rule +
      "\nmpirun noticed that process rank 1 with PID 0 on node b exited on signal 9 (Killed).\n" + rule +
      "\n");
  EXPECT_TRUE(heard.shown.empty()) << heard.shown[0];
  ASSERT_TRUE(heard.output.death());
  EXPECT_EQ(heard.output.death()->sentence(true), "worker 1 on host b was killed by signal 9 (Killed)");
  EXPECT_EQ(heard.output.death()->sentence(false), "worker 1 was killed by signal 9 (Killed)");
  EXPECT_EQ(heard.output.complaint(), "");
}

TEST(MpirunOutput, OtherWaysToDieAreUnderstood) {
  EXPECT_EQ(Heard(rule +
                  "\nmpirun detected that one or more processes exited with non-zero status, thus "
                  "causing\nthe job to "
                  "be terminated. The first process to do so was:\n\n  Process name: [[1480,1],12]\n  Exit "
                  "code:    3\n" +
                  rule + "\n")
                .output.death()
                ->sentence(true),
            "worker 12 ended with exit code 3");
  EXPECT_EQ(Heard(rule +
                  "\nmpirun has exited due to process rank 1 with PID 0 on\nnode b exiting improperly. There "
                  "are three "
                  "reasons this could occur:\n\n1. this process did not call init\n" +
                  rule + "\n")
                .output.death()
                ->sentence(true),
            "worker 1 on host b ended before its work was done");
  EXPECT_EQ(Heard(rule +
                  "\nORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[9,0],0] on node "
                  "a\n  Remote "
                  "daemon: [[9,0],1] on node b\n\nThis is usually due to\n" +
                  rule + "\n")
                .output.death()
                ->sentence(true),
            "host b was lost");
}

TEST(MpirunOutput, WhatIsNotUnderstoodIsKeptForTheEnd) {
  const Heard heard(rule + "\nThere are not enough slots\navailable in the system.\n" + rule +
                    "\n[vm:123] noise\n");
  EXPECT_TRUE(heard.shown.empty());
  EXPECT_FALSE(heard.output.death());
  EXPECT_EQ(heard.output.complaint(), "There are not enough slots available in the system.");
}

TEST(MpirunOutput, LinesOfWorkersArePassedOn) {
  const Heard heard(
      "train     1,000 samples\npaceline: a remark\npaceline: a remark\n[not open mpi]\nno end");
  EXPECT_EQ(heard.shown, (std::vector<std::string>{"train     1,000 samples", "paceline: a remark",
                                                   "[not open mpi]", "no end"}));
}

TEST(MpirunOutput, MessagesOfWorkersAreTakenOut) {
  const Heard heard("half a line" + to_line({}) +
                    to_line({WorkerMessage::Kind::last_words, 3, 2, "--data x: it is missing"}));
  EXPECT_EQ(heard.shown, std::vector<std::string>{"half a line"});
  EXPECT_EQ(heard.begun, 1);
  ASSERT_EQ(heard.output.last_words().size(), 1u);
  EXPECT_EQ(heard.output.last_words()[0].rank, 3u);
  EXPECT_EQ(heard.output.last_words()[0].code, 2);
  EXPECT_EQ(heard.output.last_words()[0].sentence, "--data x: it is missing");
}

TEST(MpirunCommand, EveryHostHasItsPartOfTheCommand) {
  WorkerCommand command;
  command.groups.push_back({Host{"a", 2}, "/here/paceline"});
  command.groups.push_back({Host{"b", 4}, "/there/paceline"});
  command.arguments = {"train", "--data", "x"};
  command.environment = {{"NAME", "1"}};
  command.ssh = "ssh -p 22";
  std::string line;
  for (const auto& word : mpirun_command("/usr/bin/mpirun", command)) line += word + " ";
  EXPECT_TRUE(
      line.ends_with("--host a:2 -np 2 -x NAME /here/paceline train --data x : --host b:4 -np 4 -x NAME "
                     "/there/paceline train --data x "))
      << line;
  EXPECT_NE(line.find("--mca plm_rsh_agent ssh -p 22 "), std::string::npos) << line;
}

TEST(ShellQuoted, AQuotedWordIsOneWordOfAShell) {
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace paceline
