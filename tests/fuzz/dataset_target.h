// What the fuzz target of the data-set reader does with arbitrary bytes. The tests run the same over the
// kept corpus.
#pragma once
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "base/error.h"
#include "data/dataset/hdf5.h"
#include "data/dataset/reader.h"

namespace paceline {

// Takes numbers off the front of the bytes; zero when they are used up.
class ByteFeed {
 public:
  explicit ByteFeed(std::string_view bytes) : bytes_(bytes) {}
  uint64_t take(size_t count) {
    uint64_t value = 0;
    count = std::min(count, bytes_.size());
    std::memcpy(&value, bytes_.data(), count);
    bytes_.remove_prefix(count);
    return value;
  }

 private:
  std::string_view bytes_;
};

inline void check_dataset_json(std::string_view text) {
  try {
    const DatasetInfo info = parse_dataset_info(std::string(text), "fuzzed");
    // What was believed must survive being written and read again.
    const std::string again =
        to_json(info).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    PACELINE_ASSERT(parse_dataset_info(again, "again").fingerprint() == info.fingerprint());
  } catch (const InputError&) {
  }
}

// A shard whose shapes, offsets, ids and labels come from the bytes, beside a dataset.json that may
// say something else. Whatever the reader hands out must be in range.
inline void check_shard(ByteFeed feed, const fs::path& folder) {
  DatasetInfo info;
  info.labels = static_cast<LabelKind>(feed.take(1) % 3);
  if (info.labels != LabelKind::none) info.classes = {"a", "b", "c"};
  info.tokenizer.vocabulary_size = 20;
  const uint64_t rows = feed.take(1) % 16, tokens = feed.take(1) % 64, classes = info.classes.size();
  const uint64_t wrong = feed.take(1);  // which shapes do not fit
  std::vector<uint64_t> offsets(rows + 1 + (wrong & 1));
  for (auto& offset : offsets) offset = feed.take(1 + (wrong >> 7) * 7);
  std::vector<uint32_t> ids(tokens + ((wrong >> 1) & 1)), labels(rows + ((wrong >> 2) & 1));
  for (auto& id : ids) id = static_cast<uint32_t>(feed.take(1 + 3 * ((wrong >> 6) & 1)));
  for (auto& label : labels) label = static_cast<uint32_t>(feed.take(1));
  std::vector<uint8_t> flags(rows * 3);
  for (auto& flag : flags) flag = static_cast<uint8_t>(feed.take(1));
  info.pairs = (wrong & 16) != 0;
  std::vector<uint32_t> second_begins(rows);
  for (auto& begin : second_begins) begin = info.pairs ? static_cast<uint32_t>(feed.take(1)) : 0;
  const fs::path path = folder / "train-00000.h5";
  {
    Hdf5Id file = create_hdf5(path);
    write_array(file, "ids", H5T_STD_U32LE, H5T_NATIVE_UINT32, {ids.size()}, ids.data());
    if ((wrong & 8) == 0)
      write_array(file, "offsets", H5T_STD_U64LE, H5T_NATIVE_UINT64, {offsets.size()}, offsets.data());
    if (info.labels == LabelKind::single)
      write_array(file, "labels", H5T_STD_U32LE, H5T_NATIVE_UINT32, {labels.size()}, labels.data());
    if (info.labels == LabelKind::multiple)
      write_array(file, "labels", H5T_STD_U8LE, H5T_NATIVE_UINT8, {rows, 3}, flags.data());
    if (info.pairs && (wrong & 32) == 0)
      write_array(file, "second_begins", H5T_STD_U32LE, H5T_NATIVE_UINT32, {rows}, second_begins.data());
  }
  info.splits.push_back({"train",
                         rows,
                         tokens,
                         0,
                         0,
                         std::vector<uint64_t>(classes, 0),
                         {{"train-00000.h5", rows, tokens, ""}},
                         0});
  try {
    SplitReader reader(folder, info, "train");
    Rows out;
    const uint64_t half = rows / 2;
    reader.read(0, half, out);
    reader.read(half, rows - half, out);
    PACELINE_ASSERT(out.size() == rows && out.offsets.back() == out.ids.size());
    for (uint32_t id : out.ids) PACELINE_ASSERT(id < 20);
    for (uint32_t label : out.labels) PACELINE_ASSERT(label < 3);
    for (uint8_t flag : out.flags) PACELINE_ASSERT(flag <= 1);
    for (size_t r = 0; r < out.second_begins.size(); ++r)
      PACELINE_ASSERT(out.second_begins[r] == 0 || out.second_begins[r] < out.row(r).size());
    for (uint64_t length : {9u, 4u, 3u}) {
      out.shorten(length, info.pairs);
      PACELINE_ASSERT(out.size() == rows && out.offsets.back() == out.ids.size());
    }
  } catch (const InputError&) {
  }
}

inline void check_dataset(std::string_view bytes, const fs::path& folder) {
  if (bytes.empty()) return;
  if (bytes[0] == '{')
    check_dataset_json(bytes);
  else
    check_shard(ByteFeed(bytes), folder);
}

}  // namespace paceline
