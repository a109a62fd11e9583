#include "data/dataset/hdf5.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace paceline {
namespace {

herr_t remember_first(unsigned depth, const H5E_error2_t* entry, void* text) {
  if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

}  // namespace

void quiet_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

// HDF5 surrounds what the system said ("error message = '...'") with times, addresses and sizes.
std::string hdf5_reason() {
  std::string reason = "unknown reason";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, remember_first, &reason);
  constexpr std::string_view mark = "error message = '";
  if (const size_t begin = reason.find(mark); begin != std::string::npos) {
    reason.erase(0, begin + mark.size());
    return reason.substr(0, reason.find('\''));
  }
  return reason.substr(0, reason.find('\n'));
}

void fail_writing(hid_t file, const char* array) {
  const std::string reason = hdf5_reason();
  char name[4096] = "a shard";
  H5Fget_name(file, name, sizeof name);
  work_error("{}: writing '{}' failed: {}{}", name, array, reason,
             reason == std::strerror(ENOSPC) ? "; free some space or choose another place with --out" : "");
}

Hdf5Id create_hdf5(const fs::path& path) {
  quiet_hdf5();
  Hdf5Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose);
  if (!file.valid()) work_error("{}: cannot be created: {}", path.string(), hdf5_reason());
  return file;
}

Hdf5Id open_hdf5(const fs::path& path) {
  quiet_hdf5();
  std::error_code error;
  if (!fs::is_regular_file(path, error)) input_error("{}: missing from the data set", path.string());
  Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) input_error("{}: not a readable HDF5 file: {}", path.string(), hdf5_reason());
  return file;
}

Hdf5Array::Hdf5Array(const Hdf5Id& file, const fs::path& path, const char* name, hid_t memory_type,
                     uint64_t rows, uint64_t columns)
    : memory_type_(memory_type),
      rows_(rows),
      columns_(columns),
      name_(fmt::format("{}: '{}'", path.string(), name)) {
  dataset_ = Hdf5Id(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
  if (!dataset_.valid()) input_error("{} is missing", name_);
  Hdf5Id type(H5Dget_type(dataset_), H5Tclose);
  Hdf5Id space(H5Dget_space(dataset_), H5Sclose);
  if (!type.valid() || H5Tget_class(type) != H5T_INTEGER) input_error("{} does not hold integers", name_);
  const int expected = columns == 0 ? 1 : 2;
  if (!space.valid() || H5Sget_simple_extent_ndims(space) != expected)
    input_error("{} does not have {} dimension(s)", name_, expected);
  hsize_t shape[2] = {0, 0};
  H5Sget_simple_extent_dims(space, shape, nullptr);
  if (shape[0] != rows || (columns != 0 && shape[1] != columns))
    input_error("{} has {} x {} values, dataset.json says {} x {}", name_, shape[0], shape[1], rows, columns);
}

void Hdf5Array::read(uint64_t first_row, uint64_t rows, void* into) const {
  PACELINE_ASSERT(first_row + rows <= rows_);
  if (rows == 0) return;
  const hsize_t start[2] = {first_row, 0}, count[2] = {rows, columns_};
  Hdf5Id file_space(H5Dget_space(dataset_), H5Sclose);
  H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, nullptr, count, nullptr);
  Hdf5Id memory_space(H5Screate_simple(columns_ == 0 ? 1 : 2, count, nullptr), H5Sclose);
  if (H5Dread(dataset_, memory_type_, memory_space, file_space, H5P_DEFAULT, into) < 0)
    input_error("{}: rows {} to {} cannot be read: {}", name_, first_row, first_row + rows, hdf5_reason());
}

void write_array(const Hdf5Id& file, const char* name, hid_t file_type, hid_t memory_type,
                 const std::vector<hsize_t>& shape, const void* values) {
  Hdf5Id space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  Hdf5Id dataset(H5Dcreate2(file, name, file_type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose);
  bool empty = false;
  for (hsize_t extent : shape) empty = empty || extent == 0;
  if (!dataset.valid() ||
      (!empty && H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0))
    fail_writing(file, name);
}

}  // namespace paceline
