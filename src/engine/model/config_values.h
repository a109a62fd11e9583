// Values of a model's config.json, checked. They throw std::runtime_error with a short reason.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace paceline {

uint64_t config_count(const nlohmann::json& config, const char* key, uint64_t minimum, uint64_t maximum);
std::string config_choice(const nlohmann::json& config, const char* key,
                          const std::vector<std::string>& choices);

}  // namespace paceline
