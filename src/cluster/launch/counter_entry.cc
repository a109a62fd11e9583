#include "cluster/launch/counter_entry.h"

#include "base/error.h"

namespace paceline {

const std::string not_let_in = "did not let it in: another token, or another program";

bool send_frame(const Socket& socket, const Frame& frame) { return send_all(socket, encode(frame)); }

std::optional<Frame> receive_frame(const Socket& socket) {
  std::vector<std::byte> bytes(4);
  if (!receive_all(socket, bytes)) return {};
  const size_t size = frame_size(bytes);
  if (size == 0) return {};
  bytes.resize(size);
  if (!receive_all(socket, std::span(bytes).subspan(4))) return {};
  return decode(bytes);
}

Socket enter_counter(const CounterClient::Options& options, const std::string& address, CounterRole role,
                     SteadyClock::time_point deadline, std::string& problem) {
  Socket socket = connect_to(address, options.port, deadline, problem);
  if (!socket.is_open()) return {};
  set_timeout(socket, seconds_per_try);
  Frame hello = frame_of(FrameKind::hello);
  hello.hello.worker = options.worker;
  hello.hello.role = role;
  hello.hello.token = options.token;
  hello.hello.host = options.host;
  std::optional<Frame> welcome;
  if (send_frame(socket, hello)) welcome = receive_frame(socket);
  if (!welcome || welcome->kind != FrameKind::welcome) {
    problem = not_let_in;
    return {};
  }
  if (welcome->admission == Admission::other_version)
    work_error("worker {} and worker 0 at {} are different versions of the program; use the same",
               options.worker, address);
  if (welcome->admission == Admission::no_such_worker)
    work_error("worker 0 at {} has no place for worker {}; start as many workers as it expects", address,
               options.worker);
  if (welcome->admission != Admission::granted)
    work_error("worker {} is connected to worker 0 at {} already; give every worker a number of its own",
               options.worker, address);
  set_timeout(socket, options.silence_seconds);
  return socket;
}

}  // namespace paceline
