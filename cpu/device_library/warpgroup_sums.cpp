// Sums of wgmma, a row in loops that become vectors: see warpgroup_sums.hpp. All ways give the same bits.
#include "cpu/device_library/warpgroup_sums.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cucore::cpu::device_library {
namespace {

using analysis::Element;

constexpr std::int32_t of_zero = -20000;  ///< below every exponent, and every sum of two
constexpr int of_double = 52;             ///< bits of the significand
constexpr std::uint64_t magnitude = 0x7fffffffffffffff;

std::int32_t least_exponent(Element element) {
  return element == Element::F16 || element == Element::E5m2 ? -14 : element == Element::E4m3 ? -6 : -126;
}

/// Every value is a normal double or zero, or not finite.
[[gnu::always_inline]] inline std::int32_t exponent_of(double value, std::int32_t least) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) & magnitude;
  const std::int32_t exponent = std::max(static_cast<std::int32_t>(bits >> of_double) - 1023, least);
  return bits == 0 ? of_zero : exponent;
}

[[gnu::always_inline]] inline bool all_exponents(const double* values, std::size_t count, std::int32_t least,
                                                 std::int32_t* exponents) {
  std::int32_t largest = of_zero;
  for (std::size_t n = 0; n < count; ++n) {
    exponents[n] = exponent_of(values[n], least);
    largest = std::max(largest, exponents[n]);
  }
  return largest < 1024;
}

constexpr std::uint32_t group = 8;
using Doubles = double __attribute__((vector_size(64)));
using Words64 = std::uint64_t __attribute__((vector_size(64)));
using Integers = std::int32_t __attribute__((vector_size(32)));

template <typename Vector>
[[gnu::always_inline]] inline void load(Vector& to, const void* from) {
  std::memcpy(&to, from, sizeof to);
}

[[gnu::always_inline]] inline void power_of_two(const Integers& exponents, Doubles& powers) {
  const Integers biased = exponents + 1023;
  powers = reinterpret_cast<Doubles>(__builtin_convertvector(biased, Words64) << of_double);
}

/// Cuts off what is below 1. Everything fits 32 bits.
[[gnu::always_inline]] inline void cut_fractions(Doubles& values) {
  values = __builtin_convertvector(__builtin_convertvector(values, Integers), Doubles);
}

[[gnu::always_inline]] inline void exponents_of_sums(const Doubles& sums, std::int32_t least, Integers& exponents) {
  const Words64 bits = reinterpret_cast<Words64>(sums) & magnitude;
  const Integers biased = __builtin_convertvector(bits >> of_double, Integers) - 1023;
  const Integers kept = biased > least ? biased : Integers{} + least;
  const Integers is_zero = __builtin_convertvector(reinterpret_cast<Words64>(bits == 0), Integers);
  exponents = (is_zero & of_zero) | (~is_zero & kept);
}

/// The sums of some groups of eight columns from `place` of each row of B on. Several at once, since each addition
/// waits for the one before.
template <std::uint32_t groups>
[[gnu::always_inline]] inline void add_groups(const RowOfProduct& row, std::size_t place, std::int32_t least,
                                              double* sums) {
  Doubles of_group[groups], scales[groups], units[groups];
  Integers largest[groups];
  for (std::uint32_t g = 0; g < groups; ++g) {
    load(of_group[g], sums + g * group);
    exponents_of_sums(of_group[g], least, largest[g]);
  }
  for (std::uint32_t k = 0; k < row.depth; ++k) {
    const std::int32_t* const exponents = row.b_exponents + std::size_t{row.rows_of_b[k]} * row.columns + place;
    const std::int32_t left = row.a_exponents[k];
    for (std::uint32_t g = 0; g < groups; ++g) {
      Integers right;
      load(right, exponents + g * group);
      right += left;
      largest[g] = right > largest[g] ? right : largest[g];
    }
  }
  // In units of the last bit that is kept everything is an integer that fits 32 bits.
  for (std::uint32_t g = 0; g < groups; ++g) {
    largest[g] = largest[g] <= of_zero / 2 ? Integers{} : largest[g];
    power_of_two(row.kept - largest[g], scales[g]);
    power_of_two(largest[g] - row.kept, units[g]);
    of_group[g] *= scales[g];
    cut_fractions(of_group[g]);
  }
  for (std::uint32_t k = 0; k < row.depth; ++k) {
    const double* const values = row.b + std::size_t{row.rows_of_b[k]} * row.columns + place;
    const double left = row.a[k];
    for (std::uint32_t g = 0; g < groups; ++g) {
      Doubles products;
      load(products, values + g * group);
      products = left * products * scales[g];
      cut_fractions(products);
      of_group[g] += products;
    }
  }
  for (std::uint32_t g = 0; g < groups; ++g) {
    of_group[g] *= units[g];
    std::memcpy(sums + g * group, &of_group[g], sizeof of_group[g]);
  }
}

