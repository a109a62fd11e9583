// Hosts that are looked at before workers start there, through a program in place of ssh that runs
// everything here, with another home for each host.
#include "../cli/program.h"
#include "base/machine/software.h"
#include "cluster/launch/shared_memory.h"

namespace paceline {
namespace {

class RemoteHosts : public Scratch {
 protected:
  void SetUp() override {
    Scratch::SetUp();
    if (!find_program("mpirun")) GTEST_SKIP() << "mpirun is not installed (openmpi-bin)";
    here_ = fs::current_path().string();
    program_ = here_ + "/bin/paceline";
    fs::create_directories("bin");
    fs::copy_file(PACELINE_PROGRAM, program_);
    write("agent",
          "#!/bin/sh\n"
          "host=$1; shift; command=$*; HOME=" +
              here_ +
              "/home-$host; export HOME\n"
              "case $host in\n"
              "gone) echo 'ssh: connect to host gone port 22: No route to host' >&2; exit 255 ;;\n"
              "bare) mkdir -p $HOME; ln -sf /bin/sh $HOME/sh; PATH=$HOME; export PATH ;;\n"
              "old) mkdir -p $HOME; printf '#!/bin/sh\\necho \"mpirun (Open MPI) 3.1.6\"\\n' > $HOME/mpirun\n"
              "  chmod +x $HOME/mpirun; PATH=$HOME:$PATH; export PATH ;;\n"
              "far) mkdir -p $HOME; command=$(printf %s \"$command\" | sed 's|" +
              program_ +
              "|/nonexistent|') ;;\n"
              "foreign) mkdir -p $HOME; command=$(printf %s \"$command\" | sed "
              "'s|\"$part/paceline\"|/bin/false|; s|" +
              program_ +
              "|/nonexistent|') ;;\n"
              "esac\n"
              "echo Welcome to $host\n"
              "exec /bin/sh -c \"$command\"\n");
    fs::permissions("agent", fs::perms::owner_all);
  }
  Output look(const std::string& hosts) const {
    return Process({"env", "PACELINE_SSH=" + here_ + "/agent", program_, "hosts", hosts}).wait();
  }
  std::string here_, program_;
};

TEST_F(RemoteHosts, AHostThatCannotTakePartIsNamedWithTheReason) {
  EXPECT_TRUE(is_one_sentence(look("near:2,gone:1"), 2,
                              {"--hosts: gone cannot be reached over ssh", "No route to host", "gone true"}));
  EXPECT_TRUE(is_one_sentence(look("bare:1"), 2, {"--hosts: bare has no Open MPI", "openmpi-bin"}));
  EXPECT_TRUE(
      is_one_sentence(look("old:1"), 2, {"--hosts: old has mpirun (Open MPI) 3.1.6", "the same version"}));
}

TEST_F(RemoteHosts, TheProgramIsCopiedOnceToAHostThatLacksIt) {
  const Output first = look("near:2,far:4,localhost");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(has(first.err, "far: the program is copied there")) << first.err;
  EXPECT_FALSE(has(first.err, "near")) << first.err;
  EXPECT_TRUE(has(first.out, "near 2 " + program_ + "\n")) << first.out;
  EXPECT_TRUE(has(first.out, "localhost 1 " + program_ + "\n")) << first.out;
  const std::string begin = "far 4 " + here_ + "/home-far/.cache/paceline/";
  ASSERT_TRUE(has(first.out, begin)) << first.out;

  const size_t place = first.out.find(begin) + 6;
  const std::string copy = first.out.substr(place, first.out.find('\n', place) - place);
  fs::rename("bin", "away");
  EXPECT_EQ(Process({copy, "--fingerprint"}).wait().out,
            Process({"away/paceline", "--fingerprint"}).wait().out);
  fs::rename("away", "bin");

  const Output second = look("near:2,far:4,localhost");
  EXPECT_EQ(second.out, first.out);
  EXPECT_EQ(second.err, "");
}

TEST_F(RemoteHosts, AHostOnWhichTheProgramDoesNotRunIsNamedAndKeepsNoCopy) {
  const Output output = look("foreign:1");
  EXPECT_EQ(output.code, 2);
  EXPECT_TRUE(has(output.err, "--hosts: foreign cannot run this program: its answer is: nothing"))
      << output.err;
  EXPECT_TRUE(fs::is_empty("home-foreign/.cache/paceline"));
}

TEST(SharedMemory, TheFolderGoesWithWhatIsInIt) {
  fs::path path;
  {
    const SharedMemoryFolder folder;
    path = folder.path();
    write_file_atomically(path / "segment", "bytes");
    EXPECT_TRUE(fs::exists(path / "segment"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(SharedMemory, WhatAKilledRunLeftIsRemovedWhenItIsOldAndEmpty) {
  const SharedMemoryFolder mine;
  const auto beside = [&](const char* name) { return mine.path().parent_path() / name; };
  const fs::path left = beside("paceline-left"), fresh = beside("paceline-fresh"),
                 full = beside("paceline-full");
  for (const fs::path& folder : {left, fresh, full}) fs::create_directory(folder);
  write_file_atomically(full / "segment", "bytes");
  for (const fs::path& folder : {left, full})
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(2));
  const SharedMemoryFolder next;
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(full / "segment"));
  for (const fs::path& folder : {fresh, full}) fs::remove_all(folder);
}

}  // namespace
}  // namespace paceline
