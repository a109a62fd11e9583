#include "engine/pace/crew.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cluster/launch/addresses.h"

namespace paceline {
namespace {

constexpr size_t most_executors = 4096;

double seconds_of(Exchange::Clock::time_point moment) {
  return std::chrono::duration<double>(moment.time_since_epoch()).count();
}

// A worker alone has all grains, whatever the policy.
PaceOptions policy_for(const Exchange& exchange, PaceOptions options) {
  if (exchange.size() == 1) options.policy = "even";
  return options;
}

}  // namespace

// The counter's thread and executors of rank 0 ask, while another thread tells what a step was like. Whoever
// looks at the clock first may get here last.
class Crew::Asked final : public GrainSource {
 public:
  explicit Asked(Crew& crew) : crew_(crew) {}
  Deal next(const Claim& claim, double now) override {
    std::lock_guard lock(crew_.mutex_);
    now_ = std::max(now_, now);
    return crew_.pace_->next(claim, now_);
  }
  uint32_t left(const Work& work, uint32_t worker) override {
    std::lock_guard lock(crew_.mutex_);
    return crew_.pace_->left(work, worker);
  }

 private:
  Crew& crew_;
  double now_ = 0;
};

Crew::Crew(Exchange& exchange, const CrewOptions& options)
    : exchange_(exchange),
      pace_(make_pace(policy_for(exchange, options.pace))),
      asked_(std::make_unique<Asked>(*this)),
      left_(most_executors) {
  for (unsigned count : options.pace.executors) all_executors_ += count;
  if (is_alone()) return;
  open_counter(options);
  clock_offset_ = client_->clock_offset();
}

Crew::~Crew() = default;

// Where rank 0 can be asked, or why it cannot, told to all.
void Crew::open_counter(const CrewOptions& options) {
  nlohmann::json place;
  if (rank() == 0) {
    CounterServer::Options server;
    server.port = options.port;
    server.workers = size();
    server.token = random_token();
    server.everywhere = !options.on_one_network_stack;
    try {
      server_ = std::make_unique<CounterServer>(
          server, *asked_, [this](unsigned, const std::string& sentence) { lose(sentence); });
      place = {{"port", server_->port()}, {"token", server.token}};
      place["addresses"] = server.everywhere ? own_addresses() : std::vector<std::string>{"127.0.0.1"};
    } catch (const InputError& problem) {
      place = {{"problem", problem.what()}};
    }
  }
  place = nlohmann::json::parse(gather_texts(exchange_, rank() == 0 ? place.dump() : "")[0]);
  if (place.contains("problem")) throw InputError(place.at("problem").get<std::string>());
  CounterClient::Options client;
  client.addresses = rank() == 0 ? std::vector<std::string>{"127.0.0.1"}
                                 : place.at("addresses").get<std::vector<std::string>>();
  client.port = place.at("port");
  client.token = place.at("token");
  client.worker = rank();
  client.host = options.hosts[rank()];
  client_ = std::make_unique<CounterClient>(client, [this](const std::string& sentence) { lose(sentence); });
}

void Crew::lose(const std::string& sentence) { exchange_.give_up(sentence); }

// Whoever has the counter in its own process asks it there: that spares two threads a wake-up each.
bool Crew::asks_elsewhere() const { return pace_->is_shared() && rank() != 0; }

Deal Crew::next(const Claim& claim) {
  return asks_elsewhere() ? client_->next(claim) : asked_->next(claim, seconds_of(Clock::now()));
}

void Crew::run(const Work& work, uint32_t at_once, Executors& executors, const Task& task,
               const std::function<void(unsigned executor)>& done) {
  PACELINE_ASSERT(executors.count() <= most_executors);
  at_once_ = at_once;
  // One task an executor, but the crew of threads may give two of them to the same thread: the number of the
  // task is the executor.
  executors.run(executors.count(), [&](uint64_t executor, unsigned) {
    Claim claim{work, rank(), static_cast<uint32_t>(executor), 0, at_once};
    for (;;) {
      const Deal deal = next(claim);
      left_[executor] = deal.left;
      if (deal.count == 0) break;
      const auto begin = Clock::now();
      task(deal.first, deal.count, static_cast<unsigned>(executor));
      claim.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    done(static_cast<unsigned>(executor));
  });
}

bool Crew::has_more(const Work& work, unsigned executor) {
  // While many are left nobody can have taken them all since: that saves a question.
  if (left_[executor] > uint64_t{2} * at_once_ * all_executors_) return true;
  if (left_[executor] > 0)
    left_[executor] = asks_elsewhere() ? client_->left(work) : asked_->left(work, rank());
  return left_[executor] > 0;
}

void Crew::add(const Work& work, uint64_t epoch, std::span<const WorkerStep> workers) {
  client_->follow_clock();
  clock_offset_ = client_->clock_offset();
  std::lock_guard lock(mutex_);
  pace_->add(work, epoch, workers);
}

double Crew::time_of(Clock::time_point moment) const { return seconds_of(moment) + clock_offset_; }

void Crew::sum(std::span<int32_t> values) { exchange_.wait(exchange_.start_sum(values)); }

bool Crew::ask_first(bool value) {
  int32_t answer = rank() == 0 && value;
  sum({&answer, 1});
  return answer != 0;
}

void Crew::close() {
  client_.reset();
  ask_first(true);  // the others have said goodbye too, so the counter may go
  server_.reset();
}

void Crew::fail(const std::string& sentence) {
  if (client_) client_->fail(sentence);
  if (!is_alone()) exchange_.give_up(sentence);  // what it writes to is about to go
}

std::vector<std::string> gather_texts(Exchange& exchange, const std::string& text) {
  std::vector<int32_t> sizes(exchange.size(), 0);
  sizes[exchange.rank()] = static_cast<int32_t>(text.size());
  exchange.wait(exchange.start_sum(sizes));
  const auto longest = static_cast<size_t>(*std::ranges::max_element(sizes));
  const size_t words = longest / sizeof(int32_t) + 1;
  std::vector<int32_t> all(exchange.size() * words, 0);
  std::memcpy(all.data() + exchange.rank() * words, text.data(), text.size());
  exchange.wait(exchange.start_sum(all));
  std::vector<std::string> texts;
  for (unsigned worker = 0; worker < exchange.size(); ++worker)
    texts.emplace_back(reinterpret_cast<const char*>(all.data() + worker * words),
                       static_cast<size_t>(sizes[worker]));
  return texts;
}

}  // namespace paceline
