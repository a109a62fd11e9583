#include "base/error.h"
#include "base/files.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/dataset_tables.h"
#include "cli/engine_library.h"
#include "cli/scores_page.h"
#include "cli/terminal_progress.h"
#include "data/generate/reviews.h"
#include "data/prepare/prepare.h"

namespace paceline::cli {
namespace {

constexpr const char* rule = "overall>=4:positive,overall<=2:negative";

class Quickstart final : public Command {
  void declare(FieldTable& table) override {
    table.group("What");
    table.text("out", &out_, "Folder for everything it makes; one of an earlier quickstart is replaced.")
        .named("FOLDER");
    table.integer("rows", &rows_, 2000, 10000000, "Reviews to generate.");
    table.integer("seed", &seed_, 0, UINT32_MAX, "Chooses the random numbers.");
  }

  int run() override {
    open_folder();
    const ReviewFacts facts = generate();
    prepare_reviews();
    train();
    evaluate(facts);
    predict();
    say_what_next();
    return 0;
  }

  fs::path in(const char* name) const { return fs::path(out_) / name; }

  // Shows the command that does this step on its own.
  static void heading(int number, const char* title, const std::string& command) {
    fmt::print("\n{}. {}\n   $ paceline {}\n\n", number, title, command);
    std::fflush(stdout);
  }

  void open_folder() {
    std::error_code error;
    if (fs::exists(fs::symlink_status(out_, error))) {
      if (!fs::exists(in(".quickstart"), error))
        input_error("--out {}: exists already and is not of a quickstart; name another folder", out_);
      fs::remove_all(out_, error);
    }
    fs::create_directory(out_, error);
    if (error) input_error("--out {}: cannot be made: {}", out_, error.message());
    write_file_atomically(in(".quickstart"), "");
  }

  ReviewFacts generate() {
    const std::string file = in("reviews.jsonl").string();
    heading(1, "Practice data: reviews with a known best possible accuracy",
            fmt::format("generate reviews --rows {} --seed {} --out {}", rows_, seed_, file));
    ReviewOptions options;
    options.rows = rows_;
    options.seed = seed_;
    options.out = file;
    TerminalProgress progress;
    ReviewFacts facts = generate_reviews(options, progress);
    fmt::print("{} reviews, {}\n", with_commas(facts.rows), human_bytes(facts.bytes));
    return facts;
  }

  void prepare_reviews() {
    PrepareOptions options;
    options.input = {in("reviews.jsonl").string()};
    options.format = "jsonl";
    options.text = "reviewText";
    options.label = rule;
    options.out = in("data").string();
    heading(2, "Text to a data set of numbers",
            fmt::format("prepare --input {} --format jsonl --text reviewText --label \"{}\" --out {}",
                        options.input[0], rule, options.out));
    TerminalProgress progress;
    fmt::print("{}", dataset_summary(prepare(options, progress).info, options.out));
  }

  void train() {
    TrainOptions options = default_train_options("ngram");
    options.data = in("data").string();
    options.out = in("ngram").string();
    options.seed = seed_;
    heading(
        3, "Train a baseline that counts words and pairs of words",
        fmt::format("train --data {} --model ngram --seed {} --out {}", options.data, seed_, options.out));
    train_one(options);

    options = default_train_options("lstm");
    options.data = in("data").string();
    options.out = in("run").string();
    options.seed = seed_;
    options.epochs = 2;
    options.max_length = 200;
    options.lstm.embedding = options.lstm.hidden = 64;
    options.lstm.embedding_dropout = 0;
    heading(4, "Train a network that reads them in order",
            fmt::format("train --data {} --model lstm --embedding 64 --hidden 64 --embedding-dropout 0 "
                        "--max-length 200 --epochs 2 --seed {} --out {}",
                        options.data, seed_, options.out));
    train_one(options);
  }

  static void train_one(const TrainOptions& options) {
    TerminalProgress progress;
    const TrainResult result = engine().train(options, progress);
    fmt::print("{} steps in {:.1f} s, model in {}/model\n", with_commas(result.steps), result.seconds,
               options.out);
  }

  Scores score(const char* run) const {
    TerminalProgress progress;
    return engine().evaluate(in(run), in("data"), "test", 0, progress).scores;
  }

  void evaluate(const ReviewFacts& facts) {
    heading(5, "How good are they?",
            fmt::format("evaluate {} --data {}", in("run").string(), in("data").string()));
    const Scores ngram = score("ngram"), lstm = score("run");
    fmt::print("{}\n", scores_page(lstm, std::nullopt));
    Table table({"on the split test", "accuracy", "macro-F1"});
    table.add({"always the same answer", lstm.null_classifier.accuracy, lstm.null_classifier.macro_f1});
    table.add({"ngram", ngram.accuracy, ngram.macro_f1});
    table.add({"lstm", lstm.accuracy, lstm.macro_f1});
    table.add({"the best possible", facts.best_possible_accuracy, nullptr});
    fmt::print("{}", table.text());
    fmt::print(
        "\nThe best possible is an average: {:.0f} % of the labels contradict their text on purpose.\n",
        (1 - facts.best_possible_accuracy) * 100);
  }

  void predict() {
    const std::vector<std::string> texts = {"I love it, the best one I have ever owned.",
                                            "Broke after two days, what a waste of money.",
                                            "It is not bad at all."};
    heading(6, "Ask it", fmt::format("predict {} --text \"{}\"", in("run").string(), texts[0]));
    auto predictor = engine().open_predictor(in("run"));
    std::vector<std::string> columns = {"label"};
    for (const auto& name : predictor->classes()) columns.push_back(name);
    columns.emplace_back("text");
    Table table(columns);
    for (const auto& text : texts) {
      const Prediction p = predictor->predict(text);
      std::vector<nlohmann::ordered_json> cells = {predictor->classes()[p.labels[0]]};
      for (float probability : p.probabilities) cells.emplace_back(probability);
      cells.emplace_back(text);
      table.add(std::move(cells));
    }
    fmt::print("{}", table.text());
  }

  void say_what_next() {
    fmt::print(
        "\nNow your own file, for example a CSV with the columns text and label:\n"
        "   $ paceline prepare --input my.csv --format csv --text text --label label --out my-data\n"
        "   $ paceline train --data my-data --model lstm --out my-run\n"
        "   $ paceline evaluate my-run --data my-data\n"
        "Everything made here is in {}/; paceline inspect {} shows the run.\n",
        out_, in("run").string());
  }

  std::string out_ = "quickstart";
  uint64_t rows_ = 50000, seed_ = 7;
};

}  // namespace

std::unique_ptr<Command> make_quickstart() { return std::make_unique<Quickstart>(); }

}  // namespace paceline::cli
