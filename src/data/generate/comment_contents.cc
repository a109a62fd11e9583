#include "data/generate/comment_contents.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "data/generate/row_fields.h"

namespace paceline {
namespace {

constexpr size_t kLabels = comment_labels.size();
constexpr double kTwo32 = 0x1.0p32;

constexpr uint8_t bit(Saying saying) { return static_cast<uint8_t>(1u << static_cast<unsigned>(saying)); }
constexpr uint8_t kHostile = bit(Saying::hostile), kCoarse = bit(Saying::coarse),
                  kInsult = bit(Saying::insult), kThreat = bit(Saying::threat),
                  kIdentity = bit(Saying::identity), kFury = bit(Saying::fury),
                  kGrumble = bit(Saying::grumble), kTease = bit(Saying::tease);

// Weights are rows of 100,000 at the default share of toxic ones; the harmless contents at the top divide
// what is left. Then the chance of "toxic", and of each other label given that it is toxic. Set so that rates
// and overlaps come out as in the competition's training set: 9.6 % toxic, 1.0 % severe_toxic, 5.3 % obscene,
// 0.3 % threat, 4.9 % insult, 0.9 % identity_hate.
struct Row {
  Content content;
  double weight;
  //     toxic severe obscene threat insult identity
  std::array<double, kLabels> labels;
};
constexpr Row kRows[] = {
    {{0, false}, 88, {.002, .00, .10, .003, .10, .005}},
    {{0, true}, 12, {.015, .00, .25, .01, .30, .04}},
    {{kGrumble, false}, 2500, {.25, .00, .04, .00, .10, .00}},
    {{kTease, false}, 500, {.30, .00, .05, .00, .75, .01}},
    {{kHostile, false}, 2750, {.85, .00, .02, .00, .08, .01}},
    {{kCoarse, false}, 1150, {.88, .01, .88, .00, .06, .01}},
    {{kInsult, false}, 300, {.92, .01, .05, .00, .90, .01}},
    {{kCoarse | kInsult, false}, 2720, {.97, .04, .93, .01, .89, .01}},
    {{kCoarse | kInsult | kFury, false}, 970, {.99, .65, .96, .02, .94, .04}},
    {{kFury, false}, 250, {.94, .25, .20, .01, .25, .02}},
    {{kIdentity, false}, 250, {.92, .02, .08, .01, .30, .82}},
    {{kIdentity | kCoarse | kInsult, false}, 530, {.98, .12, .90, .01, .92, .90}},
    {{kIdentity | kCoarse | kInsult | kFury, false}, 130, {.99, .62, .95, .03, .95, .92}},
    {{kThreat, false}, 115, {.93, .06, .08, .85, .12, .01}},
    {{kThreat | kCoarse | kInsult, false}, 110, {.98, .20, .88, .88, .88, .04}},
    {{kThreat | kCoarse | kInsult | kFury, false}, 65, {.99, .68, .94, .90, .92, .06}},
};
static_assert(std::size(kRows) == comment_content_count);
constexpr size_t kHarmless = 2;
// A label without "toxic" is this much rarer than with it, times the chance of "toxic"; severe_toxic never
// is.
constexpr double kWithoutToxic = 0.5;

// The shares of the contents, such that the given share of rows is toxic.
using Shares = std::array<double, comment_content_count>;
Shares shares_of(double toxic) {
  double weight = 0, toxic_weight = 0, harmless_weight = 0, harmless_toxic = 0;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    (i < kHarmless ? harmless_weight : weight) += kRows[i].weight;
    (i < kHarmless ? harmless_toxic : toxic_weight) += kRows[i].weight * kRows[i].labels[0];
  }
  harmless_toxic /= harmless_weight;
  const double scale = (toxic - harmless_toxic) / (toxic_weight - weight * harmless_toxic);
  Shares shares;
  for (size_t i = 0; i < shares.size(); ++i)
    shares[i] = kRows[i].weight * (i < kHarmless ? (1 - scale * weight) / harmless_weight : scale);
  return shares;
}

uint64_t of_2_32(double share) { return static_cast<uint64_t>(share * kTwo32); }
double probability(uint64_t units) { return static_cast<double>(units) / kTwo32; }

}  // namespace

CommentContents::CommentContents(double toxic, double noise)
    : noise_(share_of_2_32(noise, "--noise", 0, 0.49)) {
  share_of_2_32(toxic, "--toxic", 0.01, 0.5);
  const Shares shares = shares_of(toxic);
  double below = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    cumulative_[i] = of_2_32(below += shares[i]);
    const Row& row = kRows[i];
    Chances& chances = chances_[i];
    chances.toxic = of_2_32(row.labels[0]);
    for (size_t label = 1; label < kLabels; ++label) {
      chances.with[label] = of_2_32(row.labels[label]);
      chances.without[label] = label == 1 ? 0 : of_2_32(row.labels[label] * row.labels[0] * kWithoutToxic);
    }
  }
  cumulative_.back() = uint64_t{1} << 32;
}

Content CommentContents::content(unsigned number) const { return kRows[number].content; }

unsigned CommentContents::draw(RandomStream& random) const {
  const uint64_t drawn = random.next() >> 32;
  return static_cast<unsigned>(std::upper_bound(cumulative_.begin(), cumulative_.end(), drawn) -
                               cumulative_.begin());
}

CommentLabels CommentContents::draw_labels(RandomStream& random, unsigned number, bool& of_another) const {
  of_another = (random.next() >> 32) < noise_;
  const unsigned other = draw(random);
  const Chances& chances = chances_[of_another ? other : number];
  CommentLabels labels{};
  labels[0] = (random.next() >> 32) < chances.toxic;
  for (size_t label = 1; label < kLabels; ++label)
    labels[label] = (random.next() >> 32) < (labels[0] ? chances.with : chances.without)[label];
  return labels;
}

double CommentContents::share(unsigned number) const {
  return probability(cumulative_[number] - (number > 0 ? cumulative_[number - 1] : 0));
}

double CommentContents::chance(unsigned number, size_t label) const {
  const Chances& chances = chances_[number];
  const double toxic = probability(chances.toxic);
  if (label == 0) return toxic;
  return toxic * probability(chances.with[label]) + (1 - toxic) * probability(chances.without[label]);
}

double CommentContents::rate(size_t label) const {
  double sum = 0;
  for (unsigned number = 0; number < comment_content_count; ++number)
    sum += share(number) * chance(number, label);
  return sum;
}

double CommentContents::score(unsigned number, size_t label) const {
  const double noise = probability(noise_);
  return (1 - noise) * chance(number, label) + noise * rate(label);
}

Ranking CommentContents::best(size_t label) const {
  std::vector<ScoredGroup> groups;
  for (unsigned number = 0; number < comment_content_count; ++number) {
    const double positive = score(number, label);
    groups.push_back({positive, share(number) * positive, share(number) * (1 - positive)});
  }
  return *rank_groups(std::move(groups));
}

}  // namespace paceline
