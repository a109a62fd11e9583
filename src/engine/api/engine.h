// What the engine library offers. paceline itself links no LibTorch: commands that need tensors open
// libpaceline_engine.so and get this interface.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/progress.h"
#include "cluster/exchange/exchange.h"
#include "data/dataset/info.h"
#include "engine/api/options.h"
#include "engine/score/extremes.h"
#include "engine/score/scores.h"

namespace paceline {

struct TrainResult {
  uint64_t steps = 0, samples = 0, tokens = 0;  // of the whole run
  double seconds = 0, last_loss = 0;            // of this process
  std::string metric;                           // that chose the model
  std::optional<double> best_score;             // of it, on the split valid
  uint64_t best_step = 0;
  std::optional<uint64_t> resumed_from;
  bool was_complete = false;  // nothing was left to do
  std::string stopped;        // why it ended before its last step; empty: it did not
  std::string model_hash;
};

struct EvaluateOptions {
  fs::path model, data;
  std::string split = "test";
  std::string checkpoint;  // of the run `model`: a step, "last" or "best"; empty: the model that it kept
  unsigned executors = 0;  // 0: all usable cores
  uint64_t top = 0;        // samples with the highest and lowest score, and most wrongly scored
  std::string of;          // the class whose scores those are; empty: the second of two, else the first
};

struct EvaluateResult {
  Scores scores;
  std::optional<uint64_t> step;  // of the checkpoint
  std::optional<Extremes> extremes;
  uint64_t unknown_labels = 0;
  double seconds = 0;
};

// A text, or the two of a pair. The memory is someone else's.
struct Question {
  std::string_view text;
  std::optional<std::string_view> second = std::nullopt;
};

// What a model puts in the place of a [MASK].
struct FilledMask {
  struct Guess {
    std::string piece;
    float probability;
  };
  uint32_t position;           // among the ids
  std::vector<Guess> guesses;  // the likeliest first
};

struct Prediction {
  std::vector<std::string> tokens;
  std::vector<uint32_t> ids;
  uint32_t second_begin = 0;  // where the second text of a pair begins; 0: there is none
  std::vector<float> logits, probabilities;
  std::vector<uint32_t> labels;   // the classes predicted: one, or any number when multi-label
  std::vector<FilledMask> masks;  // of a model that guesses masked pieces, which has nothing of the above
};

// A model opened for use. For one thread.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual const std::vector<std::string>& classes() const = 0;
  virtual bool multi_label() const = 0;
  virtual bool fills_masks() const = 0;  // instead of naming classes
  // In the order of the questions, computed on all usable cores. Throws InputError for a pair where the
  // model's tokenizer knows none.
  virtual std::vector<Prediction> predict(std::span<const Question> questions) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string libtorch_version() const = 0;
  // Speed of a float32 matrix product, in Gflop/s.
  virtual double measure_gemm_gflops(unsigned threads) = 0;
  // Whether products of bfloat16 are right here. For a child process: where a processor promises more than it
  // has, it dies of this.
  virtual bool bfloat16_is_right() = 0;
  // One worker's part of a training; every worker of the exchange calls it with the same options.
  virtual TrainResult train(const TrainOptions& options, Exchange& exchange, Progress& progress) = 0;
  virtual EvaluateResult evaluate(const EvaluateOptions& options, Progress& progress) = 0;
  virtual std::unique_ptr<Predictor> open_predictor(const fs::path& model) = 0;
};

// The one symbol of libpaceline_engine.so.
extern "C" Engine* paceline_open_engine();

}  // namespace paceline
