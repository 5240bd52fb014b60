// Arithmetic that generated code calls, and the list of all that it may call: see built_ins.hpp.
#include "cpu/device_library/built_ins.hpp"
#include "cpu/device_library/cluster_copy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cpu/abi/device_calls.hpp"
#include "cpu/abi/float_control.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/abi/kernel_heap.hpp"
#include "cpu/device_library/lane_operations.hpp"
#include "cpu/device_library/matrix_unit.hpp"
#include "cpu/device_library/mbarrier.hpp"
#include "cpu/device_library/tensor_copy.hpp"
#include "cpu/device_library/warpgroup_unit.hpp"

extern "C" {
double roundeven(double);
float roundevenf(float);
}

namespace cucore::cpu::device_library {
namespace {

/// The mode argument of every built-in that rounds.
enum Mode : std::uint32_t { Nearest, Zero, Down, Up };

// ---- arithmetic in a given rounding --------------------------------------------------------------------------------

/// The processor's rounding mode for as long as it lives.
class RoundingScope {
 public:
  explicit RoundingScope(std::uint32_t mode) : saved_(float_control()) {
    set_float_control(with_rounding(saved_, static_cast<HostRounding>(mode & 3)));
  }
  ~RoundingScope() { set_float_control(saved_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  FloatControl saved_;
};

/// Keeps the compiler from computing with `value` earlier, or keeping it later, than here.
void pin(double& value) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(value)::"memory");
#else
  asm volatile("" : "+w"(value)::"memory");
#endif
}

template <typename Operation>
double rounded(std::uint32_t mode, Operation operation, double a, double b, double c) {
  const RoundingScope rounding(mode);
  pin(a);
  pin(b);
  pin(c);
  double result = operation(a, b, c);
  pin(result);
  return result;
}

double add(double a, double b, std::uint32_t mode) {
  return rounded(mode, [](double x, double y, double) { return x + y; }, a, b, 0);
}
double sub(double a, double b, std::uint32_t mode) {
  return rounded(mode, [](double x, double y, double) { return x - y; }, a, b, 0);
}
double mul(double a, double b, std::uint32_t mode) {
  return rounded(mode, [](double x, double y, double) { return x * y; }, a, b, 0);
}
double div(double a, double b, std::uint32_t mode) {
  return rounded(mode, [](double x, double y, double) { return x / y; }, a, b, 0);
}
double sqrt(double a, std::uint32_t mode) {
  return rounded(mode, [](double x, double, double) { return std::sqrt(x); }, a, 0, 0);
}
double fma(double a, double b, double c, std::uint32_t mode) {
  return rounded(mode, [](double x, double y, double z) { return std::fma(x, y, z); }, a, b, c);
}

// ---- rounding once to a narrower format ----------------------------------------------------------------------------

struct Format {
  int fraction_bits;
  int exponent_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Format f16{10, 5};
constexpr Format bf16{7, 8};
constexpr Format f32{23, 8};
constexpr Format f64{52, 11};

/// The pattern of magnitude * 2^exponent rounded once to the fraction of `format`, without its sign, and as if its
/// exponent had no upper bound.
std::uint64_t rounded_pattern(Format format, bool negative, std::uint64_t magnitude, int exponent, std::uint32_t mode) {
  if (magnitude == 0) return 0;
  // Normalise to bit 63, then see how many low bits the format drops: more for subnormal results.
  const int shift = std::countl_zero(magnitude);
  magnitude <<= shift;
  const int top = exponent - shift + 63;  // the value is 1.xxx * 2^top
  const int lowest = 1 - format.bias();
  const int dropped = 63 - format.fraction_bits + (top < lowest ? lowest - top : 0);
  std::uint64_t kept = 0;
  std::uint64_t rest = magnitude;  // aligned so that `half` is bit 63 of it
  bool beyond = false;             // something lies below the lowest bit of `rest`
  if (dropped < 64) {
    kept = magnitude >> dropped;
    rest = magnitude << (64 - dropped);
  } else if (dropped > 64) {
    beyond = true;
    rest = 0;
  }
  const bool inexact = rest != 0 || beyond;
  const std::uint64_t half = std::uint64_t{1} << 63;
  bool up = false;
  if (mode == Nearest) up = rest > half || (rest == half && ((kept & 1) != 0 || beyond));
  if (mode == Down) up = negative && inexact;
  if (mode == Up) up = !negative && inexact;
  // For normal results `kept` holds the leading one, which adds 1 to the exponent field; a carry does so once more.
  const std::uint64_t field = top < lowest ? 0 : static_cast<std::uint64_t>(top - lowest);
  return (field << format.fraction_bits) + kept + (up ? 1 : 0);
}

/// The pattern in `format` of magnitude * 2^exponent with a sign, rounded once; too large a value becomes infinite or
/// the largest finite one, by the rounding mode.
std::uint64_t round_to(Format format, bool negative, std::uint64_t magnitude, int exponent, std::uint32_t mode) {
  const std::uint64_t sign = std::uint64_t{negative} << (format.fraction_bits + format.exponent_bits);
  const std::uint64_t pattern = rounded_pattern(format, negative, magnitude, exponent, mode);
  const std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
  if (pattern < infinity) return sign | pattern;
  const bool to_infinity = mode == Nearest || (mode == Up && !negative) || (mode == Down && negative);
  return sign | (to_infinity ? infinity : infinity - 1);
}

std::uint64_t round_to(Format format, double value, std::uint32_t mode) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) {
    const int width = format.fraction_bits + format.exponent_bits;
    if (fraction != 0) return (std::uint64_t{1} << width) - 1;  // the canonical NaN
    const std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
    return std::uint64_t{negative} << width | infinity;
  }
  if (exponent == 0) return round_to(format, negative, fraction, -1074, mode);
  return round_to(format, negative, fraction | std::uint64_t{1} << 52, exponent - 1075, mode);
}

std::uint64_t round_to(Format format, std::int64_t value, std::uint32_t mode) {
  const auto bits = static_cast<std::uint64_t>(value);
  return round_to(format, value < 0, value < 0 ? std::uint64_t{0} - bits : bits, 0, mode);
}

std::uint64_t round_to(Format format, std::uint64_t value, std::uint32_t mode) {
  return round_to(format, false, value, 0, mode);
}

/// To an 8-bit format with .satfinite: beyond the largest finite value is that value. Both formats have one NaN here.
std::uint8_t to_fp8(Format format, std::uint64_t largest, double value) {
  if (std::isnan(value)) return 0x7f;
  const std::uint64_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isinf(value)) return static_cast<std::uint8_t>(sign | largest);
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto magnitude = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  const std::uint64_t pattern = rounded_pattern(format, sign != 0, magnitude, exponent - 53, Nearest);
  return static_cast<std::uint8_t>(sign | std::min(pattern, largest));
}

