// The worker's end of a connection to the counter: how it is let in, and frames one by one.
#pragma once
#include <optional>
#include <string>

#include "cluster/launch/counter_protocol.h"
#include "cluster/launch/sockets.h"

namespace paceline {

constexpr double seconds_per_try = 3;
extern const std::string not_let_in;

// Both block; false and none when the connection is gone, too slow, or says what makes no sense.
bool send_frame(const Socket& socket, const Frame& frame);
std::optional<Frame> receive_frame(const Socket& socket);

// Not open when the server cannot be reached, or closed the connection without a word (problem is not_let_in
// then). Throws WorkError when it knows the token and says why it has no place for this worker.
Socket enter_counter(const CounterClient::Options& options, const std::string& address, CounterRole role,
                     SteadyClock::time_point deadline, std::string& problem);

}  // namespace paceline
