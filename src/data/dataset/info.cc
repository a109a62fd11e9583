#include "data/dataset/info.h"

#include "base/error.h"
#include "base/hash.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(LabelKind kind) {
  return kind == LabelKind::none ? "none" : kind == LabelKind::single ? "single" : "multiple";
}

LabelKind label_kind(const std::string& name) {
  if (name == "none") return LabelKind::none;
  if (name == "single") return LabelKind::single;
  if (name == "multiple") return LabelKind::multiple;
  throw std::runtime_error(fmt::format("labels are '{}', expected none, single or multiple", name));
}

// A file of the data set lies in its folder: a name, not a path.
std::string plain_name(const nlohmann::json& value) {
  auto name = value.get<std::string>();
  if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos || name.size() > 200)
    throw std::runtime_error(fmt::format("'{}' is not the name of a file of the data set", name));
  return name;
}

// get<uint64_t>() would turn -1 or 1.5 into a number; here they are errors.
uint64_t count_of(const nlohmann::json& object, const char* key) {
  const auto& value = object.at(key);
  if (!value.is_number_unsigned()) throw std::runtime_error(fmt::format("'{}' is not a count", key));
  return value.get<uint64_t>();
}

SplitInfo split_from_json(const nlohmann::json& value, size_t classes) {
  SplitInfo split;
  split.name = value.at("name").get<std::string>();
  split.rows = count_of(value, "rows");
  split.tokens = count_of(value, "tokens");
  split.longest = count_of(value, "longest");
  split.unknown_tokens = count_of(value, "unknown_tokens");
  if (value.contains("truncated_rows")) split.truncated_rows = count_of(value, "truncated_rows");
  value.at("class_rows").get_to(split.class_rows);
  uint64_t rows = 0, tokens = 0;
  for (const auto& item : value.at("shards")) {
    ShardInfo shard{plain_name(item.at("file")), count_of(item, "rows"), count_of(item, "tokens"),
                    item.at("checksum").get<std::string>()};
    constexpr uint64_t limit = uint64_t{1} << 48;
    if (shard.rows > limit || shard.tokens > limit) throw std::runtime_error("a shard of impossible size");
    rows += shard.rows;
    tokens += shard.tokens;
    split.shards.push_back(std::move(shard));
  }
  if (rows != split.rows || tokens != split.tokens)
    throw std::runtime_error(
        fmt::format("the shards of split '{}' hold {} rows and {} tokens, but it says {} and {}", split.name,
                    rows, tokens, split.rows, split.tokens));
  if (split.class_rows.size() != classes)
    throw std::runtime_error(
        fmt::format("split '{}' counts {} classes of {}", split.name, split.class_rows.size(), classes));
  return split;
}

DatasetInfo info_from_json(const nlohmann::json& value) {
  DatasetInfo info;
  info.labels = label_kind(value.at("labels").get<std::string>());
  value.at("classes").get_to(info.classes);
  info.tokenizer = tokenizer_from_json(value.at("tokenizer"));
  info.pairs = value.value("pairs", false);
  if (info.pairs && !info.tokenizer.is_wordpiece())
    throw std::runtime_error("only a data set of tokenizer wordpiece can have pairs");
  info.packed = value.value("packed", false);
  if (info.packed && (!info.tokenizer.is_wordpiece() || info.pairs || info.labels != LabelKind::none))
    throw std::runtime_error("only a data set of tokenizer wordpiece without labels or pairs can be packed");
  info.fixed_length = count_of(value, "fixed_length");
  for (const auto& item : value.at("splits"))
    info.splits.push_back(split_from_json(item, info.classes.size()));
  for (const auto& item : value.at("inputs"))
    info.inputs.push_back(
        {item.at("file").get<std::string>(), item.at("split").get<std::string>(), count_of(item, "records")});
  value.at("rejects").get_to(info.rejects);
  info.repaired_utf8 = count_of(value, "repaired_utf8");
  info.options = value.value("options", Json::object());
  return info;
}

}  // namespace

nlohmann::ordered_json tokenizer_json(const TokenizerInfo& t) {
  Json out = {{"kind", t.kind}, {"version", t.version}};
  if (t.is_wordpiece())
    out.update({{"lowercase", t.rules.lowercase},
                {"strip_accents", t.rules.strip_accents},
                {"tokenize_chinese_chars", t.rules.tokenize_chinese_chars},
                {"max_length", t.max_length}});
  out.update({{"clean_html", t.clean_html},
              {"invalid_utf8", t.invalid_utf8},
              {"vocabulary", t.vocabulary},
              {"vocabulary_size", t.vocabulary_size},
              {"vocabulary_hash", t.vocabulary_hash}});
  return out;
}

bool TokenizerInfo::gives_same_ids(const TokenizerInfo& other) const {
  return kind == other.kind && version == other.version && rules == other.rules &&
         vocabulary_size == other.vocabulary_size && vocabulary_hash == other.vocabulary_hash;
}

