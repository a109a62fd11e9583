// Small checkpoints whose contents follow from their step.
#pragma once
#include <numeric>

#include "../scratch.h"
#include "base/error.h"
#include "engine/checkpoint/checkpoint.h"

namespace paceline {

class CheckpointScratch : public Scratch {
 protected:
  using Steps = std::vector<uint64_t>;
  using Names = std::vector<std::string>;

  static std::vector<float> weights_of(uint64_t step, size_t size) {
    std::vector<float> weights(size);
    std::iota(weights.begin(), weights.end(), static_cast<float>(step % 1000) * 0.5f);
    return weights;
  }
  static void save(CheckpointWriter& writer, uint64_t step, const Names& best_for = {}, size_t size = 24) {
    const auto weights = weights_of(step, size);
    writer.save(step, {{"step", step}, {"loss", 0.25}},
                {{"weight", {size / 2, 2}, weights.data(), size / 2, 2, 2}}, best_for);
  }
  // Saves and waits; what went wrong, "" when nothing did.
  static std::string save_now(CheckpointWriter& writer, uint64_t step, const Names& best_for = {},
                              size_t size = 24) {
    save(writer, step, best_for, size);
    writer.wait();
    std::string problems;
    for (const auto& report : writer.take_reports()) problems += report.failure + report.warning;
    return problems;
  }
  static bool holds(const OpenCheckpoint& checkpoint, uint64_t step, size_t size = 24) {
    std::vector<float> weights(size);
    checkpoint.tensors.read("weight", {size / 2, 2}, weights.data(), 2, 2);
    return checkpoint.step == step && checkpoint.state.at("step") == step &&
           weights == weights_of(step, size);
  }
  static std::string refusal(const fs::path& checkpoint) {
    try {
      open_checkpoint(checkpoint);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  static bool says(const std::string& message, std::string_view part) {
    return message.find(part) != std::string::npos;
  }
  Steps listed() const { return listed(folder); }
  static Steps listed(const fs::path& checkpoints) {
    Steps steps;
    for (const auto& info : list_checkpoints(checkpoints)) steps.push_back(info.step);
    return steps;
  }
  fs::path step_folder(uint64_t step) const { return folder / fmt::format("step-{}", step); }
};

}  // namespace paceline
