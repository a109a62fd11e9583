// JSON from strangers.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

namespace paceline {

// Like nlohmann's parse, and refuses keys that occur twice in an object, and nesting so deep that printing a
// value could overflow the stack. Throws std::runtime_error with a short reason.
nlohmann::json parse_strict_json(std::string_view text);

}  // namespace paceline
