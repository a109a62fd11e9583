// Opens libpaceline_engine.so, which brings LibTorch with it, when a command needs it.
#pragma once
#include "engine/api/engine.h"

namespace paceline::cli {

// Throws WorkError that says what is missing. Opened once; stays open.
Engine& engine();
// Like engine(), with the reason instead of an exception.
Engine* try_engine(std::string& reason);

}  // namespace paceline::cli