std::uint8_t to_e4m3(double value) { return to_fp8({3, 4}, 0x7e, value); }
std::uint8_t to_e5m2(double value) { return to_fp8({2, 5}, 0x7b, value); }

float e4m3_to_f32(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15;
  const int fraction = bits & 7;
  const float magnitude = (bits & 0x7f) == 0x7f ? std::nanf("")
                          : exponent == 0       ? std::ldexp(static_cast<float>(fraction), -9)
                                                : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return std::copysign(magnitude, bits < 0x80 ? 1.0F : -1.0F);
}

template <typename From>
double to_f64(From value, std::uint32_t mode) {
  return std::bit_cast<double>(round_to(f64, value, mode));
}
template <typename From>
float to_f32(From value, std::uint32_t mode) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(round_to(f32, value, mode)));
}
template <typename From>
std::uint16_t to_f16(From value, std::uint32_t mode) {
  return static_cast<std::uint16_t>(round_to(f16, value, mode));
}
template <typename From>
std::uint16_t to_bf16(From value, std::uint32_t mode) {
  return static_cast<std::uint16_t>(round_to(bf16, value, mode));
}

float f16_to_f32(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1f;
  const std::uint32_t fraction = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return sign == 0 ? magnitude : -magnitude;
}

// ---- copies --------------------------------------------------------------------------------------------------------

void copy_and_fill(void* to, const void* from, std::uint32_t size, std::uint32_t taken) {
  taken = std::min(taken, size);
  std::memcpy(to, from, taken);
  std::memset(static_cast<char*>(to) + taken, 0, size - taken);
}

