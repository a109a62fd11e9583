#include "engine/checkpoint/manifest.h"

#include "base/hash.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/step_folder.h"

namespace paceline {
namespace {

constexpr const char* format_name = "paceline-checkpoint";

std::string checksum(std::string_view bytes) { return "xxh3:" + to_hex(hash128(bytes)); }

std::string seal(std::string_view body) {
  return fmt::format(",\n  \"checksum\": \"{}\"\n}}\n", checksum(body));
}

bool has_its_seal(std::string_view text) {
  static const size_t length = seal("").size();
  if (text.size() < length) return false;
  const size_t body = text.size() - length;
  return text.substr(body) == seal(text.substr(0, body));
}

const nlohmann::json& field(const nlohmann::json& object, const char* key, nlohmann::json::value_t type) {
  const auto found = object.find(key);
  if (found == object.end() || found->type() != type)
    throw std::runtime_error(fmt::format("'{}' is missing or of another type", key));
  return *found;
}

uint64_t count(const nlohmann::json& object, const char* key) {
  return field(object, key, nlohmann::json::value_t::number_unsigned).get<uint64_t>();
}

std::string text(const nlohmann::json& object, const char* key) {
  return field(object, key, nlohmann::json::value_t::string).get<std::string>();
}

void check_name(const std::string& name) {
  if (name.empty() || name[0] == '.' || name == manifest_file ||
      name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
    throw std::runtime_error("it names a file that cannot be part of a checkpoint: " +
                             nlohmann::json(name).dump());
}

Manifest parse_fields(const nlohmann::json& fields) {
  Manifest manifest;
  manifest.step = count(fields, "step");
  for (const auto& metric : field(fields, "best_for", nlohmann::json::value_t::array)) {
    if (!metric.is_string()) throw std::runtime_error("'best_for' holds something else than names");
    manifest.best_for.push_back(metric.get<std::string>());
  }
  bool has_state = false, has_tensors = false;
  for (const auto& [name, entry] : field(fields, "files", nlohmann::json::value_t::object).items()) {
    check_name(name);
    if (!entry.is_object()) throw std::runtime_error("'files' holds something else than objects");
    manifest.files.push_back({name, count(entry, "size"), text(entry, "checksum")});
    has_state |= name == state_file;
    has_tensors |= name == tensors_file;
  }
  if (!has_state || !has_tensors)
    throw std::runtime_error(fmt::format("'files' lacks {}", has_state ? tensors_file : state_file));
  return manifest;
}

}  // namespace

Manifest::File describe_file(std::string name, std::string_view bytes) {
  return {std::move(name), bytes.size(), checksum(bytes)};
}

std::string sealed(const nlohmann::ordered_json& fields) {
  std::string body = fields.dump(2);
  body.resize(body.size() - std::string_view("\n}").size());
  return body + seal(body);
}

std::string manifest_text(const Manifest& manifest) {
  nlohmann::ordered_json files;
  for (const auto& file : manifest.files)
    files[file.name] = {{"size", file.size}, {"checksum", file.checksum}};
  return sealed({{"format", format_name},
                 {"version", checkpoint_version},
                 {"program", PACELINE_VERSION},
                 {"step", manifest.step},
                 {"best_for", manifest.best_for},
                 {"files", files}});
}

Manifest read_manifest(const fs::path& checkpoint) {
  const fs::path path = checkpoint / manifest_file;
  std::error_code error;
  if (!fs::exists(path, error)) input_error("{}: missing, so the checkpoint is not complete", path.string());
  const std::string bytes = read_file(path, max_manifest_bytes);
  if (!has_its_seal(bytes)) input_error("{}: damaged (its checksum does not fit)", path.string());
  Manifest manifest;
  try {
    const auto fields = nlohmann::json::parse(bytes);
    if (text(fields, "format") != format_name) throw std::runtime_error("'format' is another");
    const uint64_t version = count(fields, "version");
    if (version > checkpoint_version)
      throw NewerVersion(
          fmt::format("checkpoint {} is of version {}, this program reads version {}; use a newer program",
                      checkpoint.string(), version, checkpoint_version));
    if (version != checkpoint_version) throw std::runtime_error("there is no version 0");
    manifest = parse_fields(fields);
  } catch (const NewerVersion&) {
    throw;
  } catch (const std::exception& problem) {
    input_error("{}: not the manifest of a checkpoint: {}", path.string(), problem.what());
  }
  const auto named = step_of(checkpoint.filename().string());
  if (named && *named != manifest.step)
    input_error("{}: written for step {}; the folder was renamed", path.string(), manifest.step);
  return manifest;
}

void verify_file(const fs::path& checkpoint, const Manifest::File& file) {
  const fs::path path = checkpoint / file.name;
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (!fs::exists(status)) input_error("{}: missing from the checkpoint", path.string());
  if (!fs::is_regular_file(status)) input_error("{}: not a regular file", path.string());
  const uint64_t size = fs::file_size(path, error);
  if (error) input_error("{}: cannot be read: {}", path.string(), error.message());
  if (size != file.size) input_error("{}: {} bytes, expected {}", path.string(), size, file.size);
  std::string found;
  try {
    found = file_checksum(path);
  } catch (const WorkError& problem) {
    throw InputError(problem.what());
  }
  if (found != file.checksum) input_error("{}: damaged (its checksum does not fit)", path.string());
}

}  // namespace paceline
