#include <fmt/ranges.h>

#include "base/error.h"
#include "base/events/events.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/dataset_tables.h"
#include "cli/engine_library.h"
#include "cli/scores_page.h"
#include "cli/terminal_progress.h"
#include "cli/workers.h"
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
    train_ngram();
    train_lstm();
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

  void train_ngram() {
    TrainOptions options = default_train_options("ngram");
    options.data = in("data").string();
    options.out = in("ngram").string();
    options.seed = seed_;
    heading(
        3, "Train a baseline that counts words and pairs of words",
        fmt::format("train --data {} --model ngram --seed {} --out {}", options.data, seed_, options.out));
    train_one(options);
  }

  void train_lstm() {
    TrainOptions options = default_train_options("lstm");
    options.data = in("data").string();
    options.out = in("run").string();
    options.seed = seed_;
    options.epochs = 2;
    options.max_length = 200;
    options.grain_size = 4;
    options.lstm.embedding = options.lstm.hidden = 64;
    options.lstm.embedding_dropout = 0;
    const std::vector<std::string> same = {"--data",
                                           options.data,
                                           "--model",
                                           "lstm",
                                           "--embedding",
                                           "64",
                                           "--hidden",
                                           "64",
                                           "--embedding-dropout",
                                           "0",
                                           "--max-length",
                                           "200",
                                           "--grain-size",
                                           "4",
                                           "--epochs",
                                           "2",
                                           "--seed",
                                           std::to_string(seed_)};
    std::vector<std::string> two = same;
    two.insert(two.end(), {"--workers", "2", "--slow", "1:0.4", "--out", options.out});
    heading(4, "Train a network that reads them in order, on two workers of which one is slow",
            fmt::format("train {}", fmt::join(two, " ")));
    train_on_two(options, two);
    options.out = in("alone").string();
    heading(5, "The same on one worker: the same bits",
            fmt::format("train {} --out {}", fmt::join(same, " "), options.out));
    train_one(options);
    compare_bits();
  }

  // Where there is no Open MPI one worker trains alone.
  void train_on_two(TrainOptions options, const std::vector<std::string>& arguments) {
    options.workers = 2;
    try {
      const int code = launch_workers(options, arguments);
      if (code != 0) work_error("the two workers have ended with code {}", code);
      show_shares();
    } catch (const InputError& problem) {
      fmt::print("{}\nSo one worker does it all:\n", problem.what());
      options.workers = 1;
      train_one(options);
    }
  }

  // Who did how much, from the record of the run.
  void show_shares() const {
    struct Worker {
      uint64_t grains = 0;
      double wait = 0, whole = 0;
    };
    std::vector<Worker> workers;
    uint64_t all = 0;
    read_events(in("run") / "events.jsonl", [&](const nlohmann::ordered_json& event) {
      if (event.at("event") != "step" || !event.contains("workers")) return true;
      workers.resize(event.at("workers").size());
      for (size_t w = 0; w < workers.size(); ++w) {
        const auto& told = event.at("workers")[w];
        all += told.at("grains").get<uint64_t>();
        workers[w].grains += told.at("grains").get<uint64_t>();
        if (!told.contains("seconds")) continue;
        workers[w].wait += told.at("seconds").value("wait", 0.0);
        workers[w].whole += told.at("seconds").at("step").get<double>();
      }
      return true;
    });
    Table table({"worker", "grains", "share", "waited"});
    for (size_t w = 0; w < workers.size(); ++w)
      table.add({w == 0 ? "0, at full speed" : "1, slowed to 0.4", with_commas(workers[w].grains),
                 percent(static_cast<double>(workers[w].grains), static_cast<double>(all)),
                 percent(workers[w].wait, workers[w].whole)});
    fmt::print("\nWhoever is free takes the next grain, so nobody waits for the slow one:\n{}", table.text());
  }

  static std::string percent(double part, double whole) {
    return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0);
  }

  void compare_bits() const {
    const fs::path weights = fs::path("model") / "model.safetensors";
    const std::string two = file_checksum(in("run") / weights), one = file_checksum(in("alone") / weights);
    if (one != two)
      work_error("{} and {} differ; on one machine they must not: please report it", in("run").string(),
                 in("alone").string());
    fmt::print("{} and {} have the same weights, bit for bit: {}\n", in("run").string(), in("alone").string(),
               one);
  }

  static void train_one(const TrainOptions& options) {
    TerminalProgress progress;
    const TrainResult result = engine().train(options, *make_single_exchange(), progress);
    fmt::print("{} steps in {:.1f} s, model in {}/model\n", with_commas(result.steps), result.seconds,
               options.out);
  }

  Scores score(const char* run) const {
    TerminalProgress progress;
    EvaluateOptions options;
    options.model = in(run);
    options.data = in("data");
    return engine().evaluate(options, progress).scores;
  }

  void evaluate(const ReviewFacts& facts) {
    heading(6, "How good are they?",
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
    heading(7, "Ask it", fmt::format("predict {} --text \"{}\"", in("run").string(), texts[0]));
    auto predictor = engine().open_predictor(in("run"));
    std::vector<std::string> columns = {"label"};
    for (const auto& name : predictor->classes()) columns.push_back(name);
    columns.emplace_back("text");
    Table table(columns);
    std::vector<Question> questions;
    for (const auto& text : texts) questions.push_back({text});
    const std::vector<Prediction> answers = predictor->predict(questions);
    for (size_t i = 0; i < texts.size(); ++i) {
      const Prediction& p = answers[i];
      std::vector<nlohmann::ordered_json> cells = {predictor->classes()[p.labels[0]]};
      for (float probability : p.probabilities) cells.emplace_back(probability);
      cells.emplace_back(texts[i]);
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
