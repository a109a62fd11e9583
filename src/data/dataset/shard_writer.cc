#include "data/dataset/shard_writer.h"

#include "base/error.h"
#include "base/hash.h"
#include "data/dataset/hdf5.h"
#include "data/text/segments.h"

namespace paceline {

SplitWriter::SplitWriter(fs::path folder, std::string split, const RowFormat& format, ShardLimits limits)
    : folder_(std::move(folder)), format_(format), limits_(limits) {
  info_.name = std::move(split);
  info_.class_rows.assign(format.classes, 0);
}

void SplitWriter::add(const RowView& row) {
  ids_.insert(ids_.end(), row.ids.begin(), row.ids.end());
  offsets_.push_back(ids_.size());
  for (uint32_t id : row.ids) info_.unknown_tokens += id == format_.unknown_id;
  info_.truncated_rows += row.truncated ? 1 : 0;
  if (format_.pairs) second_begins_.push_back(row.second_begin);
  info_.longest = std::max<uint64_t>(info_.longest, row.ids.size());
  if (format_.labels == LabelKind::single) {
    PACELINE_ASSERT(row.label < info_.class_rows.size());
    classes_.push_back(row.label);
    ++info_.class_rows[row.label];
  } else if (format_.labels == LabelKind::multiple) {
    PACELINE_ASSERT(row.labels.size() == info_.class_rows.size());
    flags_.insert(flags_.end(), row.labels.begin(), row.labels.end());
    for (size_t i = 0; i < row.labels.size(); ++i) info_.class_rows[i] += row.labels[i];
  }
  if (ids_.size() >= limits_.tokens || offsets_.size() > limits_.rows) write_shard();
}

void SplitWriter::write_fixed_matrix(int64_t file) const {
  const uint64_t rows = offsets_.size() - 1;
  const hsize_t shape[2] = {rows, format_.fixed_length};
  Hdf5Id space(H5Screate_simple(2, shape, nullptr), H5Sclose);
  Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  Hdf5Id dataset(H5Dcreate2(file, "fixed", H5T_STD_U32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                 H5Dclose);
  const uint64_t slice = std::max<uint64_t>(1, (uint64_t{1} << 20) / format_.fixed_length);
  std::vector<uint32_t> values, cut;
  for (uint64_t first = 0; first < rows; first += slice) {
    const uint64_t count = std::min(slice, rows - first);
    values.assign(count * format_.fixed_length, format_.pad_id);
    for (uint64_t r = 0; r < count; ++r) {
      const auto row =
          std::span(ids_).subspan(offsets_[first + r], offsets_[first + r + 1] - offsets_[first + r]);
      cut.assign(row.begin(), row.end());
      uint32_t second_begin = format_.pairs ? second_begins_[first + r] : 0;
      if (format_.ends_stay) cut.resize(shorten_sequence(cut, second_begin, format_.fixed_length));
      cut.resize(std::min<uint64_t>(cut.size(), format_.fixed_length));
      std::ranges::copy(cut, values.begin() + static_cast<int64_t>(r * format_.fixed_length));
    }
    const hsize_t start[2] = {first, 0}, extent[2] = {count, format_.fixed_length};
    Hdf5Id memory(H5Screate_simple(2, extent, nullptr), H5Sclose);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, extent, nullptr);
    if (H5Dwrite(dataset, H5T_NATIVE_UINT32, memory, space, H5P_DEFAULT, values.data()) < 0)
      fail_writing(file, "fixed");
  }
}

void SplitWriter::write_shard() {
  const uint64_t rows = offsets_.size() - 1;
  ShardInfo shard;
  shard.file = fmt::format("{}-{:05}.h5", info_.name, info_.shards.size());
  shard.rows = rows;
  shard.tokens = ids_.size();
  const fs::path path = folder_ / shard.file;
  {
    Hdf5Id file = create_hdf5(path);
    write_array(file, "ids", H5T_STD_U32LE, H5T_NATIVE_UINT32, {ids_.size()}, ids_.data());
    write_array(file, "offsets", H5T_STD_U64LE, H5T_NATIVE_UINT64, {offsets_.size()}, offsets_.data());
    if (format_.labels == LabelKind::single)
      write_array(file, "labels", H5T_STD_U32LE, H5T_NATIVE_UINT32, {rows}, classes_.data());
    if (format_.labels == LabelKind::multiple)
      write_array(file, "labels", H5T_STD_U8LE, H5T_NATIVE_UINT8, {rows, info_.class_rows.size()},
                  flags_.data());
    if (format_.pairs)
      write_array(file, "second_begins", H5T_STD_U32LE, H5T_NATIVE_UINT32, {rows}, second_begins_.data());
    if (format_.fixed_length > 0) write_fixed_matrix(file);
    if (H5Fflush(file, H5F_SCOPE_LOCAL) < 0)
      work_error("{}: writing failed: {}", path.string(), hdf5_reason());
  }
  shard.checksum = file_checksum(path);
  info_.rows += rows;
  info_.tokens += ids_.size();
  info_.shards.push_back(std::move(shard));
  ids_.clear();
  classes_.clear();
  flags_.clear();
  second_begins_.clear();
  offsets_.assign(1, 0);
}

SplitInfo SplitWriter::finish() {
  if (offsets_.size() > 1) write_shard();
  return info_;
}

}  // namespace paceline
