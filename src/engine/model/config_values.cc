#include "engine/model/config_values.h"

#include <fmt/core.h>

#include <algorithm>

namespace paceline {

uint64_t config_count(const nlohmann::json& config, const char* key, uint64_t minimum, uint64_t maximum) {
  const auto& value = config.at(key);
  if (!value.is_number_unsigned() || value.get<uint64_t>() < minimum || value.get<uint64_t>() > maximum)
    throw std::runtime_error(
        fmt::format("'{}' is {}, {} to {} is possible", key, value.dump(), minimum, maximum));
  return value.get<uint64_t>();
}

std::string config_choice(const nlohmann::json& config, const char* key,
                          const std::vector<std::string>& choices) {
  auto value = config.at(key).get<std::string>();
  if (std::find(choices.begin(), choices.end(), value) == choices.end())
    throw std::runtime_error(fmt::format("'{}' is '{}', which is not known", key, value));
  return value;
}

}  // namespace paceline
