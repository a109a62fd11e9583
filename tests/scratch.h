// A folder of its own for a test, gone afterwards.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/files.h"

namespace paceline {

class Scratch : public testing::Test {
 protected:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "paceline-test-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~Scratch() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  }
  // Everything that lies in the folder, hidden or not.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename());
    std::sort(out.begin(), out.end());
    return out;
  }
  fs::path folder;
};

}  // namespace paceline
