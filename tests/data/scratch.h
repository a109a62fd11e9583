// A folder of its own for a test, gone afterwards.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

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
  fs::path folder;
};

}  // namespace paceline
