// Small readers for the text files of /proc and /sys.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace paceline {

namespace fs = std::filesystem;

// The whole file (at most 4 MB; their size is not known before reading), or nothing when it cannot be read.
std::optional<std::string> read_proc(const fs::path& path);
// A decimal number and nothing else but white space around it.
std::optional<uint64_t> parse_number(std::string_view text);
// The text behind "key" and its separator (a colon, white space) on the line that starts with it.
std::optional<std::string_view> proc_field(std::string_view text, std::string_view key);
// The same as a number; a unit "kB" multiplies by 1024.
std::optional<uint64_t> proc_number(std::string_view text, std::string_view key);
// How many numbers a list such as "0-3,8" names; nothing when it is none.
std::optional<unsigned> count_cpu_list(std::string_view text);
std::string_view trimmed(std::string_view text);

}  // namespace paceline
