// Products in vectors: see fragment_product.hpp. A register of all lanes is eight rows of a matrix (of B: eight
// columns), each next to the other, so that little has to change places. Products of two elements are exact in
// binary64, and each sum takes them in order of k: whether an addition is fused with its product changes no bit. Sums
// of integers are exact there as well.
#include "cpu/device_library/fragment_product.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#include "cpu/device_library/element_values.hpp"

namespace cucore::cpu::device_library {
namespace {

using analysis::bits_of;
using analysis::Element;
using analysis::MatrixForm;

constexpr unsigned lanes = 32;
constexpr unsigned row = 8;
constexpr unsigned most_rows = 32, most_depth = 32;

using Doubles = double __attribute__((vector_size(64)));
using Words64 = std::uint64_t __attribute__((vector_size(64)));
using Integers64 = std::int64_t __attribute__((vector_size(64)));
using Integers32 = std::int32_t __attribute__((vector_size(32)));
using Words32 = std::uint32_t __attribute__((vector_size(32)));
using Words16 = std::uint16_t __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(32)));
using FourFloats = float __attribute__((vector_size(16)));
using FourIntegers = std::int32_t __attribute__((vector_size(16)));

template <typename Vector>
[[gnu::always_inline]] inline void load(Vector& to, const void* from) {
  std::memcpy(&to, from, sizeof to);
}

/// Where `chosen` has all bits set, `yes`.
[[gnu::always_inline]] inline void choose(const Words32& chosen, const Words32& yes, const Words32& no, Words32& to) {
  to = (chosen & yes) | (~chosen & no);
}

// ---- elements ------------------------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void numbers_of_halves(const void* from, Doubles& numbers) {
  Words16 halves;
  load(halves, from);
  const Words64 bits =
      __builtin_convertvector(__builtin_convertvector(halves, Words32), Words64);  // in one, GCC goes one by one
  const Words64 magnitude = (bits & 0x7fff) << 42;  // the fields of a half in those of a double: 2^1008 too small
  const auto is_highest = reinterpret_cast<Words64>((bits & 0x7c00) == 0x7c00);  // an infinity or a NaN
  const auto scaled = reinterpret_cast<Words64>(reinterpret_cast<Doubles>(magnitude) * 0x1p1008);
  const Words64 highest = magnitude | 0x7ff0000000000000;
  numbers = reinterpret_cast<Doubles>((is_highest & highest) | (~is_highest & scaled) | (bits & 0x8000) << 48);
}

/// The values of all patterns of eight bits.
template <Element element>
const std::array<double, 256>& values_of_bytes() {
  static const std::array<double, 256> values = [] {
    std::array<double, 256> made;
    for (unsigned pattern = 0; pattern < made.size(); ++pattern)
      made[pattern] = analysis::is_integer(element) ? to_integer(element, pattern) : to_real(element, pattern);
    return made;
  }();
  return values;
}

/// Eight elements from `from` on as numbers.
template <Element element>
[[gnu::always_inline]] inline void numbers_at(const std::byte* from, Doubles& numbers) {
  if constexpr (element == Element::F16) {
    numbers_of_halves(from, numbers);
  } else if constexpr (element == Element::Bf16) {
    Words16 halves;
    load(halves, from);
    const Words32 floats = __builtin_convertvector(halves, Words32) << 16;
    numbers = __builtin_convertvector(reinterpret_cast<Floats>(floats), Doubles);
  } else if constexpr (element == Element::Tf32) {
    Words32 floats;
    load(floats, from);
    floats &= 0xffffe000;  // the low bits are not looked at
    numbers = __builtin_convertvector(reinterpret_cast<Floats>(floats), Doubles);
  } else {
    const std::array<double, 256>& values = values_of_bytes<element>();
    double found[row];
    for (unsigned n = 0; n < row; ++n) found[n] = values[static_cast<std::uint8_t>(from[n])];
    load(numbers, found);
  }
}

template <>
[[gnu::always_inline]] inline void numbers_at<Element::S8>(const std::byte* from, Doubles& numbers) {
  using Bytes = std::int8_t __attribute__((vector_size(8)));
  Bytes bytes;
  load(bytes, from);
  numbers = __builtin_convertvector(__builtin_convertvector(bytes, Integers32), Doubles);
}

