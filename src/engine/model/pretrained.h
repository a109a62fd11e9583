// A model of a stranger's, in the layout of Hugging Face's folders: config.json, vocab.txt and the weights as
// model.safetensors or pytorch_model.bin, whole or in shards with an index. Nothing in it is believed
// unchecked, and nothing in it is run.
#pragma once
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/model/tensor_file.h"
#include "engine/model/tensor_model.h"

namespace paceline {

class PretrainedWeights {
 public:
  // Throws InputError: what is missing, damaged or contradictory, by file. Of the weights only headers are
  // read.
  explicit PretrainedWeights(const fs::path& folder);

  const fs::path& folder() const { return folder_; }
  // config.json, an object.
  const nlohmann::json& config() const { return config_; }
  // The names of the files that the weights are in.
  std::vector<std::string> files() const;
  // All tensors, by the names that they have in the files, sorted.
  std::vector<std::string> names() const;

  // Tensors by our names. Those of the files may lack the prefix "bert.", or have it, and may call a
  // LayerNorm's weight and bias gamma and beta.
  bool has(const std::string& name) const { return find(name).first != nullptr; }
  // Throws InputError when there is none.
  const std::vector<uint64_t>& shape(const std::string& name) const;
  // As float32. Throws InputError when it is missing, has another shape (both are named), is not of weights,
  // or has a value that is not finite.
  void read(const std::string& name, const std::vector<uint64_t>& shape, float* into) const;

 private:
  // The file, and the name there; nullptr when there is none.
  std::pair<const TensorFile*, std::string> find(const std::string& name) const;
  void open_weights();
  void open_file(const std::string& name);
  void open_shards(const std::string& index);

  fs::path folder_;
  nlohmann::json config_;
  std::vector<std::unique_ptr<TensorFile>> files_;
  std::map<std::string, const TensorFile*> places_;  // by the name in the file
};

// The options of a BERT from its config.json. Throws InputError: of another kind, or with numbers out of
// range.
BertOptions pretrained_bert_options(const PretrainedWeights& weights);

// A tensor that training starts anew, and why ("there is none").
struct NewTensor {
  std::string name, reason;
};

// Reads all parameters of a BERT from the weights. Those outside the embeddings and the encoder (heads) stay
// as they are where the weights have none, or one of another shape: these are returned. Throws InputError for
// the others. weights_changed() is the caller's.
std::vector<NewTensor> load_pretrained(std::span<const Parameter> parameters,
                                       const PretrainedWeights& weights);

// Throws InputError when vocab.txt has not as many lines as the embedding of words has rows; both are named.
void check_pretrained_vocabulary(const PretrainedWeights& weights);

}  // namespace paceline
