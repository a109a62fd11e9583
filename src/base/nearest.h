// The name that a mistyped one was probably meant to be.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace paceline {

// Edits (insert, delete, replace, swap two neighbours; bytes) that lead from one name to the other.
size_t edit_distance(std::string_view a, std::string_view b);

// The closest of the names, ignoring case and the difference of '-' and '_'; "" when none is close
// (more than a third of the letters wrong). The first of equally close ones wins.
std::string nearest_name(std::string_view wanted, std::span<const std::string> names);

}  // namespace paceline