template <>
[[gnu::always_inline]] inline void numbers_at<Element::U8>(const std::byte* from, Doubles& numbers) {
  using Bytes = std::uint8_t __attribute__((vector_size(8)));
  Bytes bytes;
  load(bytes, from);
  numbers = __builtin_convertvector(__builtin_convertvector(bytes, Integers32), Doubles);
}

/// A or B, row after row: of B they are its columns. Registers go down the rows first if `down`.
template <Element element>
[[gnu::always_inline]] inline void take(const std::uint32_t* registers, unsigned rows, unsigned depth, bool down,
                                        double* to) {
  constexpr unsigned width = 128 / bits_of(element);  // of the part of a row that a register has, in four lanes
  const unsigned bands = rows / row, steps = depth / width;
  for (unsigned part = 0; part < bands * steps; ++part) {
    const unsigned band = down ? part % bands : part / steps;
    const unsigned step = down ? part / bands : part % steps;
    const auto* from = reinterpret_cast<const std::byte*>(registers + part * lanes);
    double* at = to + band * row * depth + step * width;
    for (unsigned m = 0; m < row; m += 2, from += 32, at += 2 * depth) {
      Doubles numbers;
      if constexpr (width == 4) {
        numbers_at<element>(from, numbers);
        std::memcpy(at, &numbers, sizeof numbers / 2);
        std::memcpy(at + depth, reinterpret_cast<const double*>(&numbers) + 4, sizeof numbers / 2);
      } else {
        for (unsigned n = 0; n < 2 * width; n += row) {
          numbers_at<element>(from + n * bits_of(element) / 8, numbers);
          std::memcpy(at + n / width * depth + n % width, &numbers, sizeof numbers);
        }
      }
    }
  }
}

struct Take {
  template <Element element>
  [[gnu::always_inline]] static void of(const std::uint32_t* registers, unsigned rows, unsigned depth, bool down,
                                        double* to) {
    take<element>(registers, rows, depth, down, to);
  }
};

/// Work::of for the kinds of factors that there are.
template <typename Work, typename... Arguments>
[[gnu::always_inline]] inline void for_kind(Element element, Arguments... arguments) {
  switch (element) {
    case Element::F16:
      return Work::template of<Element::F16>(arguments...);
    case Element::Bf16:
      return Work::template of<Element::Bf16>(arguments...);
    case Element::Tf32:
      return Work::template of<Element::Tf32>(arguments...);
    case Element::E4m3:
      return Work::template of<Element::E4m3>(arguments...);
    case Element::E5m2:
      return Work::template of<Element::E5m2>(arguments...);
    case Element::S8:
      return Work::template of<Element::S8>(arguments...);
    default:
      return Work::template of<Element::U8>(arguments...);
  }
}

// ---- sums: eight rows of eight
// ---------------------------------------------------------------------------------------

/// Two registers have the even and the odd columns of binary32 and of integers, one both columns of halves.
unsigned registers_of_sums(Element element) { return element == Element::F16 ? 1 : 2; }

template <typename Four, typename Wide>
[[gnu::always_inline]] inline void interleaved(const std::uint32_t* from, Wide& values) {
  Four even, odd;
  load(even, from);
  load(odd, from + lanes);
  values = __builtin_shufflevector(even, odd, 0, 4, 1, 5, 2, 6, 3, 7);
}

[[gnu::always_inline]] inline void put_apart(const Words32& values, std::uint32_t* to) {
  const auto even = __builtin_shufflevector(values, values, 0, 2, 4, 6);
  const auto odd = __builtin_shufflevector(values, values, 1, 3, 5, 7);
  std::memcpy(to, &even, sizeof even);
  std::memcpy(to + lanes, &odd, sizeof odd);
}

[[gnu::always_inline]] inline void take_sums(Element element, const std::uint32_t* from, Doubles* sums) {
  for (unsigned m = 0; m < row; ++m, from += 4) {
    if (element == Element::F32) {
      Floats values;
      interleaved<FourFloats>(from, values);
      sums[m] = __builtin_convertvector(values, Doubles);
    } else if (element == Element::S32) {
      Integers32 values;
      interleaved<FourIntegers>(from, values);
      sums[m] = __builtin_convertvector(values, Doubles);
    } else {
      numbers_of_halves(from, sums[m]);
    }
  }
}

