#include "code_blocks.h"

#include "base/files.h"

namespace paceline {

std::vector<std::string> code_blocks(std::string_view page, std::string_view language) {
  const std::string text = read_file(fs::path(PACELINE_SOURCE_DIR) / page);
  const std::string fence = "\n```" + std::string(language) + "\n";
  std::vector<std::string> blocks;
  for (size_t begin = text.find(fence); begin != std::string::npos; begin = text.find(fence, begin)) {
    begin += fence.size();
    blocks.push_back(text.substr(begin, text.find("\n```", begin) + 1 - begin));
  }
  return blocks;
}

std::string as_script(std::string block) {
  const std::string_view written = "./paceline ";
  for (size_t at = block.find(written); at != std::string::npos; at = block.find(written, at))
    block.replace(at, written.size(), "\"$paceline\" ");
  return "set -eo pipefail\n" + block;
}

}  // namespace paceline
