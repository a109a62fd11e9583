#include "weights_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const paceline::fs::path folder = [] {
    std::string name = (paceline::fs::temp_directory_path() / "paceline-fuzz-XXXXXX").string();
    return paceline::fs::path(mkdtemp(name.data()));
  }();
  paceline::check_torch_file({reinterpret_cast<const char*>(data), size}, folder);
  return 0;
}