/// The nearest halves. A float that keeps in its last bit whether anything was lost rounds to the same half.
[[gnu::always_inline]] inline void halves_of(const Doubles& sums, Words16& halves) {
  const Floats near = __builtin_convertvector(sums, Floats);
  const auto bits_of_sums = reinterpret_cast<Words64>(sums) & 0x7fffffffffffffff;
  const auto magnitude_of_near = reinterpret_cast<Words64>(__builtin_convertvector(near, Doubles)) & 0x7fffffffffffffff;
  const auto is_above = reinterpret_cast<Words64>(magnitude_of_near > bits_of_sums);
  const auto is_inexact = reinterpret_cast<Words64>(magnitude_of_near != bits_of_sums);
  Words32 bits = reinterpret_cast<Words32>(near);
  const Words32 sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  const Words32 odd = (bits + __builtin_convertvector(is_above, Words32)) |  // one down: adds all ones
                      (__builtin_convertvector(is_inexact, Words32) & 1);
  const auto is_nan = reinterpret_cast<Words32>(near != near);
  const Words32 normal = (odd - 0x38000000 + 0xfff + (odd >> 13 & 1)) >> 13;
  const auto lifted = reinterpret_cast<Words32>(reinterpret_cast<Floats>(odd) + 0.5F);  // counts in units of 2^-24
  const auto is_small = reinterpret_cast<Words32>(odd < 0x38800000);
  const auto is_large = reinterpret_cast<Words32>(odd >= 0x477ff000);  // rounds to 65536 or more
  Words32 half;
  choose(is_small, lifted - 0x3f000000, normal, half);
  choose(is_large, Words32{} + 0x7c00, half, half);
  half |= sign;
  choose(is_nan, Words32{} + 0x7fff, half, half);
  halves = __builtin_convertvector(half, Words16);
}

[[gnu::always_inline]] inline void give_sums(const MatrixForm& form, const Doubles* sums, std::uint32_t* to) {
  const Element element = form.d();
  for (unsigned m = 0; m < row; ++m, to += 4) {
    if (element == Element::F32) {
      const Floats rounded = __builtin_convertvector(sums[m], Floats);
      Words32 after;
      choose(reinterpret_cast<Words32>(rounded == rounded), reinterpret_cast<Words32>(rounded), Words32{} + 0x7fffffff,
             after);
      put_apart(after, to);
    } else if (element == Element::S32) {
      Integers64 values = __builtin_convertvector(sums[m], Integers64);
      if (form.has(MatrixForm::saturates)) {
        constexpr std::int64_t most = 0x7fffffff, least = -most - 1;
        values = values > most ? Integers64{} + most : values;
        values = values < least ? Integers64{} + least : values;
      }
      put_apart(__builtin_convertvector(values, Words32), to);
    } else {
      Words16 halves;
      halves_of(sums[m], halves);
      std::memcpy(to, &halves, sizeof halves);
    }
  }
}

// ---- products
// --------------------------------------------------------------------------------------------------------

