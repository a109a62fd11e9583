#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/terminal_progress.h"
#include "data/generate/comments.h"
#include "data/generate/reviews.h"

namespace paceline::cli {
namespace {

class Generate final : public Command {
  void declare(FieldTable& table) override {
    table.group("What");
    table.positional("what", &what_, "Kind of data.").one_of({"reviews", "comments"}).named("WHAT").need();
    table.integer("rows", &rows_.rows, 1, uint64_t{1} << 40, "Rows to write.").need();
    table.integer("seed", &rows_.seed, 0, UINT32_MAX, "The same seed gives the same bytes on any machine.");
    table.text("out", &out_, "File to write; OUT.facts.json says beside it how good a model can be.")
        .named("PATH")
        .need();
    table.text("format", &format_, "Format; auto: by the name's ending, else jsonl.")
        .one_of({"auto", "jsonl", "csv"});
    table.text("length", &rows_.length,
               "Words a text: a median (25) or a range (3-8); the default has a long tail, median 40.");
    table.real(
        "noise", &noise_, 0, 0.49,
        "Share of labels that contradict their text; of comments (default 0.02) that have those of another.");
    table.integer("executors", &executors_, 0, 4096, "Threads; 0: all cores. The bytes do not depend on it.");
    declare_json(table, &json_);
    table.group("Of reviews");
    table.real("negative", &reviews_.negative, 0.01, 0.99, "Share of negative reviews.");
    table.group("Of comments");
    table.real("toxic", &comments_.toxic, 0.01, 0.5, "Share of toxic comments.");
    table.real("obfuscation", &comments_.obfuscation, 0, 1, "Share of telling words that are disguised.");
  }

  void resolve(FieldTable& table) override {
    for (Field& field : table.fields()) {
      if (!field.group.starts_with("Of ") || field.group == "Of " + what_) continue;
      if (field.is_set && !what_.empty())
        input_error("--{}: generate {} has no such option; leave it out", field.name, what_);
      field.recorded = false;
    }
    if (what_ == "comments" && !table.find("noise")->is_set) noise_ = comments_.noise;
  }

  int run() override {
    rows_.out = out_;
    rows_.threads = static_cast<unsigned>(executors_);
    rows_.format = format_ != "auto" ? format_ : rows_.out.extension() == ".csv" ? "csv" : "jsonl";
    return what_ == "reviews" ? run_reviews() : run_comments();
  }

  int run_reviews() {
    static_cast<RowsOptions&>(reviews_) = rows_;
    reviews_.noise = noise_;
    TerminalProgress progress;
    const ReviewFacts facts = generate_reviews(reviews_, progress);
    if (json_) {
      Json json = counted(facts);
      json["null_accuracy"] = facts.null_accuracy;
      json["best_possible_accuracy"] = facts.best_possible_accuracy;
      print_json(json);
      return 0;
    }
    say_counted(facts);
    fmt::print("always answering 'positive' is right for {:.1f} %, the best possible model for {:.1f} %\n",
               facts.null_accuracy * 100, facts.best_possible_accuracy * 100);
    return 0;
  }

  int run_comments() {
    static_cast<RowsOptions&>(comments_) = rows_;
    comments_.noise = noise_;
    TerminalProgress progress;
    const CommentFacts facts = generate_comments(comments_, progress);
    Table labels({"label", "rows", "share %", "best AUC", "best AP"});
    for (size_t i = 0; i < comment_labels.size(); ++i) {
      const CommentFacts::Label& label = facts.labels[i];
      labels.add({comment_labels[i], label.rows, facts.share(label.rows) * 100, label.best.auc,
                  label.best.average_precision});
    }
    if (json_) {
      Json json = counted(facts);
      json["labels"] = labels.json();
      json["null_auc"] = 0.5;
      json["best_possible_auc"] = facts.best.auc;
      print_json(json);
      return 0;
    }
    say_counted(facts);
    fmt::print(
        "always giving the same score has an AUC of 0.5, the best possible model a mean of {:.4f}\n\n{}",
        facts.best.auc, labels.text());
    return 0;
  }

  using Json = nlohmann::ordered_json;
  Json counted(const RowsFacts& facts) const {
    return {{"out", out_},
            {"rows", facts.rows},
            {"bytes", facts.bytes},
            {"words", facts.words},
            {"longest", facts.longest}};
  }
  void say_counted(const RowsFacts& facts) const {
    fmt::print("{}: {} {}, {}, {:.1f} words each, the longest {}\n", out_, with_commas(facts.rows), what_,
               human_bytes(facts.bytes), facts.share(facts.words), with_commas(facts.longest));
  }

  std::string what_, out_, format_ = "auto";
  uint64_t executors_ = 0;
  RowsOptions rows_;
  ReviewOptions reviews_;
  CommentOptions comments_;
  double noise_ = ReviewOptions().noise;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_generate() { return std::make_unique<Generate>(); }

}  // namespace paceline::cli
