// Files that are there whole or not at all.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace paceline {

namespace fs = std::filesystem;

// Writes a whole file: to a temporary beside it, synced, then renamed. Throws WorkError.
void write_file_atomically(const fs::path& path, std::string_view bytes);
// Reads a whole file of at most max_bytes. Throws InputError (missing, a directory, too large).
std::string read_file(const fs::path& path, uint64_t max_bytes = uint64_t{1} << 30);
void sync_directory(const fs::path& path);
// "1.5 GB", in powers of 1000.
std::string human_bytes(uint64_t bytes);

// A buffered file that only grows; every failure is a WorkError that names the file and the reason
// ("No space left on device"). close() reports what the destructor cannot.
class FileWriter {
 public:
  explicit FileWriter(fs::path path, size_t buffer_bytes = 1 << 20);
  ~FileWriter();
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  void write(std::string_view bytes);
  void close(bool sync = false);
  uint64_t bytes_written() const { return written_ + buffer_.size(); }
  const fs::path& path() const { return path_; }

 private:
  void flush();
  fs::path path_;
  int fd_ = -1;
  std::string buffer_;
  size_t capacity_;
  uint64_t written_ = 0;
};

// An output folder under construction: lives at ".NAME.partial" beside its goal, becomes the goal on
// commit(), and is removed by the destructor otherwise. A leftover of a killed run is replaced; one
// that another live process is writing is an InputError, as is a goal that already exists.
class StagedFolder {
 public:
  // flag is how the user named it ("--out"), for the message.
  StagedFolder(fs::path goal, std::string_view flag);
  ~StagedFolder();
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  const fs::path& path() const { return staging_; }
  void commit();

 private:
  bool lock_staging(std::string_view flag);
  fs::path goal_, staging_;
  int lock_ = -1;
  bool committed_ = false;
};

}  // namespace paceline
