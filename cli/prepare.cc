#include "data/prepare/prepare.h"

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/dataset_tables.h"
#include "cli/terminal_progress.h"

namespace paceline::cli {
namespace {

class Prepare final : public Command {
  void declare(FieldTable& table) override {
    table_ = &table;
    auto& o = options_;
    table.group("What");
    table.list("input", &o.input, "Files to read: plain, gzip or zstd.").named("PATH…").need();
    table.list("valid", &o.valid, "Files for the split valid.").named("PATH…");
    table.list("test", &o.test, "Files for the split test.").named("PATH…");
    table.text("format", &o.format, "Format of all files; text: a line is a text.")
        .one_of({"csv", "tsv", "jsonl", "text"});
    table.text("quoting", &o.quoting, "Whether fields may be quoted; auto: in csv, not in tsv.")
        .one_of({"auto", "quoted", "raw"});
    table.list("columns", &o.columns, "Names of the columns of csv or tsv files that have no header.")
        .named("NAME…");
    table.text("text", &o.text, "Column with the text.").named("COLUMN");
    table
        .text("text-pair", &o.text_pair,
              "Column with a second text, for rows [CLS] text [SEP] second [SEP]; wordpiece only.")
        .named("COLUMN");
    table
        .text("label", &o.label,
              "Column with the class; or columns with 0 or 1 (toxic,insult); or rules "
              "(overall>=4:positive,overall<=2:negative); nothing: no labels.")
        .named("COLUMN|RULE");
    table.text("out", &o.out, "Folder of the data set; it must not exist yet.").named("DATASET").need();
    table.group("Words");
    table
        .text("tokenizer", &o.tokenizer,
              "How a text becomes tokens; wordpiece: as BERT does, with the vocabulary of --tokenizer-from.")
        .one_of({"word", "wordpiece"});
    table
        .text(
            "tokenizer-from", &o.tokenizer_from,
            "Take the vocabulary of this data set, run or model; for wordpiece also a BERT model's folder or "
            "vocab.txt.")
        .named("DATASET|MODEL");
    table.flag(
        "cased", &o.cased,
        "wordpiece: keep capital letters and accents, where the folder of the vocabulary does not say.");
    table.integer("max-length", &o.max_length, 1, 1 << 20,
                  "wordpiece: most ids of a row, with [CLS] and [SEP]; longer texts are cut.");
    table.flag(
        "pack", &o.pack,
        "wordpiece without labels: join texts and cut them into rows of --max-length, to pre-train on.");
    table.integer("vocabulary-size", &o.vocabulary_size, 1, uint64_t{1} << 23,
                  "Most frequent words that get an id.");
    table.integer("min-count", &o.min_count, 1, uint64_t{1} << 40,
                  "Words that occur less often are unknown.");
    table.flag("keep-html", &o.keep_html,
               "Leave HTML tags and entities as they are, as wordpiece does anyway.");
    table.flag("clean-html", &o.clean_html, "Take out HTML tags and entities, as word does anyway.");
    table.text("invalid-utf8", &o.invalid_utf8, "What happens to broken characters.")
        .one_of({"replace", "reject"});
    table.group("Rows");
    table.flag("deduplicate", &o.deduplicate, "Keep only the first of equal texts in a split.");
    table.real("valid-share", &o.valid_share, 0, 0.9,
               "Share of the texts that goes to the split valid, when no --valid is given.");
    table.real("test-share", &o.test_share, 0, 0.9,
               "Share of the texts that goes to the split test, when no --test is given.");
    table.integer("fixed-length", &o.fixed_length, 0, 1 << 20,
                  "Also write a matrix of this many ids a row, cut or padded with 0.");
    table
        .integer("executors", &o.executors, 0, 4096,
                 "Threads; 0: all usable cores. The bytes do not depend on it.")
        .unrecorded();
    declare_json(table, &json_);
  }

  // An option that would change nothing is a misunderstanding.
  void check_applicable() const {
    const bool wordpiece = options_.tokenizer == "wordpiece";
    for (const char* name : {"max-length", "vocabulary-size", "min-count"})
      if (table_->find(name)->is_set && wordpiece == (std::string_view(name) != "max-length"))
        input_error("--{} does nothing with --tokenizer {}; leave it out", name, options_.tokenizer);
  }

  int run() override {
    check_applicable();
    for (const auto& field : table_->fields())
      if (field.recorded && field.name != "out" && field.is_set)
        options_.record[field.name] = field.value_json();
    TerminalProgress progress;
    const PrepareResult result = prepare(options_, progress);
    if (json_) {
      auto out = to_json(result.info);
      out["records"] = result.records;
      out["seconds"] = result.seconds;
      print_json(out);
      return 0;
    }
    fmt::print("{}", dataset_summary(result.info, options_.out));
    return 0;
  }

  PrepareOptions options_;
  FieldTable* table_ = nullptr;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_prepare() { return std::make_unique<Prepare>(); }

}  // namespace paceline::cli
