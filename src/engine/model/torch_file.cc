#include "engine/model/torch_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/shortened.h"
#include "engine/model/torch_tensors.h"

namespace paceline {
namespace {

constexpr uint64_t most_pickle_bytes = 16 << 20;
constexpr std::string_view pickle_name = "/data.pkl";

// That of PyTorch before 1.6 begins with a pickle of a large number.
void refuse_old_format(const fs::path& path) {
  const RangedFile file(path);
  std::string first(std::min<uint64_t>(file.size(), 4), '\0');
  file.read(0, first);
  if (first.starts_with("\x80\x02\x8a\x0a"))
    input_error(
        "{}: in the format of PyTorch before 1.6; load it in Python and save it again with torch.save",
        path.string());
  if (!first.starts_with("PK")) input_error("{}: not a file of torch.save (no zip archive)", path.string());
}

ZipReader open_archive(const fs::path& path) {
  refuse_old_format(path);
  return ZipReader(path);
}

// The archive's folder ("archive/", "pytorch_model/"), which the pickle lies in.
std::string find_prefix(const ZipReader& zip) {
  std::string prefix;
  for (const ZipEntry& entry : zip.entries()) {
    if (!entry.name.ends_with(pickle_name) || entry.name.find('/') != entry.name.size() - pickle_name.size())
      continue;
    if (!prefix.empty()) throw std::runtime_error("it has more than one data.pkl");
    prefix = entry.name.substr(0, entry.name.size() - pickle_name.size() + 1);
  }
  if (prefix.empty()) throw std::runtime_error("it has no data.pkl");
  return prefix;
}

// Storages are never compressed. Their checksums are not looked at: PyTorch may leave them out.
StoragePlace place_of(const ZipReader& zip, const std::string& name) {
  const ZipEntry* entry = zip.find(name);
  if (entry == nullptr) throw std::runtime_error(fmt::format("it has no '{}'", shortened(name)));
  if (entry->method != ZipEntry::stored)
    throw std::runtime_error(
        fmt::format("'{}' is compressed, which torch.save does not do", shortened(name)));
  return {zip.data_begin(*entry), entry->bytes};
}

std::string read_entry(const ZipReader& zip, const std::string& name, uint64_t most) {
  const StoragePlace place = place_of(zip, name);
  if (place.bytes > most)
    throw std::runtime_error(
        fmt::format("its '{}' has {} bytes; at most {} are expected", shortened(name), place.bytes, most));
  std::string bytes(place.bytes, '\0');
  zip.file().read(place.begin, bytes);
  return bytes;
}

}  // namespace

TorchFile::TorchFile(const fs::path& path) : zip_(open_archive(path)) {
  try {
    const std::string prefix = find_prefix(zip_);
    if (zip_.find(prefix + "byteorder") != nullptr) {
      const std::string order = read_entry(zip_, prefix + "byteorder", 16);
      if (order != "little")
        throw std::runtime_error(fmt::format("its byte order is '{}', and only little is read", order));
    }
    const Pickle pickle(read_entry(zip_, prefix + "data.pkl", most_pickle_bytes), torch_globals());
    tensors_ = describe_tensors(
        pickle, [&](const std::string& key) { return place_of(zip_, prefix + "data/" + key); });
  } catch (const InputError&) {
    throw;
  } catch (const WorkError&) {
    throw;
  } catch (const std::exception& problem) {
    input_error("{}: not a usable file of torch.save: {}", path.string(), problem.what());
  }
}

std::vector<std::string> TorchFile::names() const {
  std::vector<std::string> all;
  for (const auto& [name, tensor] : tensors_) all.push_back(name);
  return all;
}

const StoredTensor* TorchFile::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

void TorchFile::read_values(const std::string& name, float* into) const {
  const TorchTensor& tensor = tensors_.at(name);
  if (tensor.elements == 0) return;
  const uint64_t begin = tensor.begin + tensor.first * tensor.type->bytes;
  const size_t extents = tensor.shape.size();
  uint64_t expected = 1;
  bool contiguous = true;
  for (size_t i = extents; i-- > 0; expected *= tensor.shape[i])
    contiguous = contiguous && (tensor.shape[i] == 1 || tensor.strides[i] == expected);
  if (contiguous) return read_numbers(zip_.file(), begin, *tensor.type, tensor.elements, into);

  std::vector<float> span(tensor.span);
  read_numbers(zip_.file(), begin, *tensor.type, tensor.span, span.data());
  std::vector<uint64_t> index(extents);
  uint64_t at = 0;
  for (uint64_t i = 0; i < tensor.elements; ++i) {
    into[i] = span[at];
    // The next index, as an odometer turns: the last extent first.
    for (size_t extent = extents; extent-- > 0;) {
      at += tensor.strides[extent];
      if (++index[extent] < tensor.shape[extent]) break;
      at -= tensor.shape[extent] * tensor.strides[extent];
      index[extent] = 0;
    }
  }
}

}  // namespace paceline