/// Of every 16 bytes those whose bit is set.
void copy_masked(void* to, const void* from, std::uint32_t size, std::uint32_t mask) {
  for (std::uint32_t byte = 0; byte < size; ++byte) {
    if ((mask >> byte % 16 & 1) != 0) static_cast<char*>(to)[byte] = static_cast<const char*>(from)[byte];
  }
}

template <typename Result, typename... Arguments>
void* address_of(Result (*function)(Arguments...)) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::span<const Symbol> callable_symbols() {
  using F = float;
  using D = double;
  // Never destroyed: a thread may still compile when the process ends.
  static const auto& symbols = *new std::vector<Symbol>{
      {"cucpu_add_f64", address_of(add)},
      {"cucpu_sub_f64", address_of(sub)},
      {"cucpu_mul_f64", address_of(mul)},
      {"cucpu_div_f64", address_of(div)},
      {"cucpu_sqrt_f64", address_of(sqrt)},
      {"cucpu_fma_f64", address_of(fma)},
      {"cucpu_f64_to_f16", address_of(to_f16<D>)},
      {"cucpu_f64_to_bf16", address_of(to_bf16<D>)},
      {"cucpu_s64_to_f64", address_of(to_f64<std::int64_t>)},
      {"cucpu_s64_to_f32", address_of(to_f32<std::int64_t>)},
      {"cucpu_s64_to_f16", address_of(to_f16<std::int64_t>)},
      {"cucpu_s64_to_bf16", address_of(to_bf16<std::int64_t>)},
      {"cucpu_u64_to_f64", address_of(to_f64<std::uint64_t>)},
      {"cucpu_u64_to_f32", address_of(to_f32<std::uint64_t>)},
      {"cucpu_u64_to_f16", address_of(to_f16<std::uint64_t>)},
      {"cucpu_u64_to_bf16", address_of(to_bf16<std::uint64_t>)},
      {"cucpu_f64_to_e4m3", address_of(to_e4m3)},
      {"cucpu_f64_to_e5m2", address_of(to_e5m2)},
      {"cucpu_e4m3_to_f32", address_of(e4m3_to_f32)},
      {"cucpu_f16_to_f32", address_of(f16_to_f32)},

      {"cucpu_copy_and_fill", address_of(copy_and_fill)},
      {"cucpu_copy_masked", address_of(copy_masked)},
      {"cucpu_tensor_load", address_of(tensor_copy::load)},
      {"cucpu_tensor_store", address_of(tensor_copy::store)},
      {"cucpu_tensor_reduce", address_of(tensor_copy::reduce)},
      {"cucpu_cluster_copy", address_of(cluster_copy::bulk)},
      {"cucpu_cluster_tensor_load", address_of(cluster_copy::tensor)},
      {"cucpu_mbarrier_initialise", address_of(mbarrier::initialise)},
      {"cucpu_mbarrier_arrive", address_of(mbarrier::arrive)},
      {"cucpu_mbarrier_arrive_uncounted", address_of(mbarrier::arrive_uncounted)},
      {"cucpu_mbarrier_expect_bytes", address_of(mbarrier::expect_bytes)},
      {"cucpu_mbarrier_complete_bytes", address_of(mbarrier::complete_bytes)},
      {"cucpu_mbarrier_test", address_of(mbarrier::test)},
      {"cucpu_mbarrier_test_parity", address_of(mbarrier::test_parity)},
      {"cucpu_mbarrier_wait", address_of(mbarrier::wait)},
      {"cucpu_mbarrier_wait_parity", address_of(mbarrier::wait_parity)},
      {"cucpu_mbarrier_pending_count", address_of(mbarrier::pending_count)},
      {"cucpu_redux_add", address_of(lane_operations::add)},
      {"cucpu_redux_and", address_of(lane_operations::bitwise_and)},
      {"cucpu_redux_or", address_of(lane_operations::bitwise_or)},
      {"cucpu_redux_xor", address_of(lane_operations::bitwise_xor)},
      {"cucpu_redux_min_u32", address_of(lane_operations::min_unsigned)},
      {"cucpu_redux_max_u32", address_of(lane_operations::max_unsigned)},
      {"cucpu_redux_min_s32", address_of(lane_operations::min_signed)},
      {"cucpu_redux_max_s32", address_of(lane_operations::max_signed)},
      {"cucpu_match_any", address_of(lane_operations::match_any)},
      {"cucpu_match_all", address_of(lane_operations::match_all)},
      {"cucpu_elect", address_of(lane_operations::elect)},
      {"cucpu_matrix_multiply", address_of(matrix_unit::multiply)},
      {"cucpu_matrix_load", address_of(matrix_unit::load)},
      {"cucpu_matrix_store", address_of(matrix_unit::store)},
      {"cucpu_matrix_load_rows", address_of(matrix_unit::load_rows)},
      {"cucpu_matrix_store_rows", address_of(matrix_unit::store_rows)},
      {"cucpu_matrix_transpose", address_of(matrix_unit::transpose)},
      {"cucpu_fragments_multiply", address_of(matrix_unit::multiply_fragments)},
      {"cucpu_fragments_multiply_checked", address_of(matrix_unit::multiply_checked_fragments)},
      {"cucpu_fragments_load", address_of(matrix_unit::load_fragments)},
      {"cucpu_fragments_store", address_of(matrix_unit::store_fragments)},
      {"cucpu_fragments_load_rows", address_of(matrix_unit::load_fragment_rows)},
      {"cucpu_fragments_store_rows", address_of(matrix_unit::store_fragment_rows)},
      {"cucpu_fragments_transpose", address_of(matrix_unit::transpose_fragments)},
      {"cucpu_warpgroup_multiply", address_of(warpgroup_unit::multiply)},

      {"cucpu_malloc", address_of(cucpu_malloc)},
      {"cucpu_free", address_of(cucpu_free)},
      {"cucpu_barrier", address_of(cucpu_barrier)},
      {"cucpu_barrier_arrive", address_of(cucpu_barrier_arrive)},
      {"cucpu_barrier_reduce", address_of(cucpu_barrier_reduce)},
      {"cucpu_warp_sync", address_of(cucpu_warp_sync)},
      {"cucpu_lockstep", address_of(cucpu_lockstep)},
      {"cucpu_shuffle", address_of(cucpu_shuffle)},
      {"cucpu_vote", address_of(cucpu_vote)},
      {"cucpu_activemask", address_of(cucpu_activemask)},
      {"cucpu_cluster_arrive", address_of(cucpu_cluster_arrive)},
      {"cucpu_cluster_wait", address_of(cucpu_cluster_wait)},
      {"cucpu_yield", address_of(cucpu_yield)},
      {"cucpu_lap", address_of(cucpu_lap)},
      {"cucpu_nanosleep", address_of(cucpu_nanosleep)},
      {"cucpu_vprintf", address_of(cucpu_vprintf)},
      {"cucpu_assertfail", address_of(cucpu_assertfail)},
      {"cucpu_trap", address_of(cucpu_trap)},
      {"cucpu_device_call", address_of(cucpu_device_call)},
      {"cucpu_globaltimer", address_of(cucpu_globaltimer)},
      {"cucpu_stack_end", address_of(cucpu_stack_end)},
      {"cucpu_texture_fetch", address_of(cucpu_texture_fetch)},
      {"cucpu_surface_access", address_of(cucpu_surface_access)},
      {"cucpu_texel_query", address_of(cucpu_texel_query)},

      // Hosts without FMA or SSE4.1 call these; block copies and fills may become calls on any host.
      {"fma", address_of<D, D, D, D>(std::fma)},
      {"fmaf", address_of<F, F, F, F>(std::fma)},
      {"floor", address_of<D, D>(std::floor)},
      {"floorf", address_of<F, F>(std::floor)},
      {"ceil", address_of<D, D>(std::ceil)},
      {"ceilf", address_of<F, F>(std::ceil)},
      {"trunc", address_of<D, D>(std::trunc)},
      {"truncf", address_of<F, F>(std::trunc)},
      {"roundeven", address_of(roundeven)},
      {"roundevenf", address_of(roundevenf)},
      {"memcpy", address_of(std::memcpy)},
      {"memmove", address_of(std::memmove)},
      {"memset", address_of(std::memset)},
  };
  return symbols;
}

}  // namespace cucore::cpu::device_library