TokenizerInfo tokenizer_from_json(const nlohmann::json& value) {
  TokenizerInfo t;
  value.at("kind").get_to(t.kind);
  value.at("version").get_to(t.version);
  if ((t.kind != "word" && t.kind != "wordpiece") || t.version != 1)
    throw std::runtime_error(
        fmt::format("tokenizer '{}' version {} is not known to this program", t.kind, t.version));
  if (t.is_wordpiece()) {
    value.at("lowercase").get_to(t.rules.lowercase);
    value.at("strip_accents").get_to(t.rules.strip_accents);
    value.at("tokenize_chinese_chars").get_to(t.rules.tokenize_chinese_chars);
    t.max_length = count_of(value, "max_length");
  }
  value.at("clean_html").get_to(t.clean_html);
  value.at("invalid_utf8").get_to(t.invalid_utf8);
  t.vocabulary = plain_name(value.at("vocabulary"));
  t.vocabulary_size = count_of(value, "vocabulary_size");
  if (t.vocabulary_size < 2 || t.vocabulary_size > (uint64_t{1} << 24) + 2)
    throw std::runtime_error("an impossible vocabulary_size");
  value.at("vocabulary_hash").get_to(t.vocabulary_hash);
  return t;
}

nlohmann::ordered_json to_json(const DatasetInfo& info) {
  Json out = {{"format", "paceline-dataset"},
              {"version", dataset_version},
              {"labels", name_of(info.labels)},
              {"classes", info.classes},
              {"tokenizer", tokenizer_json(info.tokenizer)},
              {"pairs", info.pairs},
              {"packed", info.packed},
              {"fixed_length", info.fixed_length}};
  out["splits"] = Json::array();
  for (const auto& split : info.splits) {
    Json shards = Json::array();
    for (const auto& shard : split.shards)
      shards.push_back({{"file", shard.file},
                        {"rows", shard.rows},
                        {"tokens", shard.tokens},
                        {"checksum", shard.checksum}});
    out["splits"].push_back({{"name", split.name},
                             {"rows", split.rows},
                             {"tokens", split.tokens},
                             {"longest", split.longest},
                             {"unknown_tokens", split.unknown_tokens},
                             {"truncated_rows", split.truncated_rows},
                             {"class_rows", split.class_rows},
                             {"shards", shards}});
  }
  out["inputs"] = Json::array();
  for (const auto& input : info.inputs)
    out["inputs"].push_back({{"file", input.file}, {"split", input.split}, {"records", input.records}});
  out["rejects"] = info.rejects;
  out["repaired_utf8"] = info.repaired_utf8;
  out["options"] = info.options;
  out["fingerprint"] = info.fingerprint();
  return out;
}

std::string DatasetInfo::fingerprint() const {
  std::string text =
      fmt::format("{}|{}|{}|", name_of(labels), tokenizer_json(tokenizer).dump(), fixed_length);
  if (pairs) text += "pairs|";
  if (packed) text += "packed|";
  for (const auto& name : classes) text += name + "|";
  for (const auto& split : splits)
    for (const auto& shard : split.shards) text += fmt::format("{}:{}|", split.name, shard.checksum);
  return "xxh3:" + to_hex(hash128(text));
}

const SplitInfo* DatasetInfo::find_split(std::string_view name) const {
  for (const auto& split : splits)
    if (split.name == name) return &split;
  return nullptr;
}

const SplitInfo& DatasetInfo::split(std::string_view name, const fs::path& folder) const {
  const SplitInfo* found = find_split(name);
  if (found != nullptr && found->rows > 0) return *found;
  std::string names;
  for (const auto& split : splits)
    if (split.rows > 0) names += (names.empty() ? "" : ", ") + split.name;
  input_error("{}: its split '{}' is {}; there is {}", folder.string(), name, found ? "empty" : "missing",
              names.empty() ? "nothing in it" : names);
}

DatasetInfo read_dataset_info(const fs::path& folder) {
  const fs::path file = folder / "dataset.json";
  std::error_code error;
  if (!fs::is_directory(folder, error))
    input_error("{}: there is no such data set folder; paceline prepare makes one", folder.string());
  if (!fs::exists(file, error))
    input_error("{}: not a data set (it has no dataset.json); paceline prepare makes one", folder.string());
  return parse_dataset_info(read_file(file, 64 << 20), file.string());
}

DatasetInfo parse_dataset_info(const std::string& text, const std::string& name) {
  try {
    auto value = nlohmann::json::parse(text);
    if (value.value("format", "") != "paceline-dataset")
      throw std::runtime_error("it is not of a Paceline data set");
    const int version = value.at("version").get<int>();
    if (version != dataset_version)
      throw std::runtime_error(fmt::format(
          "it is of version {}, this program reads version {}; prepare it again", version, dataset_version));
    DatasetInfo info = info_from_json(value);
    if (value.at("fingerprint").get<std::string>() != info.fingerprint())
      throw std::runtime_error(
          "its fingerprint does not fit its contents, so it was changed; prepare it again");
    return info;
  } catch (const nlohmann::json::exception& problem) {
    input_error("{}: cannot be understood: {}", name, problem.what());
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& problem) {
    input_error("{}: {}", name, problem.what());
  }
}

}  // namespace paceline
