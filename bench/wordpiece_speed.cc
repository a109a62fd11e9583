// WordPiece on every line of a file: VOCAB TEXT CHECKSUMS REPEATS. Prints seconds on one and on all cores,
// writes a checksum of each line's ids. For bench/wordpiece.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/executors.h"
#include "base/machine/limits.h"
#include "data/text/segments.h"

namespace paceline {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Encodes all lines once, and gives each sequence to the sink. Returns seconds.
template <typename Sink>
double encode_all(const WordPiece& wordpiece, const std::vector<std::string_view>& lines, unsigned threads,
                  Sink sink) {
  constexpr size_t share = 1000;
  Executors executors(threads);
  std::vector<WordPiece::Scratch> scratch(threads);
  std::vector<Sequence> sequences(threads);
  const auto begin = std::chrono::steady_clock::now();
  executors.run((lines.size() + share - 1) / share, [&](uint64_t task, unsigned executor) {
    for (size_t i = task * share; i < std::min(lines.size(), (task + 1) * share); ++i) {
      encode_sequence(wordpiece, lines[i], std::nullopt, 0, scratch[executor], sequences[executor]);
      sink(i, sequences[executor].ids);
    }
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int measure(const char* vocabulary, const char* file, const char* out, int repeats) {
  const WordPiece wordpiece(Vocabulary::load_pieces(vocabulary), {});
  const std::string text = read_file(file, UINT64_MAX);
  const auto lines = lines_of(text);
  const auto median = [&](unsigned threads) {
    std::vector<double> seconds;
    for (int k = 0; k < repeats; ++k)
      seconds.push_back(encode_all(wordpiece, lines, threads, [](size_t, const auto&) {}));
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  };
  const double one = median(1), all = median(usable_cores());
  std::vector<uint32_t> sums(lines.size());
  encode_all(wordpiece, lines, usable_cores(), [&](size_t i, const std::vector<uint32_t>& ids) {
    sums[i] = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(ids.data()),
                                          static_cast<uInt>(ids.size() * sizeof(uint32_t))));
  });
  write_file_atomically(out, {reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(uint32_t)});
  fmt::print("{{\"one\": {}, \"all\": {}}}\n", one, all);
  return 0;
}

}  // namespace
}  // namespace paceline

int main(int count, char** arguments) {
  if (count != 5) return 2;
  return paceline::measure(arguments[1], arguments[2], arguments[3], std::max(1, std::atoi(arguments[4])));
}
