#include "cluster/launch/host_list.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"

namespace paceline {
namespace {

constexpr unsigned most_workers = 4096;

// Letters, digits, dots, dashes and underscores; user@host is ssh's to know (~/.ssh/config).
bool is_host_name(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= 253 && name.front() != '-' && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), allowed);
}

Host parse_host(const std::string& text) {
  const size_t colon = text.find(':');
  Host host{text.substr(0, colon), 1};
  if (!is_host_name(host.name))
    input_error(
        "--hosts: '{}' is no name of a host (letters, digits, dots, dashes); write HOST:WORKERS,... as in "
        "a:2,b:4",
        host.name);
  if (colon == std::string::npos) return host;
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, host.workers);
  if (error != std::errc() || stop != end || host.workers < 1 || host.workers > most_workers)
    input_error("--hosts: '{}': the number of workers has to be 1 to {}, as in {}:2", text, most_workers,
                host.name);
  return host;
}

std::string without_domain(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

std::vector<Host> parse_hosts(const std::vector<std::string>& texts) {
  std::vector<Host> hosts;
  for (const auto& text : texts) {
    if (text.empty() || text.back() == ',')
      input_error("--hosts: a host is missing in '{}'; write HOST:WORKERS,... as in a:2,b:4", text);
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
      Host host = parse_host(part);
      for (const auto& other : hosts)
        if (other.name == host.name)
          input_error("--hosts: {} is named twice; write it once, as {}:{}", host.name, host.name,
                      host.workers + other.workers);
      hosts.push_back(std::move(host));
    }
  }
  if (hosts.empty()) input_error("--hosts: no host is named; write HOST:WORKERS,... as in a:2,b:4");
  if (workers_of(hosts) > most_workers)
    input_error("--hosts: {} workers are more than {}", workers_of(hosts), most_workers);
  return hosts;
}

unsigned workers_of(const std::vector<Host>& hosts) {
  unsigned workers = 0;
  for (const auto& host : hosts) workers += host.workers;
  return workers;
}

bool is_this_machine(const std::string& host) {
  if (host == "localhost" || host == "127.0.0.1") return true;
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return false;
  return host == name || host == without_domain(name);
}

}  // namespace paceline
