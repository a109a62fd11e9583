#include "cluster/launch/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

namespace paceline {
namespace {

std::string ipv4_text(const sockaddr* address) {
  char text[INET_ADDRSTRLEN] = {};
  const auto& host = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  const bool is_link_local = (ntohl(host.s_addr) >> 16) == 0xA9FE;
  return is_link_local || !inet_ntop(AF_INET, &host, text, sizeof text) ? "" : text;
}

std::string ipv6_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  const auto& host = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  return IN6_IS_ADDR_LINKLOCAL(&host) || !inet_ntop(AF_INET6, &host, text, sizeof text) ? "" : text;
}

}  // namespace

std::vector<std::string> own_addresses() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> interfaces(found, freeifaddrs);
  std::vector<std::string> ipv4, ipv6;
  for (const ifaddrs* interface = found; interface != nullptr; interface = interface->ifa_next) {
    if (!interface->ifa_addr || !(interface->ifa_flags & IFF_UP) || (interface->ifa_flags & IFF_LOOPBACK))
      continue;
    if (interface->ifa_addr->sa_family == AF_INET) ipv4.push_back(ipv4_text(interface->ifa_addr));
    if (interface->ifa_addr->sa_family == AF_INET6) ipv6.push_back(ipv6_text(interface->ifa_addr));
  }
  ipv4.insert(ipv4.end(), ipv6.begin(), ipv6.end());
  std::erase(ipv4, "");
  return ipv4;
}

}  // namespace paceline
