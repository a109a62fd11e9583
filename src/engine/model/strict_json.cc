#include "engine/model/strict_json.h"

#include <set>

#include "base/error.h"
#include "base/shortened.h"

namespace paceline {

nlohmann::json parse_strict_json(std::string_view text) {
  constexpr int deepest = 100;
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto look = [&](int depth, Event event, nlohmann::json& value) {
    if (depth > deepest) throw std::runtime_error(fmt::format("it is nested more than {} deep", deepest));
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
      throw std::runtime_error(fmt::format("it has the key '{}' twice", shortened(value.get<std::string>())));
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), look);
  } catch (const nlohmann::json::parse_error& problem) {
    throw std::runtime_error(fmt::format("it is not JSON (at byte {})", problem.byte));
  }
}

}  // namespace paceline
