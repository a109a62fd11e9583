// How a data set is shown.
#pragma once
#include <string>

#include "data/dataset/info.h"

namespace paceline::cli {

std::string dataset_summary(const DatasetInfo& info, const std::string& folder);

}  // namespace paceline::cli
