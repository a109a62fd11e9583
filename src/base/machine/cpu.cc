#include "base/machine/cpu.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/executors.h"
#include "base/machine/probe.h"
#include "base/machine/proc.h"
#include "base/subprocess.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace paceline {
namespace {

#if defined(__x86_64__)

enum Register { eax, ebx, ecx, edx };
enum StateBits : uint64_t { no_state = 0, avx_state = 0x6, avx512_state = 0xE6, tile_state = 0x60000 };

// Where CPUID advertises a set, and which registers the operating system has to save for it.
struct Feature {
  std::string_view name;
  unsigned leaf, subleaf;
  Register in;
  unsigned bit;
  StateBits state;
};

constexpr Feature features[] = {
    {"sse4.2", 1, 0, ecx, 20, no_state},        {"avx", 1, 0, ecx, 28, avx_state},
    {"f16c", 1, 0, ecx, 29, avx_state},         {"fma", 1, 0, ecx, 12, avx_state},
    {"avx2", 7, 0, ebx, 5, avx_state},          {"avx512f", 7, 0, ebx, 16, avx512_state},
    {"avx512bw", 7, 0, ebx, 30, avx512_state},  {"avx512dq", 7, 0, ebx, 17, avx512_state},
    {"avx512vl", 7, 0, ebx, 31, avx512_state},  {"avx512vnni", 7, 0, ecx, 11, avx512_state},
    {"avx512bf16", 7, 1, eax, 5, avx512_state}, {"avx512fp16", 7, 0, edx, 23, avx512_state},
    {"amx-tile", 7, 0, edx, 24, tile_state},    {"amx-int8", 7, 0, edx, 25, tile_state},
    {"amx-bf16", 7, 0, edx, 22, tile_state},
};

struct Leaf {
  unsigned value[4] = {};
};

Leaf cpuid(unsigned leaf, unsigned subleaf) {
  Leaf result;
  unsigned* v = result.value;
  if (!__get_cpuid_count(leaf, subleaf, &v[eax], &v[ebx], &v[ecx], &v[edx])) return {};
  return result;
}

uint64_t saved_state() {
  constexpr unsigned osxsave = 27;
  if (!(cpuid(1, 0).value[ecx] >> osxsave & 1)) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

std::string brand() {
  std::string text;
  for (unsigned leaf : {0x80000002u, 0x80000003u, 0x80000004u}) {
    Leaf part = cpuid(leaf, 0);
    text.append(reinterpret_cast<const char*>(part.value), sizeof part.value);
  }
  text.resize(std::strlen(text.c_str()));
  return std::string(trimmed(text));
}

void read_cpuid(Cpu& cpu) {
  Leaf first = cpuid(0, 0);
  for (Register part : {ebx, edx, ecx})
    cpu.vendor.append(reinterpret_cast<const char*>(&first.value[part]), 4);
  cpu.model = brand();
  uint64_t state = saved_state();
  for (const Feature& feature : features) {
    bool advertised = cpuid(feature.leaf, feature.subleaf).value[feature.in] >> feature.bit & 1;
    bool enabled = advertised && (state & feature.state) == feature.state;
    cpu.sets.push_back({std::string(feature.name), advertised, enabled, IsaProof::untested});
  }
}

#else

void read_cpuid(Cpu&) {}

#endif

}  // namespace

const InstructionSet* Cpu::find(std::string_view set) const {
  auto found = std::find_if(sets.begin(), sets.end(), [&](const auto& s) { return s.name == set; });
  return found == sets.end() ? nullptr : &*found;
}

bool Cpu::has(std::string_view set) const {
  const InstructionSet* found = find(set);
  return found != nullptr && found->enabled && !found->is_trap();
}

Cpu read_cpu(const fs::path& root) {
  Cpu cpu;
  read_cpuid(cpu);
  if (cpu.vendor.empty() || cpu.model.empty()) {
    std::string text = read_proc(root / "proc/cpuinfo").value_or("");
    if (cpu.vendor.empty()) cpu.vendor = proc_field(text, "vendor_id").value_or("unknown");
    if (cpu.model.empty()) cpu.model = proc_field(text, "model name").value_or("unknown");
  }
  return cpu;
}

IsaProof prove_instruction_set(std::string_view name, const fs::path& program,
                               std::chrono::milliseconds timeout) {
  std::vector<std::string> argv{program.string(), std::string(probe_argument), std::string(name)};
  ProcessResult result = run_process(argv, timeout, without_launcher());
  if (!result.started || result.exit_code == probe_unknown) return IsaProof::untested;
  if (result.timed_out) return IsaProof::hangs;
  if (result.exit_code == probe_works) return IsaProof::works;
  return result.exit_code == probe_wrong ? IsaProof::wrong : IsaProof::dies;
}

Cpu examine_cpu(const fs::path& program) {
  Cpu cpu = read_cpu();
  // Side by side, so that even if every child hangs the answer comes after a few seconds.
  Executors executors(4);
  executors.run(cpu.sets.size(), [&](uint64_t number, unsigned) {
    InstructionSet& set = cpu.sets[number];
    if (set.advertised) set.proof = prove_instruction_set(set.name, program);
  });
  return cpu;
}

std::string kernel_capability(const Cpu& cpu) {
  if (!cpu.has("avx2") || !cpu.has("fma")) return "default";
  bool wide = cpu.has("avx512f") && cpu.has("avx512bw") && cpu.has("avx512dq") && cpu.has("avx512vl");
  return wide ? "avx512" : "avx2";
}

}  // namespace paceline
