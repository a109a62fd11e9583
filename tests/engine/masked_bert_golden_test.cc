// Model bert that guesses masked pieces against transformers' BertForMaskedLM: golden/masked_bert.safetensors
// and masked_bert.json are written by golden/make_masked_bert.py.
#include <gtest/gtest.h>

#include "engine/model/bert.h"
#include "golden_cases.h"
#include "masked_pieces.h"

namespace paceline {
namespace {

const Golden& golden() {
  static const Golden bert("masked_bert");
  return bert;
}

TrainOptions options_of(const Json& test, bool recompute) {
  TrainOptions options = bert_options_of(test, recompute);
  options.bert.whole_words = test["whole_words"];
  return options;
}

// Calls check(case, prefix of its tensors, model with its parameters) for every case.
template <typename Check>
void for_each_case(bool recompute, Check check) {
  const Json& cases = golden().json()["cases"];
  ASSERT_GE(cases.size(), 16u);
  for (size_t n = 0; n < cases.size(); ++n) {
    SCOPED_TRACE(cases[n]["name"].get<std::string>());
    const auto continuations = cases[n]["continuations"].get<std::set<uint32_t>>();
    BertModel model(options_of(cases[n], recompute), masked_task(cases[n]["vocabulary"], continuations));
    const std::string prefix = std::to_string(n) + "/";
    golden().load_parameters(model, prefix);
    check(cases[n], prefix, model);
  }
}

uint64_t key_of(const Json& test, uint64_t text) {
  return stream_key({test["seed"].get<uint64_t>(), test["step"].get<uint64_t>(),
                     test["grain"].get<uint64_t>(), static_cast<uint64_t>(DropoutKind::masking), text});
}

constexpr float tolerance = 4e-5f;  // PyTorch's own float32 is off by up to 2.8e-5 on these cases

class MaskedBertGradients : public testing::TestWithParam<bool> {};  // whether layers are computed again

TEST_P(MaskedBertGradients, LossAndEveryGradientEqualTransformersForEveryOption) {
  for_each_case(GetParam(), [](const Json& test, const std::string& prefix, const BertModel& model) {
    // The gradient of a key's bias is 0 but for rounding: a softmax does not see what all its inputs share.
    const auto scale = [](const std::string& name, const Gradients& gradients, size_t p) {
      return name.ends_with("key.bias.gradient") ? largest_of(gradients.of(p - 1)) : 0.f;
    };
    expect_loss_and_gradients(golden(), test, prefix, model, tolerance, scale);
    const OwnedBatch data(test, test["grain_begin"], test["step"]);
    Gradients unread(model.parameters());
    const auto workspace = model.make_workspace();
    EXPECT_EQ(model.compute_grains(data.batch, test["grain"], 1, *workspace, unread)[0].right,
              test["expected_right"].get<double>());
  });
}

INSTANTIATE_TEST_SUITE_P(Layers, MaskedBertGradients, testing::Bool(),
                         [](const auto& test) { return test.param ? "Recomputed" : "Kept"; });

TEST(MaskedBertGolden, PiecesAreChosenByTheRulesThatTheReferenceHas) {
  for (const Json& test : golden().json()["cases"]) {
    SCOPED_TRACE(test["name"].get<std::string>());
    const auto task = masked_task(test["vocabulary"], test["continuations"].get<std::set<uint32_t>>());
    const uint64_t first = test["grain_begin"][test["grain"].get<size_t>()];
    for (size_t i = 0; i < test["places"].size(); ++i) {
      const auto ids = test["ids"][first + i].get<std::vector<uint32_t>>();
      std::vector<MaskedPlace> places, expected;
      choose_masked(*task.pieces, test["whole_words"], ids, key_of(test, i), places);
      for (const Json& place : test["places"][i])
        expected.push_back({place[0].get<uint32_t>(), place[1].get<uint32_t>(), place[2].get<uint32_t>()});
      EXPECT_EQ(places, expected) << "text " << i;
    }
  }
}

TEST(MaskedBertGolden, ProbabilitiesOfMaskedPiecesEqualTransformers) {
  for_each_case(false, [](const Json& test, const std::string& prefix, const BertModel& model) {
    const uint64_t first = test["grain_begin"][test["grain"].get<size_t>()], pieces = test["vocabulary"];
    ASSERT_EQ(model.pieces(), pieces);
    const auto expected =
        golden().read(prefix + "probabilities", {test["expected_weight"].get<uint64_t>(), pieces});
    size_t row = 0;
    for (size_t i = 0; i < test["places"].size(); ++i) {
      auto ids = test["ids"][first + i].get<std::vector<uint32_t>>();
      std::vector<uint32_t> positions;
      for (const Json& place : test["places"][i]) {
        positions.push_back(place[0].get<uint32_t>());
        ids[positions.back()] = place[2];
      }
      std::vector<float> found(positions.size() * pieces);
      model.probabilities(Text(ids, test["second_begins"][first + i].get<uint32_t>()), positions, found);
      const auto begin = expected.begin() + static_cast<ptrdiff_t>(row * pieces);
      expect_close({begin, begin + static_cast<ptrdiff_t>(found.size())}, found, "probabilities", 2e-5f);
      row += positions.size();
    }
  });
}

TEST(MaskedBertGolden, GuessesHaveTheLossOfTheSameMasksWithoutDropout) {
  for_each_case(false, [](const Json& test, const std::string&, const BertModel& model) {
    if (test["whole_words"].get<bool>()) return;  // guesses mask single pieces
    const uint64_t first = test["grain_begin"][test["grain"].get<size_t>()];
    std::vector<std::vector<uint32_t>> ids;
    std::vector<uint64_t> keys;
    for (size_t i = 0; i < test["places"].size(); ++i) {
      ids.push_back(test["ids"][first + i].get<std::vector<uint32_t>>());
      keys.push_back(key_of(test, i));
    }
    std::vector<Text> texts;
    for (size_t i = 0; i < ids.size(); ++i)
      texts.emplace_back(ids[i], test["second_begins"][first + i].get<uint32_t>());
    std::vector<GrainLoss> found(texts.size());
    model.guess(texts, keys, found);
    double loss = 0, weight = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      loss += found[i].loss;
      weight += found[i].weight;
      GrainLoss alone;
      model.guess(std::span(&texts[i], 1), std::span(&keys[i], 1), std::span(&alone, 1));
      EXPECT_EQ(alone.loss, found[i].loss) << "it depends on the texts beside it";
      EXPECT_EQ(alone.right, found[i].right);
    }
    const double expected = test["plain_loss"];
    EXPECT_NEAR(loss, expected, 1e-5 * expected);
    EXPECT_EQ(weight, test["expected_weight"].get<double>());
  });
}

TEST(MaskedBertGolden, TheOrderOfGradientsIsTheOneThatIsPromised) {
  for_each_case(false, [](const Json& test, const std::string&, const BertModel& model) {
    struct Order final : GradientSink {
      void dense(size_t, size_t parameter, const float*) override { seen.push_back(parameter); }
      void block(size_t, size_t parameter, const MatrixBlock& block) override {
        if (block.last) seen.push_back(parameter);
      }
      void rows(size_t, size_t parameter, std::span<const uint32_t>, const float*) override {
        seen.push_back(parameter);
      }
      std::vector<size_t> seen;
    } order;
    const OwnedBatch data(test, test["grain_begin"], test["step"]);
    const auto workspace = model.make_workspace();
    model.compute_grains(data.batch, test["grain"], 1, *workspace, order);
    EXPECT_EQ(order.seen, model.gradient_order());
  });
}

}  // namespace
}  // namespace paceline
