// Records of CSV, TSV, JSONL and plain text: split by one thread, parsed by many.
#pragma once
#include "data/text/record_format.h"    // IWYU pragma: export
#include "data/text/record_parser.h"    // IWYU pragma: export
#include "data/text/record_splitter.h"  // IWYU pragma: export
