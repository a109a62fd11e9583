// The machines named by --hosts.
#pragma once
#include <string>
#include <vector>

namespace paceline {

struct Host {
  std::string name;
  unsigned workers = 1;
};

// From "a:2,b:4" or its parts; "a" alone is one worker. Throws InputError for a malformed list, a host
// named twice, and names that a shell or ssh would take for something else.
std::vector<Host> parse_hosts(const std::vector<std::string>& texts);

unsigned workers_of(const std::vector<Host>& hosts);

// "localhost", an address of it, or this machine's own name, with or without its domain.
bool is_this_machine(const std::string& host);

}  // namespace paceline
