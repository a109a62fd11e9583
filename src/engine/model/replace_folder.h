// A folder that takes the place of another in one moment.
#pragma once
#include "base/files.h"

namespace paceline {

// staging becomes folder; what was at folder is removed afterwards. At no moment is neither there. Throws
// WorkError.
void replace_folder(const fs::path& staging, const fs::path& folder);

}  // namespace paceline
