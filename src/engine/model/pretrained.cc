#include "engine/model/pretrained.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/shortened.h"
#include "engine/model/safetensors.h"
#include "engine/model/strict_json.h"
#include "engine/model/torch_file.h"

namespace paceline {
namespace {

constexpr uint64_t most_config_bytes = 1 << 20, most_index_bytes = 8 << 20;
constexpr const char* whole_files[] = {"model.safetensors", "pytorch_model.bin"};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

nlohmann::json read_object(const fs::path& path, uint64_t most_bytes) {
  const std::string text = read_file(path, most_bytes);
  try {
    nlohmann::json value = parse_strict_json(text);
    if (!value.is_object()) throw std::runtime_error("it is not an object");
    return value;
  } catch (const std::runtime_error& problem) {
    input_error("{}: {}", path.string(), problem.what());
  }
}

// A clone without Git LFS has a few lines of text in place of the weights.
void refuse_pointer(const fs::path& path) {
  constexpr std::string_view pointer = "version https://git-lfs";
  const RangedFile file(path);
  std::string first(std::min<uint64_t>(file.size(), pointer.size()), '\0');
  file.read(0, first);
  if (first == pointer)
    input_error("{}: a pointer of Git LFS, not the weights; fetch them with: git lfs pull", path.string());
}

// Our name and what else it may be called, the likeliest first.
std::vector<std::string> variants(const std::string& name) {
  constexpr std::string_view prefix = "bert.";
  std::vector<std::string> all = {name};
  all.push_back(name.starts_with(prefix) ? name.substr(prefix.size()) : std::string(prefix) + name);
  const std::pair<std::string_view, std::string_view> old_names[] = {{"LayerNorm.weight", "LayerNorm.gamma"},
                                                                     {"LayerNorm.bias", "LayerNorm.beta"}};
  for (const auto& [now, then] : old_names)
    if (name.ends_with(now))
      for (size_t i = 0; i < 2; ++i)
        all.push_back(all[i].substr(0, all[i].size() - now.size()) + std::string(then));
  return all;
}

}  // namespace

PretrainedWeights::PretrainedWeights(const fs::path& folder) : folder_(folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) input_error("{}: there is no such folder", folder.string());
  if (!is_there(folder / "config.json"))
    input_error("{}: not a model (there is no config.json in it)", folder.string());
  config_ = read_object(folder / "config.json", most_config_bytes);
  open_weights();
}

void PretrainedWeights::open_weights() {
  for (const std::string name : whole_files) {
    if (is_there(folder_ / name)) return open_file(name);
    if (is_there(folder_ / (name + ".index.json"))) return open_shards(name + ".index.json");
  }
  for (const char* other : {"tf_model.h5", "flax_model.msgpack", "model.onnx"})
    if (is_there(folder_ / other))
      input_error(
          "{}: its weights are in {}, which is not read; model.safetensors or pytorch_model.bin is needed",
          folder_.string(), other);
  input_error("{}: there are no weights in it; model.safetensors or pytorch_model.bin is needed",
              folder_.string());
}

void PretrainedWeights::open_file(const std::string& name) {
  const fs::path path = folder_ / name;
  refuse_pointer(path);
  if (name.ends_with(".safetensors"))
    files_.push_back(std::make_unique<SafetensorsReader>(path));
  else
    files_.push_back(std::make_unique<TorchFile>(path));
  for (const std::string& tensor : files_.back()->names()) places_.emplace(tensor, files_.back().get());
}

void PretrainedWeights::open_shards(const std::string& index) {
  const std::string shown = (folder_ / index).string();
  const nlohmann::json content = read_object(folder_ / index, most_index_bytes);
  const auto map = content.find("weight_map");
  if (map == content.end() || !map->is_object() || map->empty())
    input_error("{}: it has no 'weight_map' of tensors to files", shown);
  const std::string ending = index.starts_with("model.safetensors") ? ".safetensors" : ".bin";
  std::map<std::string, const TensorFile*> shards, places;
  for (const auto& [tensor, value] : map->items()) {
    const std::string file = value.is_string() ? value.get<std::string>() : "";
    // A plain name: the folder is all that the user gave us to read.
    if (!file.ends_with(ending) || file.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos ||
        file.starts_with("."))
      input_error("{}: tensor '{}' is said to be in '{}', which is not the name of a {} file in the folder",
                  shown, shortened(tensor), shortened(file), ending);
    auto shard = shards.find(file);
    if (shard == shards.end()) {
      if (!is_there(folder_ / file))
        input_error("{}: missing, and {} names it", (folder_ / file).string(), index);
      open_file(file);
      shard = shards.emplace(file, files_.back().get()).first;
    }
    if (!shard->second->has(tensor))
      input_error("{}: tensor '{}' is said to be in {}, which has no such tensor", shown, shortened(tensor),
                  file);
    places.emplace(tensor, shard->second);
  }
  places_ = std::move(places);
}

std::vector<std::string> PretrainedWeights::files() const {
  std::vector<std::string> all;
  for (const auto& file : files_) all.push_back(file->path().filename());
  return all;
}

std::vector<std::string> PretrainedWeights::names() const {
  std::vector<std::string> all;
  for (const auto& [name, file] : places_) all.push_back(name);
  return all;
}

std::pair<const TensorFile*, std::string> PretrainedWeights::find(const std::string& name) const {
  for (const std::string& variant : variants(name))
    if (const auto found = places_.find(variant); found != places_.end()) return {found->second, variant};
  return {nullptr, name};
}

const std::vector<uint64_t>& PretrainedWeights::shape(const std::string& name) const {
  const auto [file, there] = find(name);
  if (file == nullptr) input_error("{}: the model has no tensor '{}'", folder_.string(), name);
  return file->shape(there);
}

void PretrainedWeights::read(const std::string& name, const std::vector<uint64_t>& shape, float* into) const {
  const auto [file, there] = find(name);
  if (file == nullptr) input_error("{}: the model has no tensor '{}'", folder_.string(), name);
  file->read(there, shape, into);
  const uint64_t elements = file->find(there)->elements;
  for (uint64_t i = 0; i < elements; ++i)
    if (!std::isfinite(into[i]))
      input_error("{}: tensor '{}' has the value {} at place {}; weights are finite numbers",
                  file->path().string(), there, into[i], i);
}

}  // namespace paceline
