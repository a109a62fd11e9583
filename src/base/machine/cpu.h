// The processor: what it says it can do, and what it can.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

namespace fs = std::filesystem;

enum class IsaProof {
  works,     // a child executed an instruction of it and got the right result
  dies,      // the child died (a hypervisor may forbid what CPUID advertises)
  hangs,     // the child did not end in time
  wrong,     // the child got another result
  untested,  // no child could be started, or nothing to test
};

struct InstructionSet {
  std::string name;         // "avx2"
  bool advertised = false;  // by CPUID
  bool enabled = false;     // and the operating system saves its registers (XCR0)
  IsaProof proof = IsaProof::untested;
  // Libraries choose by CPUID and XCR0, so a set that is enabled and does not work kills them.
  bool is_trap() const {
    return enabled && (proof == IsaProof::dies || proof == IsaProof::hangs || proof == IsaProof::wrong);
  }
};

struct Cpu {
  std::string vendor;  // "GenuineIntel"
  std::string model;   // "Intel(R) Xeon(R) …"
  std::vector<InstructionSet> sets;
  // Enabled and not disproved.
  bool has(std::string_view set) const;
  const InstructionSet* find(std::string_view set) const;
};

// What CPUID and XCR0 say, without starting anything.
Cpu read_cpu(const fs::path& root = "/");

// Tests one set in a child: PROGRAM --probe-isa NAME, which calls run_isa_probe (base/machine/probe.h).
IsaProof prove_instruction_set(std::string_view name, const fs::path& program = "/proc/self/exe",
                               std::chrono::milliseconds timeout = std::chrono::seconds(2));

// read_cpu, and every advertised set tested.
Cpu examine_cpu(const fs::path& program = "/proc/self/exe");

// What LibTorch's kernels will use here: "avx512", "avx2" or "default". With the vendor it decides in
// which kernel class a run's bits are.
std::string kernel_capability(const Cpu& cpu);

}  // namespace paceline
