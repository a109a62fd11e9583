// Workers that should not work together, ports that are taken, workers that die, and the end by Ctrl-C.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "crew.h"

namespace paceline {
namespace {

class WorkerFaults : public Distributed {
 protected:
  static Words lstm(const std::string& out, const Words& more = {}) {
    return train(trained_models().at(1), out, more);
  }
  // So long that it does not end by itself, and so short that every step is recorded.
  static Words endless(const std::string& out) {
    return lstm(out, {"--workers", "2", "--steps", "9000", "--save-every", "50", "--evaluate-every", "9000"});
  }
  static bool is_under_way(const std::string& out) {
    return !checkpoints(out).empty() && events(out, "step").size() > 60;
  }

  // One sentence of the program's, whatever mpirun says around it, with these parts.
  static void refuse_by_hand(const Words& first, const Words& second, const Words& parts) {
    const Output output = Process(by_hand({first, second})).wait();
    EXPECT_EQ(output.code, 2) << output.err;
    const Words said = sentences(output.err);
    ASSERT_EQ(said.size(), 1u) << output.err;
    for (const auto& part : parts) EXPECT_TRUE(has(said[0], part)) << said[0];
    EXPECT_FALSE(fs::exists("run"));
  }
};

// A TCP port that somebody else listens on.
class TakenPort {
 public:
  TakenPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 1), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~TakenPort() { close(socket_); }
  std::string text() const { return std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
};

TEST_F(WorkerFaults, AnotherConfigurationIsNamedWithItsWorker) {
  refuse_by_hand(lstm("run"), lstm("run", {"--learning-rate", "0.5"}), {"worker 1", "learning-rate", "0.5"});
}

TEST_F(WorkerFaults, AnotherDataSetIsNamedWithItsWorker) {
  ASSERT_EQ(run({"generate", "reviews", "--rows", "600", "--seed", "9", "--out", "other.jsonl"}).code, 0);
  ASSERT_EQ(run(prepare_reviews("other.jsonl", "other")).code, 0);
  refuse_by_hand(lstm("run"), lstm("run", {"--data", "other"}), {"worker 1", "another data set"});
}

TEST_F(WorkerFaults, AProblemOfAnyWorkerIsToldOnce) {
  refuse_by_hand(lstm("run"), lstm("run", {"--data", "nowhere"}), {"worker 1", "nowhere"});
}

TEST_F(WorkerFaults, APortInUseIsNamed) {
  const TakenPort taken;
  refuses(lstm("run", {"--workers", "2", "--port", taken.text()}), {"--port", taken.text()});
}

TEST_F(WorkerFaults, AWorkerThatDiesEndsTheOthersAndIsNamed) {
  Process process(with_program(endless("run")));
  ASSERT_TRUE(until(process, [] { return is_under_way("run"); }));
  const pid_t victim = worker("run", 1);
  ASSERT_NE(victim, 0);
  const auto begin = std::chrono::steady_clock::now();
  kill(victim, SIGKILL);
  const Output output = process.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_TRUE(is_one_sentence(output, 1, {"worker 1", "--resume"}));
  EXPECT_TRUE(all_are_gone("run"));
}

TEST_F(WorkerFaults, TheFirstWorkerMayDieToo) {
  Process process(with_program(endless("run")));
  ASSERT_TRUE(until(process, [] { return is_under_way("run"); }));
  const pid_t victim = worker("run", 0);
  ASSERT_NE(victim, 0);
  kill(victim, SIGKILL);
  EXPECT_TRUE(is_one_sentence(process.wait(), 1, {"worker 0", "--resume"}));
  EXPECT_TRUE(all_are_gone("run"));
}

TEST_F(WorkerFaults, AnInterruptSavesAndLeavesNobodyBehind) {
  for (int number : {SIGINT, SIGTERM}) {
    fs::remove_all("run");
    Process process(with_program(endless("run")));
    ASSERT_TRUE(until(process, [] { return is_under_way("run"); }));
    process.signal(number);
    const Output output = process.wait();
    const std::string step = last("run", "end").at("step").dump();
    EXPECT_TRUE(is_one_sentence(output, 128 + number, {"interrupted: saved at step " + step, "--resume"}));
    EXPECT_EQ(checkpoints("run").back(), "step-" + step);
    EXPECT_TRUE(all_are_gone("run"));
  }
}

TEST_F(WorkerFaults, AKilledLauncherLeavesNobodyBehind) {
  Process process(with_program(endless("run")));
  ASSERT_TRUE(until(process, [] { return is_under_way("run"); }));
  process.signal(SIGKILL);
  process.wait();
  EXPECT_TRUE(all_are_gone("run"));
}

}  // namespace
}  // namespace paceline
