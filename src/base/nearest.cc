#include "base/nearest.h"

#include <algorithm>
#include <vector>

namespace paceline {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: a swap looks back two.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

namespace {

std::string folded(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return result;
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> names) {
  constexpr size_t longest = 256;  // nobody mistypes longer names, and the distance takes their product
  if (wanted.size() > longest) return "";
  const std::string goal = folded(wanted);
  const std::string* nearest = nullptr;
  size_t nearest_distance = 0;
  for (const std::string& name : names) {
    if (name.size() > longest) continue;
    const size_t distance = edit_distance(goal, folded(name));
    const size_t close = std::max<size_t>(std::min(wanted.size(), name.size()) > 1 ? 1 : 0,
                                          (std::max(wanted.size(), name.size()) + 1) / 3);
    if (distance <= close && (nearest == nullptr || distance < nearest_distance)) {
      nearest = &name;
      nearest_distance = distance;
    }
  }
  return nearest == nullptr ? "" : *nearest;
}

}  // namespace paceline
