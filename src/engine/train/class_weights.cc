#include "engine/train/class_weights.h"

#include <charconv>

#include "base/error.h"

namespace paceline {

std::vector<float> class_weights(const std::string& text, const DatasetInfo& data, const SplitInfo& split) {
  std::vector<float> weights;
  const size_t classes = data.classes.size();
  if (text == "none") return weights;
  if (text == "balanced") {
    for (size_t c = 0; c < classes; ++c) {
      const double rows = static_cast<double>(split.rows),
                   of_class = static_cast<double>(split.class_rows[c]);
      if (of_class == 0)
        input_error("--class-weights balanced: class '{}' has no rows in the split train", data.classes[c]);
      weights.push_back(static_cast<float>(data.labels == LabelKind::multiple
                                               ? std::max(1.0, rows - of_class) / of_class
                                               : rows / (static_cast<double>(classes) * of_class)));
    }
    return weights;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    float value = 0;
    auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (error != std::errc() || stop != text.data() + end || !(value > 0) || value > 1e6f)
      input_error(
          "--class-weights: '{}' is not a weight; write none, balanced, or one positive number per class",
          text.substr(begin, end - begin));
    weights.push_back(value);
    begin = end + 1;
  }
  if (weights.size() != classes)
    input_error("--class-weights: {} numbers for {} classes", weights.size(), classes);
  return weights;
}

}  // namespace paceline