[[gnu::always_inline]] inline void add_row(const RowOfProduct& row, std::uint32_t first, std::uint32_t count,
                                           double* sums) {
  constexpr std::uint32_t at_once = 4;
  const std::int32_t least = least_exponent(row.d);
  std::uint32_t n = 0;
  for (; n + at_once * group <= count; n += at_once * group) add_groups<at_once>(row, first + n, least, sums + n);
  for (; n < count; n += group) add_groups<1>(row, first + n, least, sums + n);
}

[[gnu::always_inline]] inline void cut_all(const double* sums, std::size_t count, int kept, std::uint32_t* patterns) {
  const int low_bits = kept == 0 ? 0 : of_double - kept;
  for (std::size_t n = 0; n < count; ++n) {
    const double sum = std::bit_cast<double>(std::bit_cast<std::uint64_t>(sums[n]) >> low_bits << low_bits);
    const auto nearest = static_cast<float>(sum);
    const std::uint64_t size = std::bit_cast<std::uint64_t>(sum) & magnitude;
    const std::uint64_t size_of_nearest = std::bit_cast<std::uint64_t>(static_cast<double>(nearest)) & magnitude;
    auto pattern = std::bit_cast<std::uint32_t>(nearest);
    pattern -= (size_of_nearest > size && size < std::bit_cast<std::uint64_t>(0x1p128)) ? 1U : 0U;
    pattern = (pattern & 0x7fffffff) == 0 ? 0 : pattern;  // a number cut off to zero has no sign
    constexpr std::uint64_t infinity = 0x7ff0000000000000;
    const std::uint64_t before = std::bit_cast<std::uint64_t>(sums[n]) & magnitude;
    const std::uint32_t of_infinity = 0x7f800000 | (sums[n] < 0 ? 0x80000000U : 0U);
    patterns[n] = before > infinity ? 0x7fffffffU : before == infinity ? of_infinity : pattern;
  }
}

// For each kind of processor.

struct Ways {
  bool (*exponents)(const double* values, std::size_t count, std::int32_t least, std::int32_t* exponents);
  void (*add)(const RowOfProduct& row, std::uint32_t first, std::uint32_t count, double* sums);
  void (*cut)(const double* sums, std::size_t count, int kept, std::uint32_t* patterns);
};

#define WAYS(name, ...)                                                                                              \
  __VA_ARGS__ bool exponents_##name(const double* values, std::size_t count, std::int32_t least, std::int32_t* to) { \
    return all_exponents(values, count, least, to);                                                                  \
  }                                                                                                                  \
  __VA_ARGS__ void add_##name(const RowOfProduct& row, std::uint32_t first, std::uint32_t count, double* sums) {     \
    add_row(row, first, count, sums);                                                                                \
  }                                                                                                                  \
  __VA_ARGS__ void cut_##name(const double* sums, std::size_t count, int kept, std::uint32_t* patterns) {            \
    cut_all(sums, count, kept, patterns);                                                                            \
  }                                                                                                                  \
  constexpr Ways in_##name{exponents_##name, add_##name, cut_##name};

#if defined(__x86_64__)
WAYS(512, [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,avx2")]])
WAYS(256, [[gnu::target("avx2")]])
#endif
WAYS(128)
#undef WAYS

const Ways& best() {
#if defined(__x86_64__)
  static const Ways& chosen =
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")
          ? in_512
      : __builtin_cpu_supports("avx2") ? in_256
                                       : in_128;
  return chosen;
#else
  return in_128;
#endif
}

}  // namespace

bool exponents_of(Element element, const double* values, std::size_t count, std::int32_t* exponents) {
  return best().exponents(values, count, least_exponent(element), exponents);
}

void add_aligned(const RowOfProduct& row, std::uint32_t first, std::uint32_t count, double* sums) {
  best().add(row, first, count, sums);
}

void cut_off(const double* sums, std::size_t count, int kept, std::uint32_t* patterns) {
  best().cut(sums, count, kept, patterns);
}

}  // namespace cucore::cpu::device_library
