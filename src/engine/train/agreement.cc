#include "engine/train/agreement.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/hash.h"
#include "base/machine/cpu.h"
#include "engine/kernels/gemm.h"
#include "engine/pace/crew.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

// The program and the library that this is in.
std::string program_hash() {
  Dl_info info = {};
  std::string hash = file_checksum("/proc/self/exe");
  if (dladdr(reinterpret_cast<const void*>(&share_text), &info) != 0 && info.dli_fname != nullptr)
    hash += " " + file_checksum(info.dli_fname);
  return fmt::format("{} ({})", PACELINE_VERSION, to_hex(hash128(hash)).substr(0, 12));
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

// Names of machines need not be distinct, so it is that of this start of the system and of the namespace.
std::string network_stack() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code ignored;
  return boot + " " + fs::read_symlink("/proc/self/ns/net", ignored).string();
}

// What workers have to have in common: all but places, and what rank 0 alone acts on.
Json decisive(const TrainOptions& options) {
  Json config = config_json(options);
  for (const char* key : {"data", "out", "max-time", "save-every", "keep"}) config.erase(key);
  config.update({{"pace", options.pace},
                 {"pace-interval", options.pace_interval},
                 {"no-exchange", options.no_exchange}});
  return config;
}

std::string name_of(size_t worker, const std::string& host) {
  return fmt::format("worker {} on {}", worker, host);
}

std::string first_difference(const Json& a, const Json& b) {
  for (const auto& [key, value] : a.items())
    if (!b.contains(key) || b.at(key) != value)
      return fmt::format("--{} is {} there and {} here", key, b.contains(key) ? b.at(key).dump() : "absent",
                         value.dump());
  return "it has other options";
}

void compare(const std::vector<Json>& hellos) {
  const Json& first = hellos[0];
  for (size_t i = 1; i < hellos.size(); ++i) {
    const Json& other = hellos[i];
    const std::string name = name_of(i, other.at("host"));
    if (other.at("program") != first.at("program"))
      input_error("{} runs another program: {} there, {} here; install the same one", name,
                  other.at("program").get<std::string>(), first.at("program").get<std::string>());
    if (other.at("data") != first.at("data"))
      input_error("{} has another data set: fingerprint {} there, {} here; copy the data set to it", name,
                  other.at("data").get<std::string>(), first.at("data").get<std::string>());
    // After the data, since the number of steps follows from it.
    if (other.at("config") != first.at("config"))
      input_error("{} was started with another configuration: {}; give all workers the same", name,
                  first_difference(first.at("config"), other.at("config")));
  }
}

}  // namespace

void do_together(Exchange& exchange, const std::function<void()>& part) {
  if (exchange.size() == 1) return part();
  Json problem;
  try {
    part();
  } catch (const InputError& error) {
    problem = {{"input", true}, {"what", error.what()}, {"host", host_name()}};
  } catch (const std::exception& error) {
    problem = {{"input", false}, {"what", error.what()}, {"host", host_name()}};
  }
  const auto texts = gather_texts(
      exchange, problem.is_null() ? "" : problem.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (size_t worker = 0; worker < texts.size(); ++worker) {
    if (texts[worker].empty()) continue;
    const auto told = Json::parse(texts[worker], nullptr, false);
    std::string sentence = told.is_object() ? told.value("what", "") : "it failed";
    if (worker > 0 && told.is_object())
      sentence = fmt::format("{}: {}", name_of(worker, told.value("host", "")), sentence);
    if (exchange.rank() > 0) sentence.clear();
    if (told.is_object() && told.value("input", false)) throw InputError(sentence);
    throw WorkError(sentence);
  }
}

std::string share_text(Exchange& exchange, const std::string& text) {
  uint64_t size = text.size();
  exchange.broadcast(std::as_writable_bytes(std::span(&size, 1)));
  std::string shared = exchange.rank() == 0 ? text : std::string(size, '\0');
  exchange.broadcast(std::as_writable_bytes(std::span(shared)));
  return shared;
}

std::vector<WorkerFacts> exchange_facts(Exchange& exchange, const Run& run) {
  const Json mine = {{"host", host_name()},
                     {"network", network_stack()},
                     {"executors", run.executors->count()},
                     {"kernels", kernel_target()},
                     {"processor", read_cpu().model},
                     {"program", program_hash()},
                     {"config", decisive(run.options)},
                     {"data", run.data.fingerprint()}};
  std::vector<Json> hellos;
  for (const auto& text : gather_texts(exchange, mine.dump())) hellos.push_back(Json::parse(text));
  do_together(exchange, [&] {
    if (exchange.rank() == 0) compare(hellos);
  });
  std::vector<WorkerFacts> facts;
  for (const auto& hello : hellos)
    facts.push_back({hello.at("host"), hello.at("kernels"), hello.at("executors").get<unsigned>(), 0,
                     hello.at("network"), hello.at("processor")});
  return facts;
}

std::string remark_on_kernels(const std::vector<WorkerFacts>& workers, bool can_be_portable) {
  for (size_t i = 1; i < workers.size(); ++i) {
    if (workers[i].probe == workers[0].probe) continue;
    return fmt::format(
        "{} computes with {} and gets other bits than {} with {}: their weights drift apart, and the result "
        "depends on who computes what{}",
        name_of(i, workers[i].host), workers[i].kernels, name_of(0, workers[0].host), workers[0].kernels,
        !can_be_portable ? "" : "; --portable-bits makes them the same, at less speed");
  }
  return {};
}

}  // namespace paceline
