// Products in vectors: see fragment_product.hpp. A register of all lanes is eight rows of a matrix (of B: eight
// columns), each next to the other, so that little has to change places. Products of two such floats are exact in
// binary64, and each sum takes them in order of k: whether an addition is fused with its product changes no bit.
#include "cpu/device_library/fragment_product.hpp"

#include <cstddef>
#include <cstring>

namespace cucore::cpu::device_library {
namespace {

using analysis::Element;
using analysis::MatrixForm;

constexpr unsigned lanes = 32;
constexpr unsigned row = 8;
constexpr unsigned most_rows = 32, most_depth = 16;

using Doubles = double __attribute__((vector_size(64)));
using Words64 = std::uint64_t __attribute__((vector_size(64)));
using Words32 = std::uint32_t __attribute__((vector_size(32)));
using Words16 = std::uint16_t __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(32)));

template <typename Vector>
[[gnu::always_inline]] inline void load(Vector& to, const void* from) {
  std::memcpy(&to, from, sizeof to);
}

/// Eight elements from `from` on as numbers.
template <Element element>
[[gnu::always_inline]] inline void numbers_at(const std::uint32_t* from, Doubles& numbers) {
  if constexpr (element == Element::F16) {
    Words16 halves;
    load(halves, from);
    const Words64 bits = __builtin_convertvector(halves, Words64);
    const Words64 magnitude = (bits & 0x7fff) << 42;  // the fields of a half in those of a double: 2^1008 too small
    const Words64 is_highest = reinterpret_cast<Words64>((bits & 0x7c00) == 0x7c00);
    const Words64 scaled = reinterpret_cast<Words64>(reinterpret_cast<Doubles>(magnitude) * 0x1p1008);
    const Words64 highest = magnitude | 0x7ff0000000000000;  // an infinity or a NaN
    numbers = reinterpret_cast<Doubles>((is_highest & highest) | (~is_highest & scaled) | (bits & 0x8000) << 48);
  } else {
    Words32 floats;
    if constexpr (element == Element::Bf16) {
      Words16 halves;
      load(halves, from);
      floats = __builtin_convertvector(halves, Words32) << 16;
    } else {
      load(floats, from);
      floats &= 0xffffe000;  // the low bits are not looked at
    }
    numbers = __builtin_convertvector(reinterpret_cast<Floats>(floats), Doubles);
  }
}

/// A or B, row after row: of B they are its columns. Registers go down the rows first if `down`.
template <Element element>
[[gnu::always_inline]] inline void take(const std::uint32_t* registers, unsigned rows, unsigned depth, bool down,
                                        double* to) {
  constexpr unsigned width = element == Element::Tf32 ? 4 : 8;  // of the part of a row that a register has
  const unsigned bands = rows / row, steps = depth / width;
  for (unsigned part = 0; part < bands * steps; ++part) {
    const unsigned band = down ? part % bands : part / steps;
    const unsigned step = down ? part / bands : part % steps;
    for (unsigned n = 0; n < lanes; n += width == 8 ? 4 : 8) {
      Doubles numbers;
      numbers_at<element>(registers + part * lanes + n, numbers);
      double* const at = to + (band * row + n / 4) * depth + step * width;
      if constexpr (width == 8) {
        std::memcpy(at, &numbers, sizeof numbers);
      } else {
        std::memcpy(at, &numbers, sizeof numbers / 2);
        std::memcpy(at + depth, reinterpret_cast<const double*>(&numbers) + 4, sizeof numbers / 2);
      }
    }
  }
}

/// Eight rows and columns of sums. The even columns come first, as two registers have them.
[[gnu::always_inline]] inline void add_products(const double* a, const double* b, unsigned depth,
                                                const std::uint32_t* c, std::uint32_t* d) {
  Doubles sums[row];
  for (unsigned m = 0; m < row; ++m) {
    Floats before;
    std::memcpy(&before, c + 4 * m, 16);
    std::memcpy(reinterpret_cast<std::byte*>(&before) + 16, c + lanes + 4 * m, 16);
    sums[m] = __builtin_convertvector(before, Doubles);
  }
  for (unsigned k = 0; k < depth; ++k) {
    Doubles right;
    load(right, b + k * row);
    for (unsigned m = 0; m < row; ++m) sums[m] += a[m * depth + k] * right;
  }
  for (unsigned m = 0; m < row; ++m) {
    const Floats rounded = __builtin_convertvector(sums[m], Floats);
    const Words32 is_number = reinterpret_cast<Words32>(rounded == rounded);
    const Words32 after = (reinterpret_cast<Words32>(rounded) & is_number) | (~is_number & 0x7fffffff);
    std::memcpy(d + 4 * m, &after, 16);
    std::memcpy(d + lanes + 4 * m, reinterpret_cast<const std::byte*>(&after) + 16, 16);
  }
}

template <Element element>
[[gnu::always_inline]] inline void multiply(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b,
                                            const std::uint32_t* c, std::uint32_t* d) {
  alignas(64) double left[most_rows * most_depth];
  alignas(64) double columns[most_rows * most_depth];
  alignas(64) double right[row * most_depth];
  const unsigned depth = form.k, bands = form.m / row;
  take<element>(a, form.m, depth, /*down=*/true, left);
  take<element>(b, form.n, depth, /*down=*/false, columns);
  for (unsigned band_of_n = 0; band_of_n * row < form.n; ++band_of_n) {
    for (unsigned n = 0; n < row; ++n) {
      const double* const column = columns + (band_of_n * row + (n % 4) * 2 + n / 4) * depth;
      for (unsigned k = 0; k < depth; ++k) right[k * row + n] = column[k];
    }
    for (unsigned band = 0; band < bands; ++band) {
      const unsigned first = 2 * (band_of_n * bands + band) * lanes;
      add_products(left + band * row * depth, right, depth, c + first, d + first);
    }
  }
}

[[gnu::always_inline]] inline void multiply_kind(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b,
                                                 const std::uint32_t* c, std::uint32_t* d) {
  switch (form.a()) {
    case Element::F16:
      return multiply<Element::F16>(form, a, b, c, d);
    case Element::Bf16:
      return multiply<Element::Bf16>(form, a, b, c, d);
    default:
      return multiply<Element::Tf32>(form, a, b, c, d);
  }
}

[[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]] void multiply_512(
    const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d) {
  multiply_kind(form, a, b, c, d);
}

[[gnu::target("avx2,fma")]] void multiply_256(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b,
                                              const std::uint32_t* c, std::uint32_t* d) {
  multiply_kind(form, a, b, c, d);
}

void multiply_128(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                  std::uint32_t* d) {
  multiply_kind(form, a, b, c, d);
}

}  // namespace

bool has_fragment_product(const MatrixForm& form) {
  const bool is_of_kind =
      form.a() == form.b() && (form.a() == Element::F16 || form.a() == Element::Bf16 || form.a() == Element::Tf32);
  return is_of_kind && form.c() == Element::F32 && form.d() == Element::F32 && !form.has(MatrixForm::by_quads) &&
         !form.has(MatrixForm::is_sparse);
}

std::vector<FragmentProduct> fragment_products() {
  std::vector<FragmentProduct> ways;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    ways.push_back(multiply_512);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) ways.push_back(multiply_256);
  ways.push_back(multiply_128);
  return ways;
}

void multiply_in_vectors(const MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                         std::uint32_t* d) {
  static const FragmentProduct best = fragment_products().front();
  best(form, a, b, c, d);
}

}  // namespace cucore::cpu::device_library
