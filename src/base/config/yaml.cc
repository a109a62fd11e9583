#include <yaml-cpp/yaml.h>

#include "base/config/fields.h"
#include "base/error.h"

namespace paceline {

std::string to_yaml(const FieldTable& table) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const auto& field : table.fields()) {
    if (!field.recorded) continue;
    out << YAML::Key << field.name << YAML::Value;
    if (auto* list = std::get_if<std::vector<std::string>*>(&field.target)) {
      out << YAML::Flow << YAML::BeginSeq;
      for (const auto& item : **list) out << YAML::DoubleQuoted << item;
      out << YAML::EndSeq;
    } else if (std::holds_alternative<std::string*>(field.target)) {
      out << YAML::DoubleQuoted << field.value_text();
    } else {
      out << field.value_text();
    }
  }
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

void from_yaml(FieldTable& table, const std::string& yaml, const std::string& name) {
  YAML::Node root;
  try {
    root = YAML::Load(yaml);
  } catch (const YAML::Exception& error) {
    input_error("{}:{}: not valid YAML: {}", name, error.mark.line + 1, error.msg);
  }
  if (root.IsNull()) return;
  if (!root.IsMap()) input_error("{}: keys and values are expected (epochs: 3), one a line", name);
  for (const auto& entry : root) {
    const int line = entry.first.Mark().line + 1;
    if (!entry.first.IsScalar()) input_error("{}:{}: a key must be a plain word", name, line);
    const std::string key = entry.first.Scalar();
    Field& field = table.require(key, fmt::format("{}:{}", name, line));
    const std::string where = fmt::format("{}:{}: {}", name, line, key);
    field.is_set = false;
    if (entry.second.IsSequence() && field.is_list()) {
      std::get<std::vector<std::string>*>(field.target)->clear();
      for (const auto& item : entry.second) {
        if (!item.IsScalar()) input_error("{}: the items must be plain values", where);
        field.assign(item.Scalar(), where);
      }
      field.is_set = true;
    } else if (entry.second.IsScalar()) {
      field.assign(entry.second.Scalar(), where);
    } else {
      input_error("{}: a single value is expected", where);
    }
  }
}

}  // namespace paceline
