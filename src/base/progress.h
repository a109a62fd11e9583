// How far a long job is. Libraries report; only cli/ draws.
#pragma once
#include <cstdint>
#include <string_view>

namespace paceline {

class Progress {
 public:
  virtual ~Progress() = default;
  // A new phase with a known amount of work in the given unit; total 0: unknown.
  virtual void begin(std::string_view phase, uint64_t total, std::string_view unit) = 0;
  // done units of the phase; note is shown behind the bar. Callable often and from one thread at a time.
  virtual void update(uint64_t done, std::string_view note = {}) = 0;
  virtual void end() = 0;
  // Of a phase that goes on from an earlier process: so much of it was done before it began here.
  virtual void skip(uint64_t) {}
  // A sentence that the user should see although the job goes on.
  virtual void say(std::string_view) {}
};

class NoProgress final : public Progress {
 public:
  void begin(std::string_view, uint64_t, std::string_view) override {}
  void update(uint64_t, std::string_view) override {}
  void end() override {}
};

}  // namespace paceline
