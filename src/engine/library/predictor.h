// A model that answers texts.
#pragma once
#include "engine/api/engine.h"

namespace paceline {

// model: a model's folder or a run. Throws InputError.
std::unique_ptr<Predictor> make_predictor(const fs::path& model);

}  // namespace paceline
