#include <set>

#include "base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/manifest.h"
#include "engine/checkpoint/retention.h"
#include "engine/checkpoint/step_folder.h"

namespace paceline {

std::vector<CheckpointInfo> list_checkpoints(const fs::path& folder) {
  auto complete = complete_checkpoints(folder);
  std::set<std::string> held;
  for (auto at = complete.rbegin(); at != complete.rend(); ++at)
    std::erase_if(at->best_for, [&](const std::string& metric) { return !held.insert(metric).second; });
  return complete;
}

OpenCheckpoint open_checkpoint(const fs::path& folder) {
  const Manifest manifest = read_manifest(folder);
  for (const auto& file : manifest.files) verify_file(folder, file);
  const fs::path state = folder / state_file;
  try {
    return {manifest.step, folder, nlohmann::json::parse(read_file(state, max_state_bytes)),
            SafetensorsReader(folder / tensors_file)};
  } catch (const nlohmann::json::exception& problem) {
    input_error("{}: not usable: {}", state.string(), problem.what());
  }
}

std::optional<OpenCheckpoint> open_newest_checkpoint(const fs::path& folder,
                                                     std::vector<std::string>& problems) {
  auto steps = steps_in(folder);
  for (; !steps.empty(); steps.pop_back()) {
    try {
      return open_checkpoint(folder / step_name(steps.back()));
    } catch (const NewerVersion&) {
      throw;
    } catch (const std::runtime_error& problem) {
      problems.emplace_back(problem.what());
    }
  }
  return {};
}

}  // namespace paceline
