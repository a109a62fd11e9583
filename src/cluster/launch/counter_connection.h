// The server's end of one connection: bytes in, frames out, and back.
#pragma once
#include <optional>
#include <vector>

#include "cluster/launch/counter_protocol.h"
#include "cluster/launch/sockets.h"

namespace paceline {

// Never blocks and never holds more than a few frames; whoever breaks the protocol or does not read is
// closed.
class CounterConnection {
 public:
  explicit CounterConnection(Socket socket) : socket_(std::move(socket)), opened_(SteadyClock::now()) {}
  int fd() const { return socket_.fd(); }
  bool is_open() const { return socket_.is_open(); }
  void close() { socket_.close(); }
  bool has_to_send() const { return !out_.empty(); }
  SteadyClock::time_point opened() const { return opened_; }

  // Takes what has arrived. Frames that came before the other end closed can still be taken.
  void receive();
  std::optional<Frame> next_frame();
  // Sends now as much as there is room for, the rest by flush().
  void send(const Frame& frame);
  void flush();
  // The other end is gone and all that it said was taken.
  bool is_at_end() const { return at_end_; }

  // Who it is: none until it was let in.
  std::optional<unsigned> worker;
  CounterRole role = CounterRole::requests;

 private:
  Socket socket_;
  SteadyClock::time_point opened_;
  std::vector<std::byte> in_, out_;
  bool at_end_ = false;
};

}  // namespace paceline
