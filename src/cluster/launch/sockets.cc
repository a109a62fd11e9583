#include "cluster/launch/sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/quick_thread.h"

namespace paceline {
namespace {

void set_option(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

// 0 or an errno.
int bind_and_listen(const Socket& socket, const sockaddr* address, socklen_t size) {
  set_option(socket.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(socket.fd(), address, size) != 0) return errno;
  return listen(socket.fd(), 128) == 0 ? 0 : errno;
}

int listen_ipv6(Socket& socket, uint16_t port, const in6_addr& host) {
  socket = Socket(::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return errno;
  set_option(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = host;
  return bind_and_listen(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

int listen_ipv4(Socket& socket, uint16_t port, in_addr_t host) {
  socket = Socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return errno;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(host);
  return bind_and_listen(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

int milliseconds_until(SteadyClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 600000));
}

Socket connect_one(const addrinfo& target, SteadyClock::time_point deadline, std::string& problem) {
  Socket result(socket(target.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int failure = 0;
  if (!result.is_open() || connect(result.fd(), target.ai_addr, target.ai_addrlen) != 0) failure = errno;
  if (failure == EINPROGRESS) {
    pollfd writable = {result.fd(), POLLOUT, 0};
    int ready = 0;
    while ((ready = poll(&writable, 1, milliseconds_until(deadline))) < 0 && errno == EINTR) continue;
    socklen_t size = sizeof failure;
    failure = ETIMEDOUT;
    if (ready > 0) getsockopt(result.fd(), SOL_SOCKET, SO_ERROR, &failure, &size);
  }
  if (failure != 0) {
    problem = std::strerror(failure);
    return {};
  }
  fcntl(result.fd(), F_SETFL, fcntl(result.fd(), F_GETFL) & ~O_NONBLOCK);
  set_option(result.fd(), IPPROTO_TCP, TCP_NODELAY, 1);
  return result;
}

ptrdiff_t moved(ptrdiff_t bytes) {
  if (bytes > 0) return bytes;
  return bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : -1;
}

}  // namespace

void Socket::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Socket listen_on(uint16_t port, bool everywhere) {
  Socket socket;
  int failure =
      everywhere ? listen_ipv6(socket, port, in6addr_any) : listen_ipv4(socket, port, INADDR_LOOPBACK);
  // A host without one of the two families.
  if (failure == EAFNOSUPPORT || failure == EADDRNOTAVAIL)
    failure =
        everywhere ? listen_ipv4(socket, port, INADDR_ANY) : listen_ipv6(socket, port, in6addr_loopback);
  if (failure == EADDRINUSE)
    input_error("--port {}: in use by another program; name another or leave --port out", port);
  if (failure == EACCES)
    input_error("--port {}: only root may use it; name one above 1023 or leave --port out", port);
  if (failure != 0) work_error("cannot listen on port {}: {}", port, std::strerror(failure));
  return socket;
}

uint16_t port_of(const Socket& socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Socket accept_from(const Socket& listening, bool& out_of_files) {
  Socket result(accept4(listening.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  out_of_files =
      !result.is_open() && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (result.is_open()) set_option(result.fd(), IPPROTO_TCP, TCP_NODELAY, 1);
  return result;
}

Socket connect_to(const std::string& address, uint16_t port, SteadyClock::time_point deadline,
                  std::string& problem) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (int failure = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
      failure != 0) {
    problem = gai_strerror(failure);
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> targets(found, freeaddrinfo);
  for (const addrinfo* target = found; target != nullptr; target = target->ai_next) {
    Socket socket = connect_one(*target, deadline, problem);
    if (socket.is_open()) return socket;
  }
  return {};
}

void set_timeout(const Socket& socket, double seconds) {
  timeval time = {};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(time.tv_sec)) * 1e6);
  setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

bool send_all(const Socket& socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  return true;
}

bool receive_all(const Socket& socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t received = recv(socket.fd(), bytes.data(), bytes.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(received));
  }
  return true;
}

ptrdiff_t receive_some(const Socket& socket, std::span<std::byte> bytes) {
  return moved(recv(socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT));
}

ptrdiff_t send_some(const Socket& socket, std::span<const std::byte> bytes) {
  return moved(send(socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

Waker::Waker() : socket_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!socket_.is_open()) work_error("no event descriptor: {}", std::strerror(errno));
}

void Waker::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(fd(), &one, sizeof one);
}

void Waker::clear() {
  uint64_t count = 0;
  [[maybe_unused]] ssize_t taken = read(fd(), &count, sizeof count);
}

std::thread start_thread(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread([body = std::move(body)] {
      wake_quickly();
      body();
    });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

double seconds_of(SteadyClock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace paceline
