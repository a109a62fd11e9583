#include "data/generate/review_rows.h"

#include <charconv>

#include "base/error.h"

namespace paceline {
namespace {

constexpr uint64_t kTwo32 = uint64_t{1} << 32;
constexpr unsigned kProductOctaves = 20, kReviewerBits = 24;
constexpr uint64_t kProductKey = 0x6B6574746C65;
constexpr uint64_t kFirstDay = 11000, kDays = 6700;  // 2000 to 2018

void append_code(uint64_t bits, int length, std::string& out) {
  static constexpr char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (; length > 0; --length, bits /= 36) out.push_back(digits[bits % 36]);
}

void append_number(uint64_t number, std::string& out) {
  char digits[20];
  auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

// The composer writes letters, blanks, newlines and simple punctuation: nothing else needs care.
void append_escaped(const std::string& text, bool csv, std::string& out) {
  size_t begin = 0;
  for (size_t at; (at = text.find_first_of("\"\n", begin)) != std::string::npos; begin = at + 1) {
    out.append(text, begin, at - begin);
    if (csv)
      out.append(text[at] == '"' ? "\"\"" : "\n");
    else
      out.append(text[at] == '"' ? "\\\"" : "\\n");
  }
  out.append(text, begin);
}

uint64_t checked_share(double share, const char* flag, double low, double high) {
  if (!(share >= low && share <= high))
    input_error("{} {}: expected a number from {} to {}", flag, share, low, high);
  return static_cast<uint64_t>(share * static_cast<double>(kTwo32));
}

}  // namespace

// Flipping labels moves both classes towards the middle, so texts are a little less often bad than labels
// are negative: negative = bad (1 - noise) + (1 - bad) noise.
ReviewRows::ReviewRows(const ReviewOptions& options, const Lexicon& lexicon, const Grammar& grammar)
    : lexicon_(lexicon),
      grammar_(grammar),
      lengths_(options.length),
      seed_(options.seed),
      csv_(options.format == "csv") {
  if (!csv_ && options.format != "jsonl") input_error("--format {}: expected jsonl or csv", options.format);
  checked_share(options.negative, "--negative", 0.001, 0.999);
  flip_of_2_32_ = checked_share(options.noise, "--noise", 0, 0.45);
  double smaller = std::min(options.negative, 1 - options.negative);
  if (options.noise > smaller)
    input_error("--noise {}: more than the smaller class ({}); lower it, or move --negative towards 0.5",
                options.noise, smaller);
  double bad = (options.negative - options.noise) / (1 - 2 * options.noise);
  bad_of_2_32_ = static_cast<uint64_t>(bad * static_cast<double>(kTwo32));
}

std::string ReviewRows::header() const {
  return csv_ ? "overall,reviewText,asin,reviewerID,unixReviewTime\n" : "";
}

void ReviewRows::append(uint64_t row, Composer& composer, std::string& text, std::string& out,
                        ReviewFacts& facts) const {
  RandomStream random({seed_, row});
  bool good = (random.next() >> 32) >= bad_of_2_32_;
  bool flipped = (random.next() >> 32) < flip_of_2_32_;
  bool positive = good != flipped;
  uint64_t words = lengths_.draw(random);
  Product product{mix64(zipf_rank(random, kProductOctaves) + kProductKey)};
  uint64_t reviewer = mix64(random.next() >> (64 - kReviewerBits)), time = kFirstDay + random.below(kDays);
  // Two of three ratings are the extreme ones, 3.0 never occurs.
  const char* overall = random.below(3) > 0 ? (positive ? "5.0" : "1.0") : (positive ? "4.0" : "2.0");
  composer.compose(random, product, good, words, text);

  out.append(csv_ ? "" : "{\"overall\": ").append(overall).append(csv_ ? ",\"" : ", \"reviewText\": \"");
  append_escaped(text, csv_, out);
  out.append(csv_ ? "\",B0" : "\", \"asin\": \"B0");
  append_code(product.number, 8, out);
  out.append(csv_ ? ",A" : "\", \"reviewerID\": \"A");
  append_code(reviewer, 12, out);
  out.append(csv_ ? "," : "\", \"unixReviewTime\": ");
  append_number(time * 86400, out);
  out.append(csv_ ? "\n" : "}\n");

  ++facts.rows;
  facts.negative += !positive;
  facts.flipped += flipped;
  facts.words += words;
  facts.longest = std::max(facts.longest, words);
}

}  // namespace paceline
