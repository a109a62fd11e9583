// Under which addresses other hosts can reach this one.
#pragma once
#include <string>
#include <vector>

namespace paceline {

// Of all interfaces that are up, IPv4 first; without loopback, and without addresses that mean something on
// one link alone.
std::vector<std::string> own_addresses();

}  // namespace paceline
