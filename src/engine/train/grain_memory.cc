#include "engine/train/grain_memory.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"

namespace paceline {
namespace {

struct Largest {
  uint64_t grain_size, grain_tokens, longest;
  uint64_t tokens() const { return std::max(longest, std::min(grain_tokens, grain_size * longest)); }
};

uint64_t needed_bytes(const Largest& grain, unsigned executors, const GrainBytes& bytes) {
  return bytes(grain.tokens(), grain.grain_size) * executors;
}

Largest largest_grain(const TrainOptions& options, uint64_t longest) {
  return {options.grain_size, options.grain_tokens, std::max<uint64_t>(1, longest)};
}

}  // namespace

bool grains_fit(const TrainOptions& options, uint64_t longest, unsigned executors, uint64_t usable,
                const GrainBytes& bytes) {
  return usable == 0 || needed_bytes(largest_grain(options, longest), executors, bytes) <= usable;
}

void check_grain_memory(const TrainOptions& options, uint64_t longest, unsigned executors, uint64_t usable,
                        const GrainBytes& bytes) {
  if (grains_fit(options, longest, executors, usable, bytes)) return;
  Largest grain = largest_grain(options, longest);
  auto need = [&] { return needed_bytes(grain, executors, bytes); };
  const uint64_t needed = need();
  const std::string problem =
      fmt::format("grains of up to {} tokens on {} executors need {} of memory, and {} are usable",
                  grain.tokens(), executors, human_bytes(needed), human_bytes(usable));
  const bool by_tokens = grain.grain_tokens < grain.grain_size * grain.longest;
  uint64_t& limit = by_tokens ? grain.grain_tokens : grain.grain_size;
  const char* flag = by_tokens ? "grain-tokens" : "grain-size";
  while (limit > 1 && grain.tokens() > grain.longest) {
    limit /= 2;
    if (need() <= usable) input_error("--{}: {}; --{} {} fits", flag, problem, flag, limit);
  }
  while (grain.longest > 1) {
    grain.longest /= 2;
    grain.grain_tokens = std::min(grain.grain_tokens, grain.longest);
    if (need() <= usable)
      input_error("--{}: {}; --max-length {} --grain-tokens {} fits, or fewer --executors", flag, problem,
                  grain.longest, grain.longest);
  }
  input_error("--{}: {}; not even a text of one token fits: fewer --executors or a smaller model may", flag,
              problem);
}

Joining joining_that_fits(const AtOnce& wanted, uint64_t grain_tokens, unsigned executors, uint64_t usable,
                          const GrainBytes& bytes) {
  Joining joining{wanted.samples, std::min(grain_tokens, wanted.tokens)};
  while (usable > 0 && joining.tokens > 0 && bytes(joining.tokens, joining.samples) * executors > usable)
    joining.tokens /= 2;
  return joining;
}

}  // namespace paceline
