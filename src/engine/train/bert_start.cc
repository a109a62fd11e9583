#include "engine/train/bert_start.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "data/text/vocabulary.h"
#include "engine/model/bert.h"
#include "engine/model/bert_shapes.h"
#include "engine/model/pretrained.h"
#include "engine/optim/learner.h"

namespace paceline {
namespace {

// A model's config.json has them, but they change how it learns, not what it is: given beside --init they
// win.
constexpr std::string_view of_learning[] = {"hidden-dropout", "attention-dropout", "classifier-dropout",
                                            "deviation"};

PretrainedWeights open_init(const TrainOptions& options) {
  const fs::path folder = options.bert.init, of_run = folder / "model";
  std::error_code ignored;
  if (!fs::exists(folder, ignored))
    input_error("--init {}: there is no such folder; paceline fetch-model brings a pretrained model",
                folder.string());
  const bool is_run =
      !fs::exists(folder / "config.json", ignored) && fs::exists(of_run / "config.json", ignored);
  return PretrainedWeights(is_run ? of_run : folder);
}

// The model's shape and dropout, under what the user gave.
void take_shape(TrainOptions& options, const PretrainedWeights& weights) {
  TrainOptions theirs = options;
  BertOptions &ours = options.bert, &bert = theirs.bert;
  bert = pretrained_bert_options(weights);
  check_bert_shapes(bert, weights.folder() / "config.json", [&](const std::string& name) {
    return weights.has(name) ? &weights.shape(name) : nullptr;
  });
  bert.init = ours.init;
  bert.freeze = ours.freeze;
  bert.layer_decay = ours.layer_decay;
  bert.recompute = ours.recompute;
  bert.whole_words = ours.whole_words;
  bert.piece_dropout = ours.piece_dropout;
  bert.given = ours.given;
  FieldTable before, after;
  declare_train_fields(before, options);
  declare_train_fields(after, theirs);
  for (const std::string& name : ours.given) {
    const std::string value = before.find(name)->value_text(), found = after.find(name)->value_text();
    if (std::ranges::find(of_learning, name) != std::end(of_learning))
      after.find(name)->assign(value, "--" + name);
    else if (value != found)
      input_error("--{} {}: the model {} that --init names has {}; leave it out", name, value, ours.init,
                  found);
  }
  ours = bert;
}

void check_words(const TrainOptions& options, const PretrainedWeights& weights, const DatasetInfo& data) {
  check_pretrained_vocabulary(weights);
  const Vocabulary words = Vocabulary::load_pieces(weights.folder() / "vocab.txt");
  if ("xxh3:" + to_hex(words.hash()) != data.tokenizer.vocabulary_hash)
    input_error(
        "{}: was prepared with another vocabulary than that of {}; prepare it with --tokenizer wordpiece "
        "--tokenizer-from {}",
        options.data, options.bert.init, options.bert.init);
}

// Our head shares the embedding of words.
void check_tied(const TrainOptions& options, const PretrainedWeights& weights) {
  const auto tied = weights.config().find("tie_word_embeddings");
  if (tied != weights.config().end() && tied->is_boolean() && !tied->get<bool>())
    input_error(
        "{}: its config.json says 'tie_word_embeddings' false, but masked words are guessed by the embedding "
        "of words; name a model that shares them",
        options.bert.init);
}

// Of a data set without labels, whose masked words are guessed.
void check_masked(const TrainOptions& options, const DatasetInfo& data) {
  if (options.loss != "cross-entropy")
    input_error("--loss {}: {} has no labels, and masked words are learnt by cross-entropy; leave it out",
                options.loss, options.data);
  if (options.class_weights != "none")
    input_error("--class-weights {}: {} has no labels; leave it out", options.class_weights, options.data);
  if (options.bert.piece_dropout > 0)
    input_error(
        "--piece-dropout {}: {} has no labels, and 15 % of its pieces are masked anyway; leave it out",
        options.bert.piece_dropout, options.data);
  if (data.packed && options.max_length < data.tokenizer.max_length)
    input_error(
        "{}: its rows are packed to {} ids, and {} would be used; prepare it with --max-length {}, or give "
        "a larger --max-length and --positions",
        options.data, data.tokenizer.max_length, options.max_length, options.max_length);
}

void check_shape(const BertOptions& bert, const DatasetInfo& data) {
  if (bert.hidden % bert.heads != 0)
    input_error("--bert-hidden {} is not a multiple of --heads {}", bert.hidden, bert.heads);
  if (bert.freeze > bert.layers)
    input_error("--freeze {}: the model has {} layers", bert.freeze, bert.layers);
  if (bert.vocabulary < data.tokenizer.vocabulary_size)
    input_error("--bert-vocabulary {}: the data set has {} pieces", bert.vocabulary,
                data.tokenizer.vocabulary_size);
}

}  // namespace

void resolve_bert(TrainOptions& options, const DatasetInfo& data) {
  if (!data.tokenizer.is_wordpiece())
    input_error(
        "{}: its texts are cut into words, and --model bert reads pieces; prepare it with --tokenizer "
        "wordpiece",
        options.data);
  if (!options.bert.init.empty() && !options.resume) {
    const PretrainedWeights weights = open_init(options);
    take_shape(options, weights);
    check_words(options, weights, data);
    if (data.labels == LabelKind::none) check_tied(options, weights);
  }
  if (options.bert.vocabulary == 0) options.bert.vocabulary = data.tokenizer.vocabulary_size;
  check_shape(options.bert, data);
  if (options.max_length > options.bert.positions)
    input_error("--max-length {}: the model has {} positions", options.max_length, options.bert.positions);
  if (options.max_length == 0) options.max_length = options.bert.positions;
  if (data.labels == LabelKind::none) return check_masked(options, data);
  if (options.bert.whole_words)
    input_error("--whole-words: {} has labels, and words are masked only without; leave it out",
                options.data);
}

void start_from_init(Run& run) {
  auto& learner = dynamic_cast<TensorLearner&>(*run.learner);
  const PretrainedWeights weights = open_init(run.options);
  const auto parameters = dynamic_cast<BertModel&>(learner.trained()).all_parameters();
  std::string names;
  for (const NewTensor& fresh : load_pretrained(parameters, weights))
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", fresh.name, fresh.reason);
  learner.weights_changed();
  if (!names.empty())
    run.remarks.push_back(fmt::format("random at the start, not from {}: {}", run.options.bert.init, names));
}

nlohmann::ordered_json init_checksums(const TrainOptions& options) {
  const PretrainedWeights weights = open_init(options);
  nlohmann::ordered_json sums;
  for (const std::string& file : weights.files()) sums[file] = file_checksum(weights.folder() / file);
  return sums;
}

}  // namespace paceline
