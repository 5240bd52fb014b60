// The ways to multiply fragments in vectors give the same bits, whichever a processor takes.
#include "cpu/device_library/fragment_product.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cucore::cpu::device_library {
namespace {

using analysis::Element;
using analysis::MatrixForm;

constexpr unsigned lanes = 32;
using Registers = std::vector<std::uint32_t>;

unsigned registers_of(unsigned elements, Element element) { return elements * analysis::bits_of(element) / 32 / lanes; }

// Bits of all kinds, and, every second time, numbers near 1, whose sums round.
Registers some_registers(unsigned count, Element element, std::mt19937& random) {
  Registers registers(std::size_t{count} * lanes);
  const bool any_bits = random() % 2 == 0;
  for (std::uint32_t& word : registers) {
    word = static_cast<std::uint32_t>(random());
    if (any_bits) continue;
    if (element == Element::F16) word = (word & 0x83ff83ff) | 0x3c003c00;
    if (element == Element::Bf16) word = (word & 0x807f807f) | 0x3f803f80;
    if (element == Element::Tf32 || element == Element::F32) word = (word & 0x807fffff) | 0x3f800000;
  }
  return registers;
}

TEST(FragmentProduct, all_ways_give_the_same_bits) {
  const std::vector<FragmentProduct> ways = fragment_products();
  std::mt19937 random(1);
  struct Shape {
    std::uint8_t m, n;
    std::uint16_t k;
    Element element;
  };
  constexpr Shape shapes[] = {{16, 8, 8, Element::F16},   {16, 8, 16, Element::F16},   {16, 16, 16, Element::F16},
                              {32, 8, 16, Element::F16},  {8, 32, 16, Element::F16},   {16, 8, 8, Element::Bf16},
                              {16, 8, 16, Element::Bf16}, {16, 16, 16, Element::Bf16}, {32, 8, 16, Element::Bf16},
                              {8, 32, 16, Element::Bf16}, {16, 8, 4, Element::Tf32},   {16, 8, 8, Element::Tf32},
                              {16, 16, 8, Element::Tf32}};
  for (const Shape& shape : shapes) {
    const auto element = static_cast<unsigned>(shape.element);
    const auto sum = static_cast<unsigned>(Element::F32);
    const MatrixForm form{.m = shape.m,
                          .n = shape.n,
                          .k = shape.k,
                          .factors = static_cast<std::uint8_t>(element | element << 4),
                          .accumulators = static_cast<std::uint8_t>(sum | sum << 4)};
    ASSERT_TRUE(has_fragment_product(form));
    for (int round = 0; round < 50; ++round) {
      const Registers a = some_registers(registers_of(shape.m * shape.k, shape.element), shape.element, random);
      const Registers b = some_registers(registers_of(shape.n * shape.k, shape.element), shape.element, random);
      const Registers c = some_registers(registers_of(shape.m * shape.n, Element::F32), Element::F32, random);
      Registers first(c.size());
      ways.front()(form, a.data(), b.data(), c.data(), first.data());
      for (std::size_t way = 1; way < ways.size(); ++way) {
        Registers other(c.size());
        ways[way](form, a.data(), b.data(), c.data(), other.data());
        ASSERT_EQ(first, other) << "way " << way << " of m" << int{shape.m} << 'n' << int{shape.n} << 'k' << shape.k;
      }
    }
  }
}

}  // namespace
}  // namespace cucore::cpu::device_library
