// A small program that starts itself as two workers, as `paceline train --workers 2` does, for tests of
// the supervisor with a real mpirun:  launched MODE [ARGUMENT]
// It also looks at hosts, as `paceline train --hosts` does:  launched hosts a:2,b:4
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "cluster/launch/mpirun_command.h"
#include "cluster/launch/program_files.h"
#include "cluster/launch/remote_hosts.h"
#include "cluster/launch/supervisor.h"
#include "cluster/launch/worker_environment.h"
#include "cluster/launch/worker_message.h"

namespace {

using namespace paceline;

class Console final : public LaunchListener {
  void output(std::string_view bytes) override { std::fwrite(bytes.data(), 1, bytes.size(), stdout); }
  void line(std::string_view line) override { fmt::print(stderr, "{}\n", line); }
  void begun() override { fmt::print(stderr, "begun\n"); }
};

[[noreturn]] void end(unsigned rank, int code, const std::string& sentence) {
  std::fputs(to_line({WorkerMessage::Kind::last_words, rank, code, sentence}).c_str(), stderr);
  _exit(code);
}

// Leaves its process ids in the current folder and waits to be interrupted.
[[noreturn]] void wait_to_be_interrupted(unsigned rank, bool stubborn) {
  const std::string name = fmt::format("worker-{}", rank);
  std::ofstream(name + ".partial") << getpid() << ' ' << getppid() << '\n';
  fs::rename(name + ".partial", name);
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    try {
      if (!stubborn) throw_if_interrupted();
    } catch (const Interrupted& signal) {
      end(rank, 128 + signal.signal(), fmt::format("interrupted: worker {} has saved", rank));
    }
  }
}

int work(unsigned rank, const std::string& mode, const std::string& argument) {
  end_with_launcher();
  if (mode == "wait" || mode == "stubborn") wait_to_be_interrupted(rank, mode == "stubborn");
  if (mode == "print" && rank == 0) {
    std::fputs(to_line({}).c_str(), stderr);
    std::fwrite(argument.data(), 1, argument.size(), stdout);
  }
  if (mode == "remark") fmt::print(stderr, "paceline: {}\n", argument);
  if (mode == "speak" && rank == 1) end(rank, std::stoi(argument), "the disk is full");
  if (mode == "exit" && rank == 1) return std::stoi(argument);
  if (mode == "speak" || mode == "exit") wait_to_be_interrupted(rank, false);
  return 0;
}

void launch(const std::vector<std::string>& arguments) {
  WorkerCommand command;
  command.groups.push_back({Host{"localhost", 2}, this_program().string()});
  command.arguments = arguments;
  command.environment = {{supervised_variable, "1"}};
  Console console;
  supervise({mpirun_command(find_mpirun("--workers 2"), command), command.environment, false,
             [] { return "go on"; }},
            console);
}

// Prints the program that each host would run.
int prepare(const std::string& hosts) {
  const auto remark = [](const std::string& sentence) { fmt::print(stderr, "{}\n", sentence); };
  for (const auto& [host, program] : prepare_hosts(parse_hosts({hosts}), ssh_command(), remark))
    fmt::print("{} {} {}\n", host.name, host.workers, program);
  return 0;
}

int complain(const std::exception& error, int code) {
  fmt::print(stderr, "paceline: {}\n", error.what());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  install_interrupt_handlers();
  try {
    if (const auto worker = worker_environment())
      return work(worker->rank, arguments.at(0), arguments.size() > 1 ? arguments[1] : "");
    if (arguments.at(0) == "--fingerprint") return fmt::print("{}\n", program_fingerprint()), 0;
    if (arguments[0] == "hosts") return prepare(arguments.at(1));
    launch(arguments);
    return 0;
  } catch (const InputError& error) {
    return complain(error, 2);
  } catch (const Interrupted& error) {
    return complain(error, 128 + error.signal());
  } catch (const std::exception& error) {
    return complain(error, 1);
  }
}
