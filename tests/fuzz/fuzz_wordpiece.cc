#include "wordpiece_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  paceline::check_wordpiece({reinterpret_cast<const char*>(data), size});
  return 0;
}
