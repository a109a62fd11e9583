#include "engine/model/masking.h"

#include <gtest/gtest.h>

#include "../refusal.h"
#include "base/random.h"
#include "masked_pieces.h"

namespace paceline {
namespace {

std::vector<uint32_t> random_row(uint64_t seed, size_t length, uint32_t vocabulary) {
  RandomStream random({seed});
  std::vector<uint32_t> ids(length);
  for (auto& id : ids) id = 5 + static_cast<uint32_t>(random.below(vocabulary - 5));
  ids.front() = 2;
  ids.back() = 3;
  return ids;
}

TEST(Masking, FifteenPercentAreChosenAndShownEightyTenTen) {
  const auto task = masked_task(1000);
  std::vector<MaskedPlace> places;
  double masked = 0, replaced = 0, kept = 0;
  std::vector<uint64_t> chosen(128);
  for (uint64_t row = 0; row < 3000; ++row) {
    const auto ids = random_row(row, 128, 1000);
    choose_masked(*task.pieces, false, ids, stream_key({row}), places);
    ASSERT_EQ(places.size(), 19u) << "15 % of 126 pieces";
    for (size_t i = 0; i < places.size(); ++i) {
      const MaskedPlace& place = places[i];
      ASSERT_TRUE(i == 0 || places[i - 1].position < place.position);
      ASSERT_EQ(place.truth, ids[place.position]);
      ++chosen[place.position];
      (place.shown == task.pieces->mask() ? masked : place.shown == place.truth ? kept : replaced) += 1;
    }
  }
  const double all = 3000 * 19;
  EXPECT_NEAR(masked / all, 0.8, 0.01);
  EXPECT_NEAR(replaced / all, 0.1, 0.01);
  EXPECT_NEAR(kept / all, 0.1, 0.01);
  EXPECT_EQ(chosen.front() + chosen.back(), 0u) << "[CLS] and [SEP] stay";
  for (size_t i = 1; i + 1 < chosen.size(); ++i)
    EXPECT_NEAR(static_cast<double>(chosen[i]), all / 126, 130) << "position " << i;
}

TEST(Masking, AReplacementIsAnyPieceOfTheVocabulary) {
  const auto task = masked_task(40);
  std::vector<MaskedPlace> places;
  std::set<uint32_t> shown;
  for (uint64_t row = 0; row < 2000; ++row) {
    choose_masked(*task.pieces, false, random_row(1, 64, 6), stream_key({row}), places);
    for (const auto& place : places) shown.insert(place.shown);
  }
  EXPECT_EQ(shown.size(), 40u);
  EXPECT_EQ(*shown.rbegin(), 39u);
}

TEST(Masking, AnotherKeyChoosesOthersAndTheSameKeyTheSame) {
  const auto task = masked_task(1000);
  const auto ids = random_row(1, 128, 1000);
  std::vector<MaskedPlace> first, again, other;
  choose_masked(*task.pieces, false, ids, 1, first);
  choose_masked(*task.pieces, false, ids, 1, again);
  choose_masked(*task.pieces, false, ids, 2, other);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

TEST(Masking, WholeWordsAreChosenWithAllOfTheirPieces) {
  std::set<uint32_t> continuations;
  for (uint32_t id = 6; id < 200; id += 2) continuations.insert(id);
  const auto task = masked_task(200, continuations);
  std::vector<MaskedPlace> places;
  uint64_t pieces = 0;
  for (uint64_t row = 0; row < 500; ++row) {
    const auto ids = random_row(row, 128, 200);
    choose_masked(*task.pieces, true, ids, stream_key({row}), places);
    std::set<uint32_t> chosen;
    for (const auto& place : places) chosen.insert(place.position);
    pieces += chosen.size();
    EXPECT_LE(chosen.size(), 19u);
    for (uint32_t i = 2; i + 1 < ids.size(); ++i) {
      if (!task.pieces->continues_word(ids[i])) continue;
      ASSERT_EQ(chosen.contains(i), chosen.contains(i - 1)) << "row " << row << ", position " << i;
    }
  }
  EXPECT_GT(static_cast<double>(pieces) / 500, 18.5);
}

TEST(Masking, AWordThatIsLongerThanAllThatMayBeMaskedIsMaskedAlone) {
  const auto task = masked_task(20, {6});
  std::vector<MaskedPlace> places;
  const std::vector<uint32_t> ids = {2, 5, 6, 6, 6, 6, 6, 6, 3};
  choose_masked(*task.pieces, true, ids, 1, places);
  EXPECT_EQ(places.size(), 7u);
}

TEST(Masking, ATextAlwaysHasSomethingMasked) {
  const auto task = masked_task(20);
  std::vector<MaskedPlace> places;
  const std::vector<std::vector<uint32_t>> texts = {{2, 7, 3}, {2, 1, 3}, {2, 3}, {1}, {2, 4, 4, 3}};
  for (const auto& ids : texts) {
    choose_masked(*task.pieces, false, ids, 5, places);
    EXPECT_EQ(places.size(), 1u) << ids.size() << " ids";
  }
}

TEST(Masking, PiecesAreHiddenAsOftenAsAskedAndSpecialOnesNever) {
  const auto task = masked_task(1000);
  double hidden = 0;
  for (uint64_t row = 0; row < 1000; ++row) {
    const auto ids = random_row(row, 102, 1000);
    auto shown = ids, again = ids, other = ids;
    hide_pieces(*task.pieces, 0.2, stream_key({row}), shown);
    hide_pieces(*task.pieces, 0.2, stream_key({row}), again);
    hide_pieces(*task.pieces, 0.2, stream_key({row + 1000}), other);
    EXPECT_EQ(shown, again);
    EXPECT_NE(shown, other);
    EXPECT_EQ(shown.front(), ids.front());
    EXPECT_EQ(shown.back(), ids.back());
    for (size_t i = 0; i < ids.size(); ++i) {
      EXPECT_TRUE(shown[i] == ids[i] || shown[i] == task.pieces->mask());
      hidden += shown[i] != ids[i];
    }
  }
  EXPECT_NEAR(hidden / 100000, 0.2, 0.005);
}

TEST(Masking, ATextOfWhichNothingWouldBeLeftStaysWhole) {
  const auto task = masked_task(1000);
  for (uint64_t key = 0; key < 200; ++key) {
    std::vector<uint32_t> one = {2, 77, 3};
    hide_pieces(*task.pieces, 0.9, stream_key({key}), one);
    EXPECT_EQ(one[1], 77u);
    std::vector<uint32_t> two = {2, 77, 78, 3};
    hide_pieces(*task.pieces, 0.9, stream_key({key}), two);
    EXPECT_TRUE(two[1] == 77u || two[2] == 78u);
  }
}

TEST(Masking, AVocabularyWithoutMaskIsRefused) {
  const auto pieces = Vocabulary::parse_pieces("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", "some/vocab.txt");
  EXPECT_TRUE(refused([&] { PieceKinds(pieces, "some/vocab.txt"); }, {"some/vocab.txt", "[MASK]"}));
}

}  // namespace
}  // namespace paceline
