// The examples, each by its one command, in their short form.
#include "training.h"

namespace paceline {
namespace {

class Examples : public Training {
 protected:
  static Output example(const std::string& name, const std::string& flags) {
    return run_script("PACELINE=\"$paceline\" python3 " PACELINE_SOURCE_DIR "/examples/" + name + "/run " +
                      flags);
  }
  // What it says about the result, without the output of the commands before.
  static std::string tables(const Output& output) {
    const size_t at = output.out.find(" that were not trained on");
    if (at == std::string::npos) return "";
    return output.out.substr(output.out.rfind('\n', at) + 1);
  }
  static void answers(const Output& output, const Words& parts) {
    ASSERT_EQ(output.code, 0) << output.out << output.err;
    for (const auto& part : parts)
      EXPECT_TRUE(has(tables(output), part)) << part << " is not in " << output.out;
  }
};

TEST_F(Examples, ToxicityAnswersWhatPeopleAskAndGoesOnWithWhatIsThere) {
  const Output first = example("toxicity", "--short --out here");
  answers(first, {"AUC after epoch 1", "identity_hate", "best possible AUC", "samples/s", "The most toxic",
                  "The least toxic", "Adam's mean squares", "What did epoch 2 change?",
                  "What does a checkpoint hold?"});
  const std::string before = weights("here/run");
  const Output again = example("toxicity", "--short --out here");
  EXPECT_TRUE(has(again.out, "finished already")) << again.out;
  EXPECT_EQ(tables(again), tables(first));
  EXPECT_TRUE(weights("here/run") == before);
  answers(example("toxicity", "--short --out here --epochs 3"),
          {"AUC after epoch 2", "What did epoch 3 change?"});
  const Output other = example("toxicity", "--short --out here --rows 9");
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(has(other.err, "name another --out")) << other.err;
}

TEST_F(Examples, Sst2AnswersWhatPeopleAsk) {
  const Output output = example("sst2", "--short");
  answers(output,
          {"always 'positive'", "after epoch 2", "samples/s", "The highest scores for 'positive'", "[SEP]",
           "Dune is a great movie!", "What did epoch 2 change?", "What does a checkpoint hold?"});
  EXPECT_TRUE(fs::exists("sst2/run/model/model.safetensors"));
}

TEST_F(Examples, FilesAndModelsOfTheUsersOwnAreTaken) {
  ASSERT_EQ(example("sst2", "--short --out first").code, 0);
  std::string comments = "is_toxic,comment_text\n", sentences = "sentence\tlabel\n";
  for (int i = 0; i < 200; ++i) {
    comments += i % 3 == 0 ? fmt::format("1,\"you {} nitwit\"\n", i) : fmt::format("0,thanks for {}\n", i);
    sentences += fmt::format("{} film {}\t{}\n", i % 2 ? "good" : "bad", i, i % 2);
  }
  write("comments.csv", comments);
  fs::create_directory("data");
  write("data/train.tsv", sentences);
  write("data/dev.tsv", sentences);
  answers(example("toxicity", "--data comments.csv --init first/run --out a"),
          {"is_toxic", "What did epoch 2 change?"});
  answers(example("sst2", "--data data --init first/run --out b"),
          {"200 sentences", "What did epoch 2 change?"});
  const Output none = example("sst2", "--data a --out c");
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(has(none.err, "no train.tsv there")) << none.err;
}

}  // namespace
}  // namespace paceline
