#include "cluster/launch/mpirun_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>

namespace paceline {
namespace {

constexpr size_t longest_line = 64 * 1024;

bool is_rule(std::string_view line) {
  return line.size() >= 60 && std::all_of(line.begin(), line.end(), [](char c) { return c == '-'; });
}

// "[host:12345] ...": libraries of Open MPI, in mpirun or in a worker.
bool is_of_open_mpi(std::string_view line) {
  if (line.starts_with("*** ") || line.starts_with("mpirun: ")) return true;
  if (!line.starts_with('[')) return false;
  const size_t colon = line.find(':'), end = line.find(']');
  if (colon == std::string_view::npos || end == std::string_view::npos || colon > end) return false;
  const std::string_view number = line.substr(colon + 1, end - colon - 1);
  return !number.empty() &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Banners come wrapped at any place, so they are read as one line.
std::string unwrapped(std::string_view text) {
  std::string words;
  for (char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space)
      words += c;
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  while (words.ends_with(' ')) words.pop_back();
  return words;
}

std::optional<WorkerDeath> find_death(const std::string& banner) {
  static const std::regex by_signal(
      "process rank ([0-9]+) with PID [0-9]+ on node (\\S+) exited on signal ([0-9]+)(?: \\(([^)]*)\\))?");
  static const std::regex by_code("Process name: \\[\\[[0-9]+,[0-9]+\\],([0-9]+)\\] Exit code: ([0-9]+)");
  static const std::regex improperly(
      "process rank ([0-9]+) with PID [0-9]+ on node (\\S+) exiting improperly");
  static const std::regex host_lost(
      "lost communication with a remote daemon.*Remote daemon: \\S+ on node (\\S+)");
  const auto rank_of = [](const std::ssub_match& text) {
    return static_cast<unsigned>(std::stoul(text.str()));
  };
  std::smatch found;
  if (std::regex_search(banner, found, by_signal))
    return WorkerDeath{rank_of(found[1]), found[2], std::stoi(found[3]), found[4], -1};
  if (std::regex_search(banner, found, by_code))
    return WorkerDeath{rank_of(found[1]), "", 0, "", std::stoi(found[2])};
  if (std::regex_search(banner, found, improperly))
    return WorkerDeath{rank_of(found[1]), found[2], 0, "", -1};
  if (std::regex_search(banner, found, host_lost)) return WorkerDeath{std::nullopt, found[1], 0, "", -1};
  return std::nullopt;
}

}  // namespace

std::string WorkerDeath::sentence(bool name_host) const {
  if (!rank) return fmt::format("host {} was lost", host);
  std::string who = fmt::format("worker {}", *rank);
  if (name_host && !host.empty()) who += fmt::format(" on host {}", host);
  if (signal != 0)
    return fmt::format("{} was killed by signal {}{}", who, signal,
                       signal_name.empty() ? "" : fmt::format(" ({})", signal_name));
  if (code >= 0) return fmt::format("{} ended with exit code {}", who, code);
  return fmt::format("{} ended before its work was done", who);
}

void MpirunOutput::take(std::string_view bytes) {
  rest_ += bytes;
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
    take_line(std::string_view(rest_).substr(begin, end - begin));
  rest_.erase(0, begin);
  if (rest_.size() > longest_line) take_line(std::exchange(rest_, {}));
}

void MpirunOutput::finish() {
  if (!rest_.empty()) take_line(std::exchange(rest_, {}));
  if (in_banner_) close_banner();
}

void MpirunOutput::take_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string_view before;
  if (std::optional<WorkerMessage> message = parse_message(line, before)) {
    if (!before.empty()) show(before);
    take_message(std::move(*message));
  } else if (line.starts_with("paceline: ")) {
    // What every worker says is said once.
    if (sentences_.emplace(line).second) show(line);
  } else if (is_rule(line)) {
    in_banner_ ? close_banner() : void(in_banner_ = true);
  } else if (in_banner_) {
    if (banner_.size() < longest_line) banner_.append(line).append("\n");
  } else if (is_of_open_mpi(line)) {
    complain(line);
  } else if (!line.empty()) {
    show(line);
  }
}

void MpirunOutput::take_message(WorkerMessage message) {
  if (message.kind == WorkerMessage::Kind::begun)
    begun_();
  else
    last_words_.push_back(std::move(message));
}

void MpirunOutput::show(std::string_view line) { shown_(line); }

void MpirunOutput::close_banner() {
  in_banner_ = false;
  const std::string banner = unwrapped(std::exchange(banner_, {}));
  if (std::optional<WorkerDeath> death = find_death(banner)) {
    if (!death_) death_ = std::move(death);
  } else if (!banner.starts_with("Primary job")) {
    complain(banner);
  }
}

void MpirunOutput::complain(std::string_view words) {
  if (complaint_.empty()) complaint_ = words;
}

}  // namespace paceline
