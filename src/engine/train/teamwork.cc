#include "engine/train/teamwork.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "base/error.h"
#include "engine/train/outbox.h"

namespace paceline {
namespace {

// A double in two of the numbers that are summed: all other workers have 0 there.
void put(double value, int32_t* words) {
  const auto bits = std::bit_cast<uint64_t>(value);
  words[0] = static_cast<int32_t>(static_cast<uint32_t>(bits));
  words[1] = static_cast<int32_t>(static_cast<uint32_t>(bits >> 32));
}
double get(const int32_t* words) {
  return std::bit_cast<double>(static_cast<uint64_t>(static_cast<uint32_t>(words[1])) << 32 |
                               static_cast<uint32_t>(words[0]));
}

constexpr double tick = 1e-6;  // seconds
double seconds_of(int32_t ticks) { return static_cast<uint32_t>(ticks) * tick; }

constexpr size_t grain_words = 8;                  // loss, weight, begin, end, who, right
constexpr size_t worker_words = 2 * (phases + 1);  // parts of a step, and what was hidden

void put_seconds(const StepSeconds& seconds, int32_t* words) {
  for (size_t i = 0; i < phases; ++i) put(seconds.parts[i], words + 2 * i);
  put(seconds.exchange_hidden, words + 2 * phases);
}
std::vector<StepSeconds> get_seconds(const int32_t* words, unsigned workers) {
  std::vector<StepSeconds> all(workers);
  for (auto& seconds : all) {
    for (size_t i = 0; i < phases; ++i) seconds.parts[i] = get(words + 2 * i);
    seconds.exchange_hidden = get(words + 2 * phases);
    words += worker_words;
  }
  return all;
}

// How much of [begin, end) x buckets lies before `until`, where they overlap counted once. Buckets arrive
// in about the order in which they left.
double hidden_seconds(const std::vector<double>& begin, const std::vector<double>& end, double until) {
  double sum = 0, covered = -1e300;
  for (size_t i = 0; i < end.size(); ++i) {
    const double from = std::max(begin[i], covered), to = std::min(end[i], until);
    if (to > from) sum += to - from;
    covered = std::max(covered, to);
  }
  return sum;
}

}  // namespace

struct Teamwork::Numbers {
  enum Largest { finished, signal, out_of_time, first_bucket };
  std::vector<int32_t> sums;      // grains x grain_words, workers x worker_words
  std::vector<uint32_t> largest;  // the above, when each bucket was handed over, the learner's maxima
  double finished_here = 0;       // by the common clock
};

Teamwork::Teamwork(Crew& crew, Learner& learner, Executors& executors, const Joining& joining, bool exchange,
                   double speed)
    : crew_(crew),
      learner_(learner),
      executors_(executors),
      joining_(joining),
      outbox_(crew.is_alone() ? nullptr
                              : std::make_unique<Outbox>(crew, learner, executors.count(), exchange)),
      speed_(speed) {
  // The same moment everywhere, from which times of the first step count.
  std::vector<int32_t> words(2, 0);
  if (crew.rank() == 0) put(crew.now(), words.data());
  crew_.sum(words);
  reference_ = get(words.data());
}

Teamwork::~Teamwork() = default;

uint32_t Teamwork::ticks(double time) const {
  return static_cast<uint32_t>(std::clamp((time - reference_) / tick, 1.0, 4294967295.0));
}

void Teamwork::compute_grains(const Batch& batch, const Work& work, Numbers& numbers) {
  const auto task = [&](uint64_t first, uint64_t count, unsigned executor) {
    const double begin = crew_.now();
    const std::vector<GrainLoss> losses = learner_.compute_grains(batch, first, count, executor);
    if (speed_ < 1)
      std::this_thread::sleep_for(std::chrono::duration<double>((crew_.now() - begin) * (1 / speed_ - 1)));
    note(batch, first, losses, begin, executor, numbers);
  };
  if (outbox_) outbox_->begin(batch, work);
  crew_.run(work, joining_.grains_at_once(batch), executors_, task, [&](unsigned executor) {
    if (outbox_) outbox_->done(executor);
  });
}

// Grains that were computed at once share the time from `begin` until now by their tokens.
void Teamwork::note(const Batch& batch, uint64_t first, std::span<const GrainLoss> losses, double begin,
                    unsigned executor, Numbers& numbers) const {
  uint64_t tokens = 0, so_far = 0;
  for (size_t i = 0; i < losses.size(); ++i) tokens += batch.tokens_of(first + i);
  const double seconds_per_token = (crew_.now() - begin) / static_cast<double>(std::max<uint64_t>(1, tokens));
  const auto moment = [&] { return ticks(begin + seconds_per_token * static_cast<double>(so_far)); };
  for (size_t i = 0; i < losses.size(); ++i) {
    int32_t* words = numbers.sums.data() + (first + i) * grain_words;
    put(losses[i].loss, words);
    put(losses[i].weight, words + 2);
    words[4] = static_cast<int32_t>(moment());
    so_far += batch.tokens_of(first + i);
    words[5] = static_cast<int32_t>(moment());
    words[6] = static_cast<int32_t>(crew_.rank() << 16 | executor);
    words[7] = static_cast<int32_t>(losses[i].right);
  }
}

// The buckets are on their way; the rest follows, and then everything is waited for.
void Teamwork::exchange(Numbers& numbers, StepMeter& meter) {
  const auto& handed_over = outbox_->handed_over();
  for (size_t b = 0; b < handed_over.size(); ++b)
    numbers.largest[Numbers::first_bucket + b] = ticks(handed_over[b]);
  Exchange& exchange = crew_.exchange();
  const uint64_t sums = exchange.start_sum(numbers.sums);
  const uint64_t largest = exchange.start_max(numbers.largest);
  const std::vector<double> arrived = outbox_->wait();
  exchange.wait(sums);
  exchange.wait(largest);
  meter.lap(Phase::exchange);

  const double all_finished = reference_ + numbers.largest[Numbers::finished] * tick;
  meter.move(std::clamp(all_finished - numbers.finished_here, 0.0, meter.seconds(Phase::exchange)),
             Phase::exchange, Phase::wait);
  std::vector<double> began;
  for (size_t b = 0; b < arrived.size(); ++b)
    began.push_back(reference_ + numbers.largest[Numbers::first_bucket + b] * tick);
  meter.hide(hidden_seconds(began, arrived, all_finished));
}

StepTogether Teamwork::compute(const Batch& batch, uint32_t attempt, const std::function<bool()>& out_of_time,
                               StepMeter& meter) {
  const Work work{batch.step, attempt, static_cast<uint32_t>(batch.grains()), batch.tokens};
  Numbers numbers;
  const size_t worker_begin = batch.grains() * grain_words;
  numbers.sums.assign(worker_begin + crew_.size() * worker_words, 0);
  learner_.begin_step(batch, executors_.count());
  compute_grains(batch, work, numbers);
  meter.lap(Phase::compute);
  numbers.finished_here = crew_.now();

  const std::span<uint32_t> maxima = learner_.maxima();
  if (!crew_.is_alone()) {
    const size_t own = Numbers::first_bucket + learner_.buckets();
    numbers.largest.assign(own + maxima.size(), 0);
    numbers.largest[Numbers::finished] = ticks(numbers.finished_here);
    numbers.largest[Numbers::signal] = static_cast<uint32_t>(noted_interrupt());
    numbers.largest[Numbers::out_of_time] = crew_.rank() == 0 && out_of_time();
    std::ranges::copy(maxima, numbers.largest.begin() + static_cast<ptrdiff_t>(own));
    put_seconds(last_, numbers.sums.data() + worker_begin + crew_.rank() * worker_words);
    exchange(numbers, meter);
    std::copy(numbers.largest.begin() + static_cast<ptrdiff_t>(own), numbers.largest.end(), maxima.begin());
  }
  StepTogether together = read(batch, numbers);
  if (!crew_.is_alone()) {
    crew_.add(work, batch.epoch, together.workers);
    reference_ += numbers.largest[Numbers::finished] * tick;
  } else {
    reference_ = numbers.finished_here;
  }
  return together;
}

// What the policies go by of the step before.
void Teamwork::note_parts_before(StepTogether& out) const {
  const auto waited = [&](size_t worker) { return out.before[worker][Phase::wait]; };
  size_t last = 0;
  for (size_t w = 0; w < out.workers.size(); ++w) {
    out.workers[w].own = out.before[w][Phase::data] + out.before[w][Phase::update];
    out.workers[w].exchange = out.before[w][Phase::exchange] / last_attempts_;
    if (waited(w) < waited(last)) last = w;
  }
  out.workers[last].was_last = true;
}

StepTogether Teamwork::read(const Batch& batch, const Numbers& numbers) const {
  StepTogether out;
  out.workers.resize(crew_.size());
  std::vector<double> first(crew_.size(), 1e300), last(crew_.size(), 0);
  for (uint64_t g = 0; g < batch.grains(); ++g) {  // in this order, so that the sums have the same bits
    const int32_t* words = numbers.sums.data() + g * grain_words;
    out.total.loss += get(words);
    out.total.weight += get(words + 2);
    out.total.right += words[7];
    const auto who = static_cast<uint32_t>(words[6]);
    const GrainTrace trace{who >> 16, who & 0xFFFF, seconds_of(words[4]), seconds_of(words[5])};
    WorkerStep& worker = out.workers.at(trace.worker);
    ++worker.grains;
    worker.tokens += batch.tokens_of(g);
    first[trace.worker] = std::min(first[trace.worker], trace.begin);
    last[trace.worker] = std::max(last[trace.worker], trace.end);
    out.grains.push_back(trace);
  }
  for (size_t w = 0; w < out.workers.size(); ++w)
    if (out.workers[w].grains > 0) out.workers[w].seconds = last[w] - first[w];
  if (crew_.is_alone()) return out;
  out.before = get_seconds(numbers.sums.data() + batch.grains() * grain_words, crew_.size());
  note_parts_before(out);
  out.signal = static_cast<int>(numbers.largest[Numbers::signal]);
  out.out_of_time = numbers.largest[Numbers::out_of_time] != 0;
  return out;
}

std::vector<StepSeconds> Teamwork::exchange_seconds() {
  std::vector<int32_t> words(crew_.size() * worker_words, 0);
  put_seconds(last_, words.data() + crew_.rank() * worker_words);
  crew_.sum(words);
  return get_seconds(words.data(), crew_.size());
}

}  // namespace paceline
