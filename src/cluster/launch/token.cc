#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "cluster/launch/counter_protocol.h"

namespace paceline {

bool is_same_token(const std::string& one, const std::string& other) {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (size_t i = 0; i < one.size() && i < other.size(); ++i)
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]));
  return difference == 0;
}

std::string random_token() {
  unsigned char bytes[16];
  size_t have = 0;
  while (have < sizeof bytes) {
    const ssize_t got = getrandom(bytes + have, sizeof bytes - have, 0);
    if (got < 0 && errno != EINTR) work_error("the system gives no random numbers: {}", std::strerror(errno));
    if (got > 0) have += static_cast<size_t>(got);
  }
  std::string token;
  for (unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace paceline
