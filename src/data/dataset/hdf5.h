// The few HDF5 calls this project needs, with errors as exceptions. hdf5.h is seen by this room alone.
#pragma once
#include <hdf5.h>

#include <string>
#include <utility>
#include <vector>

#include "base/files.h"

namespace paceline {

// Owns an HDF5 identifier.
class Hdf5Id {
 public:
  Hdf5Id() = default;
  Hdf5Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// Switches off HDF5's own printing to stderr; idempotent.
void quiet_hdf5();
// The reason of HDF5's last failure, in its words.
std::string hdf5_reason();
// Throws WorkError that names the file, the array and the reason of the last failure.
[[noreturn]] void fail_writing(hid_t file, const char* array);

// A new file whose bytes do not depend on time or library version.
Hdf5Id create_hdf5(const fs::path& path);
Hdf5Id open_hdf5(const fs::path& path);

// An integer array of one or two dimensions in a file, read in slices of rows.
class Hdf5Array {
 public:
  // memory_type is what slices are read as. Throws InputError when it is missing, not of integers, or
  // its shape is not {rows} or {rows, columns}.
  Hdf5Array(const Hdf5Id& file, const fs::path& path, const char* name, hid_t memory_type, uint64_t rows,
            uint64_t columns = 0);
  Hdf5Array() = default;
  void read(uint64_t first_row, uint64_t rows, void* into) const;

 private:
  Hdf5Id dataset_;
  hid_t memory_type_ = -1;
  uint64_t rows_ = 0, columns_ = 0;
  std::string name_;
};

// Writes a whole array at once (contiguous).
void write_array(const Hdf5Id& file, const char* name, hid_t file_type, hid_t memory_type,
                 const std::vector<hsize_t>& shape, const void* values);

}  // namespace paceline
