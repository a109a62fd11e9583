#include "base/machine/doctor.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/engine_library.h"

namespace paceline::cli {
namespace {

EngineFacts examine_engine(unsigned threads) {
  EngineFacts facts;
  Engine* engine = try_engine(facts.problem);
  if (engine == nullptr) return facts;
  facts.libtorch_version = engine->libtorch_version();
  facts.cuda = loaded_cuda_version();
  if (threads == 0) return facts;
  facts.gemm_one = engine->measure_gemm_gflops(1);
  facts.gemm_all = threads == 1 ? facts.gemm_one : engine->measure_gemm_gflops(threads);
  return facts;
}

class Doctor final : public Command {
 public:
  void declare(FieldTable& table) override {
    table.text("folder", &folder_, "Examine the disk of this folder.").named("FOLDER");
    table.flag("quick", &quick_, "Skip the measurements of speed.");
    declare_json(table, &json_);
  }

  int run() override {
    if (!fs::is_directory(folder_)) input_error("--folder {}: there is no such folder", folder_);
    DoctorOptions options;
    options.folder = folder_;
    options.measure = !quick_;
    options.examine_engine = examine_engine;
    std::vector<Finding> findings = examine_machine(options);
    Table table({"state", "subject", "found", "advice"});
    for (const Finding& finding : findings)
      table.add({std::string(to_string(finding.state)), finding.subject, finding.found, finding.advice});
    if (json_) {
      print_json(table.json());
    } else {
      print(findings);
    }
    return needs_fixing(findings) ? 1 : 0;
  }

 private:
  // A line per finding and its advice below it: both are sentences, too long for columns side by side.
  static void print(const std::vector<Finding>& findings) {
    size_t fixes = 0;
    for (const Finding& finding : findings) {
      fmt::print("{:<5} {:<17} {}\n", to_string(finding.state), finding.subject, finding.found);
      if (!finding.advice.empty()) fmt::print("{:<5} {:<17}   {}\n", "", "", finding.advice);
      fixes += finding.state == Finding::State::fix;
    }
    if (fixes == 0) {
      fmt::print("\nThis machine can train.\n");
    } else {
      fmt::print("\n{} to fix before this machine can train (FIX above).\n", fixes);
    }
  }

  std::string folder_ = ".";
  bool quick_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace paceline::cli
