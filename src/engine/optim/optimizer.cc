#include "engine/optim/optimizer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/kernels/gradient_loops.h"

namespace paceline {
namespace {

constexpr uint64_t chunk = 1 << 14;  // values, a task of one executor

struct Range {
  size_t parameter;
  uint64_t first, count;  // values of a dense tensor, rows or touched rows of an embedding
};

}  // namespace

struct Optimizer::Numbers {
  AdamNumbers adam;
  SgdNumbers sgd;
};

Optimizer::Optimizer(const TrainOptions& options, const TensorModel& model)
    : options_(options),
      model_(model),
      adam_(options.optimizer != "sgd"),
      lazy_(options.embedding_update == "lazy"),
      first_(model.parameters().size()),
      second_(adam_ ? model.parameters().size() : 0),
      has_moments_(model.parameters().size()) {
  for (size_t i = 0; i < has_moments_.size(); ++i)
    if (model.parameters()[i].rows) has_moments_[i].assign(model.parameters()[i].shape[0], 0);
  for (auto* moments : {&first_, &second_})
    for (size_t i = 0; i < moments->size(); ++i) {
      const uint64_t size = model.parameters()[i].size();
      std::memset((*moments)[i].reserve(size), 0, size * sizeof(float));
    }
}

// A row that no text has touched so far: its moments are zero, so nothing but its decay is computed, which
// spares reading and writing them. The bits are those of update().
bool Optimizer::is_still_zero(const Numbers& numbers, size_t parameter, uint32_t row) const {
  return !has_moments_[parameter][row] && (adam_ ? numbers.adam.l2 : numbers.sgd.l2) == 0;
}

void Optimizer::update_rows(const Numbers& numbers, size_t parameter, const ExactSum& sum, uint64_t first,
                            uint64_t count) {
  const Parameter& p = model_.parameters()[parameter];
  const uint64_t width = p.shape[1];
  const std::vector<float> zeros(lazy_ ? 0 : width, 0.f);
  for (uint64_t i = first; i < first + count; ++i) {
    const uint32_t row = lazy_ ? sum.rows_of(parameter)[i] : static_cast<uint32_t>(i);
    const float* gradient = sum.row_gradient(parameter, row);
    if (gradient) has_moments_[parameter][row] = 1;
    if (is_still_zero(numbers, parameter, row)) {
      const float decay = p.decay && adam_ ? numbers.adam.decay * static_cast<float>(p.rate) : 0;
      if (decay != 0) shrink(decay, width, p.values + row * width);
    } else {
      update(numbers, parameter, gradient ? gradient : zeros.data(), row * width, width);
    }
  }
}

void Optimizer::update(const Numbers& numbers, size_t parameter, const float* gradient, uint64_t first,
                       uint64_t count) const {
  const Parameter& p = model_.parameters()[parameter];
  float* moment = const_cast<float*>(first_[parameter].data()) + first;
  if (!adam_) {
    SgdNumbers sgd = numbers.sgd;
    if (!p.decay) sgd.l2 = 0;
    sgd.rate *= static_cast<float>(p.rate);
    sgd_step(sgd, count, gradient, p.values + first, moment);
    return;
  }
  AdamNumbers adam = numbers.adam;
  if (!p.decay) adam.decay = adam.l2 = 0;
  adam.rate *= static_cast<float>(p.rate);
  adam.decay *= static_cast<float>(p.rate);
  adam_step(adam, count, gradient, p.values + first, moment,
            const_cast<float*>(second_[parameter].data()) + first);
}

void Optimizer::step(double learning_rate, double gradient_factor, const ExactSum& sum,
                     Executors& executors) {
  beta1_power_ *= options_.beta1;
  beta2_power_ *= options_.beta2;
  const auto f = [](double value) { return static_cast<float>(value); };
  const double decay = options_.weight_decay;
  const bool decoupled = options_.optimizer == "adamw";
  const Numbers numbers = {
      {f(learning_rate / (1 - beta1_power_)), f(options_.beta1), f(options_.beta2),
       f(1 / std::sqrt(1 - beta2_power_)), f(options_.epsilon), f(decoupled ? learning_rate * decay : 0),
       f(decoupled ? 0 : decay), f(gradient_factor)},
      {f(learning_rate), f(options_.momentum), f(decay), f(gradient_factor)}};

  std::vector<Range> tasks;
  const auto parameters = model_.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool rows = parameters[i].rows;
    const uint64_t all = !rows   ? parameters[i].size()
                         : lazy_ ? sum.rows_of(i).size()
                                 : parameters[i].shape[0];
    const uint64_t step = rows ? std::max<uint64_t>(1, chunk / parameters[i].shape[1]) : chunk;
    for (uint64_t first = 0; first < all; first += step)
      tasks.push_back({i, first, std::min(step, all - first)});
  }
  executors.run(tasks.size(), [&](uint64_t number, unsigned) {
    const Range& task = tasks[number];
    if (parameters[task.parameter].rows)
      update_rows(numbers, task.parameter, sum, task.first, task.count);
    else
      update(numbers, task.parameter, sum.gradient(task.parameter) + task.first, task.first, task.count);
  });
}

std::vector<TensorView> Optimizer::state() const {
  std::vector<TensorView> views;
  const auto add = [&](const char* prefix, const std::vector<AlignedFloats>& moments) {
    for (size_t i = 0; i < moments.size(); ++i) {
      const Parameter& p = model_.parameters()[i];
      const uint64_t width = p.shape.back();
      views.push_back({prefix + p.name, p.shape, moments[i].data(), p.size() / width, width, width});
    }
  };
  add("first.", first_);
  add("second.", second_);
  return views;
}

nlohmann::ordered_json Optimizer::state_numbers() const {
  return {{"beta1_power", beta1_power_}, {"beta2_power", beta2_power_}};
}

void Optimizer::load_numbers(const nlohmann::json& numbers) {
  beta1_power_ = numbers.at("beta1_power").get<double>();
  beta2_power_ = numbers.at("beta2_power").get<double>();
  find_moments();
}

void Optimizer::find_moments() {
  // What has been touched may be -0, which the next update turns into 0.
  const auto is_not_zero = [](float value) { return std::bit_cast<uint32_t>(value) != 0; };
  for (size_t i = 0; i < has_moments_.size(); ++i)
    for (size_t row = 0; row < has_moments_[i].size(); ++row) {
      has_moments_[i][row] = 0;
      const uint64_t width = model_.parameters()[i].shape[1];
      for (const auto* moments : {&first_, &second_}) {
        if (moments->empty()) continue;
        const float* values = (*moments)[i].data() + row * width;
        has_moments_[i][row] |= std::any_of(values, values + width, is_not_zero);
      }
    }
}

}  // namespace paceline
