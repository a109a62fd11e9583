#include "base/machine/probe.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#endif

#include <array>
#include <cstdint>

namespace paceline {
namespace {

struct Probe {
  std::string_view name;
  bool (*run)();
};

// A death is the expected answer here: nobody's handler should see it and no core file record it.
void die_quietly() {
  for (int number : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) signal(number, SIG_DFL);
  prctl(PR_SET_DUMPABLE, 0);
  // Nobody is left to end a hanging child whose parent was killed.
  alarm(10);
}

#if defined(__x86_64__)

// Hides a vector's content from the compiler, which would otherwise compute with narrower registers.
#define PACELINE_OPAQUE(vector) __asm__ volatile("" : "+v"(vector))

volatile int three = 3;

__attribute__((target("sse4.2"))) bool probe_sse42() {
  return _mm_crc32_u32(0, static_cast<unsigned>(three)) != _mm_crc32_u32(0, 4);
}

__attribute__((target("avx"))) bool probe_avx() {
  float out[8];
  __m256 x = _mm256_set1_ps(0.5f);
  PACELINE_OPAQUE(x);
  _mm256_storeu_ps(out, _mm256_add_ps(x, x));
  return out[0] == 1.0f && out[7] == 1.0f;
}

__attribute__((target("avx2"))) bool probe_avx2() {
  int out[8];
  __m256i x = _mm256_set1_epi32(3);
  PACELINE_OPAQUE(x);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_add_epi32(x, x));
  return out[0] == 6 && out[7] == 6;
}

__attribute__((target("avx,fma"))) bool probe_fma() {
  float out[8];
  __m256 x = _mm256_set1_ps(0.5f);
  PACELINE_OPAQUE(x);
  _mm256_storeu_ps(out, _mm256_fmadd_ps(x, x, x));
  return out[0] == 0.75f && out[7] == 0.75f;
}

__attribute__((target("avx,f16c"))) bool probe_f16c() {
  float out[8];
  __m256 x = _mm256_set1_ps(0.5f);
  PACELINE_OPAQUE(x);
  _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)));
  return out[0] == 0.5f && out[7] == 0.5f;
}

__attribute__((target("avx512f"))) bool probe_avx512f() {
  float out[16];
  __m512 x = _mm512_set1_ps(0.5f);
  PACELINE_OPAQUE(x);
  _mm512_storeu_ps(out, _mm512_add_ps(x, x));
  return out[0] == 1.0f && out[15] == 1.0f;
}

__attribute__((target("avx512f,avx512bw"))) bool probe_avx512bw() {
  int8_t out[64];
  __m512i x = _mm512_set1_epi8(3);
  PACELINE_OPAQUE(x);
  _mm512_storeu_si512(out, _mm512_add_epi8(x, x));
  return out[0] == 6 && out[63] == 6;
}

__attribute__((target("avx512f,avx512dq"))) bool probe_avx512dq() {
  int64_t out[8];
  __m512i x = _mm512_set1_epi64(3);
  PACELINE_OPAQUE(x);
  _mm512_storeu_si512(out, _mm512_mullo_epi64(x, x));
  return out[0] == 9 && out[7] == 9;
}

__attribute__((target("avx512f,avx512vl"))) bool probe_avx512vl() {
  int out[8];
  __m256i x = _mm256_set1_epi32(3);
  PACELINE_OPAQUE(x);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_rolv_epi32(x, x));
  return out[0] == 24 && out[7] == 24;
}

__attribute__((target("avx512f,avx512vnni"))) bool probe_avx512vnni() {
  int out[16];
  __m512i x = _mm512_set1_epi8(3);
  PACELINE_OPAQUE(x);
  _mm512_storeu_si512(out, _mm512_dpbusd_epi32(_mm512_setzero_si512(), x, x));
  return out[0] == 36 && out[15] == 36;
}

__attribute__((target("avx512f,avx512bf16"))) bool probe_avx512bf16() {
  float out[16];
  __m512 x = _mm512_set1_ps(0.5f);
  PACELINE_OPAQUE(x);
  __m512bh pairs = _mm512_cvtne2ps_pbh(x, x);
  _mm512_storeu_ps(out, _mm512_dpbf16_ps(_mm512_setzero_ps(), pairs, pairs));
  return out[0] == 0.5f && out[15] == 0.5f;
}

// In assembly, because older compilers know the instruction but not its type.
__attribute__((target("avx512f"))) bool probe_avx512fp16() {
  uint16_t out[32];
  __m512i x = _mm512_set1_epi32(0x38003800), sum;  // 0.5 and 0.5
  __asm__ volatile("vaddph %1, %1, %0" : "=v"(sum) : "v"(x));
  _mm512_storeu_si512(out, sum);
  return out[0] == 0x3C00 && out[31] == 0x3C00;
}

// One palette, three tiles of 16 rows by 64 bytes.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64};
  uint8_t rows[16] = {16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

// The kernel gives tile memory only to a process that asked for it.
void request_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  syscall(SYS_arch_prctl, request_permission, tile_data);
}

enum class TileWork { move, int8, bf16 };

template <TileWork work>
__attribute__((target("amx-tile,amx-int8,amx-bf16"))) bool probe_amx() {
  alignas(64) static uint8_t in[16 * 64];
  alignas(64) static int32_t out[16 * 16];
  // 0x3F80 is 1.0 in bfloat16.
  for (size_t i = 0; i < sizeof in; ++i)
    in[i] = work == TileWork::bf16 ? (i % 2 ? 0x3F : 0x80) : static_cast<uint8_t>(three);
  request_tiles();
  TileConfig config;
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_loadd(1, in, 64);
  _tile_loadd(2, in, 64);
  if constexpr (work == TileWork::int8) _tile_dpbssd(0, 1, 2);
  if constexpr (work == TileWork::bf16) _tile_dpbf16ps(0, 1, 2);
  if constexpr (work == TileWork::move) {
    _tile_stored(1, out, 64);
  } else {
    _tile_stored(0, out, 64);
  }
  _tile_release();
  // 64 products 3 * 3; 32 products 1.0 * 1.0, a float 32.0; the bytes themselves.
  constexpr int32_t expected = work == TileWork::int8   ? 576
                               : work == TileWork::bf16 ? 0x42000000
                                                        : 0x03030303;
  return out[0] == expected && out[255] == expected;
}

#undef PACELINE_OPAQUE

constexpr Probe probes[] = {
    {"sse4.2", probe_sse42},
    {"avx", probe_avx},
    {"f16c", probe_f16c},
    {"fma", probe_fma},
    {"avx2", probe_avx2},
    {"avx512f", probe_avx512f},
    {"avx512bw", probe_avx512bw},
    {"avx512dq", probe_avx512dq},
    {"avx512vl", probe_avx512vl},
    {"avx512vnni", probe_avx512vnni},
    {"avx512bf16", probe_avx512bf16},
    {"avx512fp16", probe_avx512fp16},
    {"amx-tile", probe_amx<TileWork::move>},
    {"amx-int8", probe_amx<TileWork::int8>},
    {"amx-bf16", probe_amx<TileWork::bf16>},
};

#else

constexpr std::array<Probe, 0> probes{};

#endif

}  // namespace

const std::vector<std::string_view>& probed_instruction_sets() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> result;
    for (const Probe& probe : probes) result.push_back(probe.name);
    return result;
  }();
  return names;
}

int run_isa_probe(std::string_view name) {
  die_quietly();
  for (const Probe& probe : probes)
    if (probe.name == name) return probe.run() ? probe_works : probe_wrong;
  return probe_unknown;
}

}  // namespace paceline
