#include "data/generate/review_rows.h"

#include <algorithm>

#include "base/error.h"
#include "data/generate/row_fields.h"

namespace paceline {
namespace {

constexpr unsigned kProductOctaves = 20, kReviewerBits = 24;
constexpr uint64_t kProductKey = 0x6B6574746C65;
constexpr uint64_t kFirstDay = 11000, kDays = 6700;  // 2000 to 2018

std::string code(std::string prefix, uint64_t bits, int length) {
  static constexpr char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (; length > 0; --length, bits /= 36) prefix.push_back(digits[bits % 36]);
  return prefix;
}

}  // namespace

// Flipping labels moves both classes towards the middle, so texts are a little less often bad than labels
// are negative: negative = bad (1 - noise) + (1 - bad) noise.
ReviewRows::ReviewRows(const ReviewOptions& options, const Lexicon& lexicon, const ReviewGrammar& grammar)
    : lexicon_(lexicon),
      grammar_(grammar),
      lengths_(options.length),
      seed_(options.seed),
      csv_(is_csv(options.format)),
      flip_of_2_32_(share_of_2_32(options.noise, "--noise", 0, 0.45)) {
  share_of_2_32(options.negative, "--negative", 0.001, 0.999);
  double smaller = std::min(options.negative, 1 - options.negative);
  if (options.noise > smaller)
    input_error("--noise {}: more than the smaller class ({}); lower it, or move --negative towards 0.5",
                options.noise, smaller);
  double bad = (options.negative - options.noise) / (1 - 2 * options.noise);
  bad_of_2_32_ = static_cast<uint64_t>(bad * 0x1.0p32);
}

std::string ReviewRows::header() const {
  return csv_ ? csv_header({"overall", "reviewText", "asin", "reviewerID", "unixReviewTime"}) : "";
}

void ReviewRows::append(uint64_t row, Scratch& scratch, std::string& out, ReviewFacts& facts) const {
  RandomStream random({seed_, row});
  bool good = (random.next() >> 32) >= bad_of_2_32_;
  bool flipped = (random.next() >> 32) < flip_of_2_32_;
  bool positive = good != flipped;
  uint64_t words = lengths_.draw(random);
  Product product{mix64(zipf_rank(random, kProductOctaves) + kProductKey)};
  uint64_t reviewer = mix64(random.next() >> (64 - kReviewerBits)), time = kFirstDay + random.below(kDays);
  // Two of three ratings are the extreme ones, 3.0 never occurs.
  const char* overall = random.below(3) > 0 ? (positive ? "5.0" : "1.0") : (positive ? "4.0" : "2.0");
  scratch.composer.compose(random, product, good, words, scratch.text);

  RowFields fields(csv_, out);
  fields.number("overall", overall);
  fields.text("reviewText", scratch.text);
  fields.code("asin", code("B0", product.number, 8));
  fields.code("reviewerID", code("A", reviewer, 12));
  fields.number("unixReviewTime", std::to_string(time * 86400));
  fields.end();

  facts.count(words);
  facts.negative += !positive;
  facts.flipped += flipped;
}

}  // namespace paceline
