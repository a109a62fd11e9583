// TCP as the counter uses it: no delay, no SIGPIPE, closed with its owner, not inherited by children.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace paceline {

using SteadyClock = std::chrono::steady_clock;

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Socket() { close(); }
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// Not blocking; on all addresses of this host or on loopback. Throws InputError when the port cannot be had.
Socket listen_on(uint16_t port, bool everywhere);
uint16_t port_of(const Socket& socket);
// Not blocking. Not open when nobody is waiting; out_of_files when the limit of open files keeps it waiting.
Socket accept_from(const Socket& listening, bool& out_of_files);

// Blocking; tries all that the name stands for until the deadline. Not open: the reason is in problem.
Socket connect_to(const std::string& address, uint16_t port, SteadyClock::time_point deadline,
                  std::string& problem);
// From now on a blocking read or write that takes longer fails.
void set_timeout(const Socket& socket, double seconds);

// Blocking; false when the connection is gone or too slow.
bool send_all(const Socket& socket, std::span<const std::byte> bytes);
bool receive_all(const Socket& socket, std::span<std::byte> bytes);

// What is there, or room, now: bytes moved, 0 when none, negative when the connection is gone.
ptrdiff_t receive_some(const Socket& socket, std::span<std::byte> bytes);
ptrdiff_t send_some(const Socket& socket, std::span<const std::byte> bytes);

// Wakes a thread that sleeps in poll().
class Waker {
 public:
  Waker();
  int fd() const { return socket_.fd(); }
  void wake();
  void clear();

 private:
  Socket socket_;
};

// A thread that no signal is delivered to: those that ask the program to leave are for its main thread.
std::thread start_thread(std::function<void()> body);

double seconds_of(SteadyClock::time_point time);

}  // namespace paceline
