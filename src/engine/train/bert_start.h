// What a run of model bert takes from its data set and from the model that it starts from.
#pragma once
#include "engine/train/run.h"

namespace paceline {

// Sets what the user left open: shape and dropout as in the model that --init names, rows of the embedding,
// and the longest text. Throws InputError for options that contradict the model, the data set or each other.
void resolve_bert(TrainOptions& options, const DatasetInfo& data);

// Sets the learner's weights to those of the model that --init names; the run's remarks say which tensors it
// has not.
void start_from_init(Run& run);

// The checksum of each file of the weights that --init names.
nlohmann::ordered_json init_checksums(const TrainOptions& options);

}  // namespace paceline
