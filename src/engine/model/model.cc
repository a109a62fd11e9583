#include "engine/model/model.h"

#include <map>

#include "base/error.h"
#include "base/hash.h"
#include "data/dataset/tokenizer.h"
#include "engine/model/bert.h"
#include "engine/model/bert_shapes.h"
#include "engine/model/hugging_face.h"
#include "engine/model/lstm.h"
#include "engine/model/ngram.h"
#include "engine/model/replace_folder.h"
#include "engine/model/strict_json.h"

namespace paceline {
namespace {

constexpr int model_version = 1;

// By the name of the model.
std::map<std::string, TensorModelMaker>& aten_makers() {
  static std::map<std::string, TensorModelMaker> makers;
  return makers;
}

fs::path model_folder(const fs::path& path) {
  std::error_code ignored;
  for (const fs::path& folder : {path, path / "model"})
    if (fs::is_regular_file(folder / "config.json", ignored)) return folder;
  if (!fs::exists(path, ignored)) input_error("{}: there is no such model or run", path.string());
  input_error("{}: neither a model nor a run (no config.json in it or in its model/)", path.string());
}

Task task_from_json(const nlohmann::json& config) {
  Task task;
  const auto kind = config.at("labels").get<std::string>();
  const bool guesses = kind == "none" && config.at("model") == "bert";
  if (!guesses && kind != "single" && kind != "multiple")
    throw std::runtime_error(fmt::format("labels are '{}'", kind));
  task.labels = guesses ? LabelKind::none : kind == "single" ? LabelKind::single : LabelKind::multiple;
  config.at("classes").get_to(task.classes);
  if (task.classes.empty() != guesses || task.classes.size() > 65536)
    throw std::runtime_error("an impossible number of classes");
  task.tokenizer = tokenizer_from_json(config.at("tokenizer"));
  return task;
}

BertOptions loaded_bert_options(const nlohmann::json& config, const Task& task) {
  BertOptions options = bert_options_from_json(config);
  if (options.vocabulary < task.tokenizer.vocabulary_size)
    throw std::runtime_error(fmt::format("'vocab_size' is {}, but the tokenizer has {} pieces",
                                         options.vocabulary, task.tokenizer.vocabulary_size));
  return options;
}

void check_bert_weights(const BertOptions& options, const Task& task, const fs::path& config,
                        const SafetensorsReader& reader) {
  check_bert_shapes(options, config, [&](const std::string& name) {
    const StoredTensor* tensor = reader.find(name);
    return tensor == nullptr ? nullptr : &tensor->shape;
  });
  check_bert_file(options, task, reader.path());
}

}  // namespace

std::unique_ptr<TensorModel> make_tensor_model(const TrainOptions& options, const Task& task) {
  if (options.model == "ngram") return nullptr;
  if (options.kernels == "aten") {
    const auto maker = aten_makers().find(options.model);
    if (maker == aten_makers().end()) input_error("--kernels aten: this program was built without LibTorch");
    return maker->second(options, task);
  }
  if (options.model == "bert") return std::make_unique<BertModel>(options, task);
  PACELINE_ASSERT(options.model == "lstm");
  return std::make_unique<LstmModel>(options, task);
}

void set_aten_maker(const std::string& model, TensorModelMaker maker) { aten_makers()[model] = maker; }

std::unique_ptr<Model> make_model(const TrainOptions& options, const Task& task) {
  if (auto model = make_tensor_model(options, task)) return model;
  PACELINE_ASSERT(options.model == "ngram");
  return std::make_unique<NgramModel>(options, task);
}

void load_pieces(Task& task, const fs::path& folder) {
  task.pieces = std::make_shared<PieceKinds>(load_vocabulary(folder, task.tokenizer),
                                             folder / task.tokenizer.vocabulary);
}

void save_model(const Model& model, const Task& task, const fs::path& vocabulary, const fs::path& folder) {
  struct Staging {
    fs::path path;
    ~Staging() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } removal{folder.string() + ".partial"};
  const fs::path& staging = removal.path;
  fs::remove_all(staging);
  fs::create_directory(staging);
  nlohmann::ordered_json config = {{"format", "paceline-model"}, {"version", model_version}};
  config.update(model.config());
  config["labels"] = task.guesses_pieces()              ? "none"
                     : task.labels == LabelKind::single ? "single"
                                                        : "multiple";
  config["classes"] = task.classes;
  config["tokenizer"] = tokenizer_json(task.tokenizer);
  if (config.at("model") == "bert") {
    if (!task.guesses_pieces()) add_label_keys(task, config);
    write_tokenizer_files(task, config, staging);
  }
  write_file_atomically(staging / "vocab.txt", read_file(vocabulary));
  write_safetensors(staging / "model.safetensors", model.tensors(), {{"format", "pt"}});
  write_file_atomically(staging / "config.json", config.dump(2) + "\n");
  replace_folder(staging, folder);
}

LoadedModel load_model(const fs::path& path) {
  LoadedModel loaded;
  loaded.folder = model_folder(path);
  const fs::path file = loaded.folder / "config.json";
  const std::string text = read_file(file, 64 << 20);
  TrainOptions options;
  try {
    const auto config = parse_strict_json(text);
    if (config.value("format", "") != "paceline-model")
      throw std::runtime_error("it is not of a Paceline model");
    if (config.at("version") != model_version)
      throw std::runtime_error(fmt::format("it is of version {}, this program reads version {}",
                                           config.at("version").dump(), model_version));
    loaded.task = task_from_json(config);
    config.at("model").get_to(options.model);
    options.max_length = config.at("max_length").get<uint64_t>();
    if (options.model == "ngram")
      options.ngram = ngram_options_from_json(config);
    else if (options.model == "lstm")
      options.lstm = lstm_options_from_json(config);
    else if (options.model == "bert")
      options.bert = loaded_bert_options(config, loaded.task);
    else
      throw std::runtime_error(fmt::format("model '{}' is not known to this program", options.model));
  } catch (const std::exception& problem) {
    input_error("{}: {}", file.string(), problem.what());
  }
  if (options.model == "bert" && (options.max_length == 0 || options.max_length > options.bert.positions))
    options.max_length = options.bert.positions;
  loaded.task.max_length = options.max_length;
  if (loaded.task.guesses_pieces()) load_pieces(loaded.task, loaded.folder);
  // Memory is taken only after the weights' file was found to be large enough.
  const SafetensorsReader reader(loaded.folder / "model.safetensors");
  const fs::path weights = loaded.folder / "model.safetensors";
  if (options.model == "ngram")
    check_ngram_file(options.ngram, loaded.task, weights);
  else if (options.model == "bert")
    check_bert_weights(options.bert, loaded.task, file, reader);
  else
    check_lstm_file(options.lstm, loaded.task, weights);
  loaded.model = make_model(options, loaded.task);
  loaded.model->load(reader);
  return loaded;
}

}  // namespace paceline
