// The ways to multiply fragments in vectors give what the definition says, bit by bit, whichever a processor takes.
#include "cpu/device_library/fragment_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "cpu/device_library/element_values.hpp"

namespace cucore::cpu::device_library {
namespace {

using analysis::Element;
using analysis::MatrixForm;
using analysis::MatrixRole;
using analysis::Place;

constexpr unsigned lanes = 32;
using Registers = std::vector<std::uint32_t>;

unsigned registers_of(const MatrixForm& form, MatrixRole role, Element element) {
  return elements_of(form, role) * analysis::bits_of(element) / 32;
}

// Bits of all kinds, and, every second time, numbers near 1, whose sums round.
Registers some_registers(unsigned count, Element element, std::mt19937& random) {
  Registers registers(std::size_t{count} * lanes);
  const bool any_bits = random() % 2 == 0;
  for (std::uint32_t& word : registers) {
    word = static_cast<std::uint32_t>(random());
    if (any_bits) continue;
    if (element == Element::F16) word = (word & 0x83ff83ff) | 0x3c003c00;
    if (element == Element::Bf16) word = (word & 0x807f807f) | 0x3f803f80;
    if (element == Element::E4m3) word = (word & 0x87878787) | 0x38383838;
    if (element == Element::Tf32 || element == Element::F32) word = (word & 0x807fffff) | 0x3f800000;
  }
  return registers;
}

// Calls visit(pattern, place) for each element of a matrix in registers; what visit leaves in the pattern stays.
template <typename Visit>
void for_each_element(const MatrixForm& form, MatrixRole role, Element element, Registers& registers,
                      const Visit& visit) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned index = 0; index < elements_of(form, role); ++index) {
      const unsigned packed = 32 / analysis::bits_of(element);
      void* const word = &registers[index / packed * lanes + lane];
      std::uint64_t pattern = pattern_at(word, analysis::bits_of(element), index % packed);
      visit(pattern, place_of(form, role, element, lane, index));
      put_pattern(word, analysis::bits_of(element), index % packed, pattern);
    }
  }
}

// As the definition has it: products and sums in order of k, in binary64 or whole numbers, and one rounding.
Registers product(const MatrixForm& form, Registers a, Registers b, Registers c) {
  const bool is_whole = is_integer(form.a());
  double left[32][32], right[32][32], sums[32][32];
  const auto value = [](Element element, std::uint64_t pattern) {
    return is_integer(element) ? to_integer(element, pattern) : to_real(element, pattern);
  };
  for_each_element(form, MatrixRole::A, form.a(), a,
                   [&](auto& bits, Place at) { left[at.row][at.column] = value(form.a(), bits); });
  for_each_element(form, MatrixRole::B, form.b(), b,
                   [&](auto& bits, Place at) { right[at.row][at.column] = value(form.b(), bits); });
  for_each_element(form, MatrixRole::Accumulator, form.c(), c,
                   [&](auto& bits, Place at) { sums[at.row][at.column] = value(form.c(), bits); });
  Registers d(std::size_t{registers_of(form, MatrixRole::Accumulator, form.d())} * lanes);
  for_each_element(form, MatrixRole::Accumulator, form.d(), d, [&](auto& bits, Place at) {
    double sum = sums[at.row][at.column];
    for (unsigned k = 0; k < form.k; ++k) {
      const double exact = left[at.row][k] * right[k][at.column];
      sum += exact;
    }
    if (!is_whole) {
      bits = from_real(form.d(), sum);
      return;
    }
    auto whole = static_cast<std::int64_t>(sum);
    using Limits = std::numeric_limits<std::int32_t>;
    if (form.has(MatrixForm::saturates)) whole = std::clamp<std::int64_t>(whole, Limits::min(), Limits::max());
    bits = static_cast<std::uint32_t>(whole);
  });
  return d;
}

struct Kind {
  Element a, b, c, d;
  std::uint8_t flags = 0;
};
struct Shape {
  std::uint8_t m, n;
  std::uint16_t k;
};

void expect_right(const Kind& kind, const Shape& shape) {
  static std::mt19937 random(1);
  const auto two = [](Element low, Element high) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(low) | static_cast<unsigned>(high) << 4);
  };
  const MatrixForm form{.m = shape.m,
                        .n = shape.n,
                        .k = shape.k,
                        .factors = two(kind.a, kind.b),
                        .accumulators = two(kind.c, kind.d),
                        .flags = kind.flags};
  ASSERT_TRUE(has_fragment_product(form));
  for (int round = 0; round < 40; ++round) {
    const Registers a = some_registers(registers_of(form, MatrixRole::A, kind.a), kind.a, random);
    const Registers b = some_registers(registers_of(form, MatrixRole::B, kind.b), kind.b, random);
    const Registers c = some_registers(registers_of(form, MatrixRole::Accumulator, kind.c), kind.c, random);
    const Registers expected = product(form, a, b, c);
    for (const FragmentProduct way : fragment_products()) {
      Registers found(expected.size());
      way(form, a.data(), b.data(), c.data(), found.data());
      ASSERT_EQ(expected, found) << 'm' << int{shape.m} << 'n' << int{shape.n} << 'k' << shape.k << " of "
                                 << static_cast<int>(kind.a) << ',' << static_cast<int>(kind.b) << ','
                                 << static_cast<int>(kind.c) << ',' << static_cast<int>(kind.d);
    }
  }
}

TEST(FragmentProduct, all_ways_give_the_bits_of_the_definition) {
  using enum Element;
  for (const Kind& kind : {Kind{F16, F16, F32, F32}, Kind{F16, F16, F16, F16}, Kind{F16, F16, F16, F32},
                           Kind{F16, F16, F32, F16}, Kind{Bf16, Bf16, F32, F32}}) {
    for (const Shape& shape :
         {Shape{16, 8, 8}, Shape{16, 8, 16}, Shape{16, 16, 16}, Shape{32, 8, 16}, Shape{8, 32, 16}})
      expect_right(kind, shape);
  }
  for (const Shape& shape : {Shape{16, 8, 4}, Shape{16, 8, 8}, Shape{16, 16, 8}})
    expect_right({Tf32, Tf32, F32, F32}, shape);
  for (const Kind& kind : {Kind{E4m3, E4m3, F32, F32}, Kind{E5m2, E4m3, F32, F32}, Kind{E4m3, E5m2, F16, F16}}) {
    for (const Shape& shape : {Shape{16, 8, 16}, Shape{16, 8, 32}}) expect_right(kind, shape);
  }
  for (const Kind& kind :
       {Kind{S8, S8, S32, S32}, Kind{U8, S8, S32, S32}, Kind{S8, U8, S32, S32, MatrixForm::saturates},
        Kind{U8, U8, S32, S32, MatrixForm::saturates}}) {
    for (const Shape& shape :
         {Shape{8, 8, 16}, Shape{16, 8, 16}, Shape{16, 8, 32}, Shape{16, 16, 16}, Shape{32, 8, 16}, Shape{8, 32, 16}})
      expect_right(kind, shape);
  }
}

}  // namespace
}  // namespace cucore::cpu::device_library
