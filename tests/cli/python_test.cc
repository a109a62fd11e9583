// The Python of our pages and examples opens what the program writes.
#include "code_blocks.h"
#include "program.h"

namespace paceline {
namespace {

// A Python that has the module; "" when there is none.
std::string python_with(const std::string& module) {
  const char* own = std::getenv("PACELINE_PYTHON");
  for (std::string python : {own ? own : "python3", "python3", "/usr/bin/python3"})
    if (Process({python, "-c", "import " + module}).wait().code == 0) return python;
  return "";
}

class Python : public Scratch {};

TEST_F(Python, TenLinesOfThePageOpenADataSet) {
  const std::string python = python_with("h5py");
  if (python.empty()) GTEST_SKIP() << "no Python with h5py here (python3-h5py)";
  const auto blocks = code_blocks("docs/formats/dataset.md", "python");
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(std::count(blocks[0].begin(), blocks[0].end(), '\n'), 10);
  write("my.csv", "text,label\nso good,yes\nso bad,no\n");
  ASSERT_EQ(run({"prepare", "--input", "my.csv", "--label", "label", "--min-count", "1", "--valid-share", "0",
                 "--test-share", "0", "--out", "my-data"})
                .code,
            0);
  const Output output = Process({python, "-c", blocks[0]}).wait();
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(has(output.out, "yes so good\n") && has(output.out, "no so bad\n")) << output.out;
}

TEST_F(Python, ReaderOfNgramModelsComputesTheSameLogits) {
  const std::string python = python_with("numpy");
  if (python.empty()) GTEST_SKIP() << "no Python with NumPy here (python3-numpy)";
  const Output answers = run({"predict", tiny_run(), "--text", "It broke, what a waste of money.", "--text",
                              "not bad at all", "--text", "", "--details", "--pad-to", "6", "--json"});
  ASSERT_EQ(answers.code, 0) << answers.err;
  write("answers.jsonl", answers.out);
  const std::string reader = PACELINE_SOURCE_DIR "/examples/read_ngram.py";
  const Output output = Process({python, reader, tiny_run() + "/model", "answers.jsonl"}).wait();
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_TRUE(has(output.out, "3 answers")) << output.out;
}

TEST_F(Python, ReaderOfLstmModelsComputesTheSameLogits) {
  const std::string python = python_with("torch, numpy");
  if (python.empty()) GTEST_SKIP() << "no Python with PyTorch here (PACELINE_PYTHON names one)";
  const std::vector<Words> kinds = {{"--pooling", "last"},
                                    {"--pooling", "attention", "--cell", "gru", "--bidirectional"}};
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    const std::string out = fmt::format("lstm{}", kind);
    Words train = {"train", "--data",   tiny_data(), "--out",    out, "--model", "lstm", "--embedding",
                   "12",    "--hidden", "20",        "--layers", "2", "--steps", "20"};
    train.insert(train.end(), kinds[kind].begin(), kinds[kind].end());
    ASSERT_EQ(run(train).code, 0);
    const Output answers = run({"predict", out, "--text", "It broke, what a waste of money.", "--text", "",
                                "--details", "--pad-to", "6", "--json"});
    ASSERT_EQ(answers.code, 0) << answers.err;
    write("answers.jsonl", answers.out);
    const std::string reader = PACELINE_SOURCE_DIR "/examples/read_lstm.py";
    const Output output = Process({python, reader, out + "/model", "answers.jsonl"}).wait();
    EXPECT_EQ(output.code, 0) << output.out << output.err;
    EXPECT_TRUE(has(output.out, "2 answers")) << output.out;
  }
}

TEST_F(Python, TransformersOpensBertModelsAndComputesTheSameLogits) {
  const std::string python = python_with("torch, transformers");
  if (python.empty()) GTEST_SKIP() << "no Python with transformers here (PACELINE_PYTHON names one)";
  for (const std::string activation : {"gelu", "gelu_new", "relu"}) {
    ASSERT_EQ(
        run({"train", "--data", tiny_pieces(), "--out", activation, "--model", "bert", "--bert-hidden", "32",
             "--bert-layers", "2", "--activation", activation, "--learning-rate", "0.001", "--steps", "20"})
            .code,
        0);
    Words predict = {"predict",   activation, "--text", "It broke, what a waste of money.",
                     "--text",    "",         "--text", "É is the Good",
                     "--details", "--pad-to", "6",      "--json"};
    if (activation != "gelu")
      predict.insert(predict.end(), {"--text-pair", "Not bad.", "--text-pair", "a", "--text-pair", ""});
    const Output answers = run(predict);
    ASSERT_EQ(answers.code, 0) << answers.err;
    write("answers.jsonl", answers.out);
    const std::string reader = PACELINE_SOURCE_DIR "/examples/read_bert.py";
    const Output output = Process({python, reader, activation + "/model", "answers.jsonl"}).wait();
    EXPECT_EQ(output.code, 0) << output.out << output.err;
    EXPECT_TRUE(has(output.out, "3 answers")) << output.out;
  }
}

}  // namespace
}  // namespace paceline
