// The fields of one CSV or TSV record.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "data/text/record_format.h"

namespace paceline {

// Replaces fields by the record's fields as they stand there, quotes included.
void split_fields(std::string_view record, const SplitOptions& options,
                  std::vector<std::string_view>& fields);

// The value of a field that may be quoted. It points into the field, or into the scratch, to which it
// then appends at most the field's length; a caller that keeps values reserves that beforehand.
// Whatever follows the closing quote belongs to the value as it stands.
std::string_view unquote(std::string_view field, std::string& scratch);

}  // namespace paceline
