// One real instruction of an instruction set, executed in a process that may die of it.
#pragma once
#include <string_view>
#include <vector>

namespace paceline {

// The hidden argument with which the program starts itself again: PROGRAM --probe-isa NAME.
inline constexpr std::string_view probe_argument = "--probe-isa";

enum ProbeExit { probe_works = 0, probe_unknown = 2, probe_wrong = 3 };

// The sets that run_isa_probe knows, from old to new; empty on other architectures than x86-64.
const std::vector<std::string_view>& probed_instruction_sets();

// Executes an instruction of the set and returns a ProbeExit. May die of SIGILL or SIGSEGV: call it
// first in main, when the process was started for nothing else.
int run_isa_probe(std::string_view name);

}  // namespace paceline
