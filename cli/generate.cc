#include "data/generate/reviews.h"

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/terminal_progress.h"

namespace paceline::cli {
namespace {

class Generate final : public Command {
  void declare(FieldTable& table) override {
    table.group("What");
    table.positional("what", &what_, "Kind of data.").one_of({"reviews"}).named("WHAT").need();
    table.integer("rows", &options_.rows, 1, uint64_t{1} << 40, "Rows to write.").need();
    table.integer("seed", &options_.seed, 0, UINT32_MAX,
                  "The same seed gives the same bytes on any machine.");
    table.text("out", &out_, "File to write; OUT.facts.json says beside it how good a model can be.")
        .named("PATH")
        .need();
    table.text("format", &format_, "Format; auto: by the name's ending, else jsonl.")
        .one_of({"auto", "jsonl", "csv"});
    table.text("length", &options_.length,
               "Words a review: a median (25) or a range (3-8); the default has a long tail, median 40.");
    table.real("negative", &options_.negative, 0.01, 0.99, "Share of negative reviews.");
    table.real("noise", &options_.noise, 0, 0.49, "Share of labels that contradict their text.");
    table.integer("executors", &executors_, 0, 4096, "Threads; 0: all cores. The bytes do not depend on it.");
    declare_json(table, &json_);
  }

  int run() override {
    options_.out = out_;
    options_.threads = static_cast<unsigned>(executors_);
    options_.format = format_ != "auto" ? format_ : options_.out.extension() == ".csv" ? "csv" : "jsonl";
    TerminalProgress progress;
    const ReviewFacts facts = generate_reviews(options_, progress);
    if (json_) {
      print_json({{"out", out_},
                  {"rows", facts.rows},
                  {"bytes", facts.bytes},
                  {"words", facts.words},
                  {"longest", facts.longest},
                  {"null_accuracy", facts.null_accuracy},
                  {"best_possible_accuracy", facts.best_possible_accuracy}});
      return 0;
    }
    fmt::print("{}: {} reviews, {}, {:.1f} words each, the longest {}\n", out_, with_commas(facts.rows),
               human_bytes(facts.bytes), static_cast<double>(facts.words) / static_cast<double>(facts.rows),
               with_commas(facts.longest));
    fmt::print("always answering 'positive' is right for {:.1f} %, the best possible model for {:.1f} %\n",
               facts.null_accuracy * 100, facts.best_possible_accuracy * 100);
    return 0;
  }

  std::string what_, out_, format_ = "auto";
  uint64_t executors_ = 0;
  ReviewOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_generate() { return std::make_unique<Generate>(); }

}  // namespace paceline::cli