/// Eight columns of `depth` elements, the next one `depth` further on, as rows of eight.
[[gnu::always_inline]] inline void transpose(const double* columns, unsigned depth, double* rows) {
  for (unsigned k = 0; k < depth; k += 4) {
    using Four = double __attribute__((vector_size(32)));
    for (unsigned half = 0; half < row; half += 4) {
      Four c0, c1, c2, c3;
      load(c0, columns + half * depth + k);
      load(c1, columns + (half + 1) * depth + k);
      load(c2, columns + (half + 2) * depth + k);
      load(c3, columns + (half + 3) * depth + k);
      const Four low01 = __builtin_shufflevector(c0, c1, 0, 4, 2, 6),
                 high01 = __builtin_shufflevector(c0, c1, 1, 5, 3, 7);
      const Four low23 = __builtin_shufflevector(c2, c3, 0, 4, 2, 6),
                 high23 = __builtin_shufflevector(c2, c3, 1, 5, 3, 7);
      const Four made[4] = {
          __builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
          __builtin_shufflevector(low01, low23, 2, 3, 6, 7), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
      for (unsigned n = 0; n < 4; ++n) std::memcpy(rows + (k + n) * row + half, &made[n], sizeof made[n]);
    }
  }
}

[[gnu::always_inline]] inline void multiply(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b,
                                            const std::uint32_t* c, std::uint32_t* d) {
  alignas(64) double left[most_rows * most_depth];
  alignas(64) double columns[most_rows * most_depth];
  alignas(64) double right[row * most_depth];
  const unsigned depth = form.k, bands = form.m / row;
  for_kind<Take>(form.a(), a, form.m, depth, /*down=*/true, left);
  for_kind<Take>(form.b(), b, form.n, depth, /*down=*/false, columns);
  for (unsigned band_of_n = 0; band_of_n * row < form.n; ++band_of_n) {
    transpose(columns + band_of_n * row * depth, depth, right);
    for (unsigned band = 0; band < bands; ++band) {
      const unsigned part = (band_of_n * bands + band) * lanes;
      const double* const rows = left + band * row * depth;
      Doubles sums[row];
      take_sums(form.c(), c + part * registers_of_sums(form.c()), sums);
      for (unsigned k = 0; k < depth; ++k) {
        Doubles of_row;
        load(of_row, right + k * row);
        for (unsigned m = 0; m < row; ++m) sums[m] += rows[m * depth + k] * of_row;
      }
      give_sums(form, sums, d + part * registers_of_sums(form.d()));
    }
  }
}

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]] void multiply_512(
    const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d) {
  multiply(form, a, b, c, d);
}

[[gnu::target("avx2,fma")]] void multiply_256(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b,
                                              const std::uint32_t* c, std::uint32_t* d) {
  multiply(form, a, b, c, d);
}

#endif

void multiply_128(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                  std::uint32_t* d) {
  multiply(form, a, b, c, d);
}

struct TakeChunk {
  template <Element element>
  static void of(const std::byte* chunk, double* to) {
    constexpr unsigned count = 128 / bits_of(element);
    for (unsigned n = 0; n < count; n += row) {
      Doubles numbers;
      if constexpr (count < row) {
        std::byte padded[32] = {};
        std::memcpy(padded, chunk, 16);
        numbers_at<element>(padded, numbers);
        std::memcpy(to, &numbers, count * sizeof *to);
      } else {
        numbers_at<element>(chunk + n * bits_of(element) / 8, numbers);
        std::memcpy(to + n, &numbers, sizeof numbers);
      }
    }
  }
};

bool is_of(Element element, std::initializer_list<Element> kinds) {
  for (const Element kind : kinds)
    if (element == kind) return true;
  return false;
}

}  // namespace

bool has_fragment_product(const MatrixForm& form) {
  if (form.has(MatrixForm::by_quads) || form.has(MatrixForm::is_sparse)) return false;
  const auto factors_are = [&](std::initializer_list<Element> kinds) {
    return is_of(form.a(), kinds) && is_of(form.b(), kinds);
  };
  if (factors_are({Element::S8, Element::U8})) return form.c() == Element::S32 && form.d() == Element::S32;
  const bool is_one_kind = factors_are({Element::F16}) || factors_are({Element::Bf16}) ||
                           factors_are({Element::Tf32}) || factors_are({Element::E4m3, Element::E5m2});
  return is_one_kind && is_of(form.c(), {Element::F32, Element::F16}) && is_of(form.d(), {Element::F32, Element::F16});
}

std::vector<FragmentProduct> fragment_products() {
  std::vector<FragmentProduct> ways;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    ways.push_back(multiply_512);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) ways.push_back(multiply_256);
#endif
  ways.push_back(multiply_128);
  return ways;
}

void numbers_in_chunk(Element element, const void* chunk, double* numbers) {
  for_kind<TakeChunk>(element, static_cast<const std::byte*>(chunk), numbers);
}

void multiply_in_vectors(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                         std::uint32_t* d) {
  static const FragmentProduct best = fragment_products().front();
  best(form, a, b, c, d);
}

}  // namespace cucore::cpu::device_library
