// Products of matrices for the checker of numbers: see product_numbers.hpp.
#include "cpu/device_library/product_numbers.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/device_library/element_values.hpp"

namespace cucore::cpu::device_library {

using analysis::bits_of;
using analysis::Element;
using analysis::is_integer;
using analysis::MatrixForm;
using analysis::MatrixRole;

namespace {

/// The distance in powers of two between addend and sum from which on the checker may have something to say.
int cancelled_bits(Element element) { return element == Element::F64 ? 51 : element == Element::F32 ? 22 : 9; }
double smallest_normal(Element element) {
  return std::ldexp(1, element == Element::F64 ? -1022 : element == Element::F32 ? -126 : -14);
}

/// Whether an element of a product is worth a look of the checker of numbers.
bool is_notable(Element element, double addend, double sum) {
  if (sum == 0) return false;
  return !std::isfinite(sum) || std::fabs(sum) < smallest_normal(element) ||
         std::fabs(addend) > std::ldexp(std::fabs(sum), cancelled_bits(element));
}

/// The same of patterns, but perhaps true for nothing.
template <typename Word, unsigned fraction, unsigned exponent>
bool may_be_notable(Word addend, Word sum, int cancelled) {
  constexpr Word size = (Word{1} << (fraction + exponent)) - 1;
  constexpr Word infinity = ((Word{1} << exponent) - 1) << fraction;
  constexpr Word first = Word{1} << fraction;
  const Word plain = sum & size;
  const bool is_special = static_cast<Word>(plain - first) >= static_cast<Word>(infinity - first);
  const auto most = static_cast<Word>(static_cast<Word>(cancelled) << fraction);
  const Word before = addend & size;
  return plain != 0 && (is_special || (before > plain && static_cast<Word>(before - plain) > most));
}

}  // namespace

bool may_be_notable(const MatrixForm& form, const void* c, const void* d, std::size_t registers) {
  const bool has_addend = form.c() == form.d();
  const auto any = [&]<typename Word>(Word, std::size_t count, const auto& question) {
    bool found = false;
    for (std::size_t n = 0; n < count; ++n) {
      Word sum = 0;
      Word addend = 0;
      std::memcpy(&sum, static_cast<const std::byte*>(d) + n * sizeof sum, sizeof sum);
      if (has_addend) std::memcpy(&addend, static_cast<const std::byte*>(c) + n * sizeof sum, sizeof sum);
      found |= question(addend, sum, cancelled_bits(form.d()));
    }
    return found;
  };
  if (form.d() == Element::F64) return any(std::uint64_t{}, registers, may_be_notable<std::uint64_t, 52, 11>);
  if (form.d() == Element::F32) return any(std::uint32_t{}, registers, may_be_notable<std::uint32_t, 23, 8>);
  return any(std::uint16_t{}, 2 * registers, may_be_notable<std::uint16_t, 10, 5>);
}

namespace {

/// Tells the checker of numbers what a product was made of and what it is.
template <typename Chosen>
void tell_of_product(void* const* lanes, const MatrixForm& form, const BlockState* block, std::uint32_t first,
                     std::uint32_t line, const Chosen& chosen) {
  const auto held = [&](std::uint32_t lane) { return static_cast<const WarpMultiplication*>(lanes[lane]); };
  const auto is_here = [&](std::uint32_t lane) { return chosen(lane) && lanes[lane] != nullptr; };
  std::vector<double> a(std::size_t{form.m} * form.stored_k());
  std::vector<double> b(std::size_t{form.k} * form.n);
  std::vector<double> c(std::size_t{form.m} * form.n), d(c.size());
  const auto gather = [&](MatrixRole role, Element element, std::vector<double>& to, auto registers) {
    for_each_element(form, role, element, is_here, [&](std::uint32_t lane, std::uint32_t index, std::uint32_t place) {
      to[place] = value_at<double>(element, registers(*held(lane)), index);
    });
  };
  using Held = WarpMultiplication;
  gather(MatrixRole::Accumulator, form.d(), d, [](const Held& own) -> const void* { return own.d; });
  gather(MatrixRole::Accumulator, form.c(), c, [](const Held& own) { return own.c; });
  bool is_worth_it = false;
  for (std::size_t n = 0; n < d.size(); ++n) is_worth_it = is_worth_it || is_notable(form.d(), c[n], d[n]);
  if (!is_worth_it) return;
  gather(MatrixRole::A, form.a(), a, [](const Held& own) { return own.a; });
  gather(MatrixRole::B, form.b(), b, [](const Held& own) { return own.b; });
  std::vector<std::uint32_t> rows;
  if (form.has(MatrixForm::is_sparse)) rows = rows_of_sparse(lanes, form);
  block->launch->checks->products(block, first, line,
                                  {.m = form.m,
                                   .n = form.n,
                                   .k = form.stored_k(),
                                   .a = a.data(),
                                   .b = b.data(),
                                   .c = c.data(),
                                   .d = d.data(),
                                   .rows_of_b = rows.empty() ? nullptr : rows.data(),
                                   .bits_of_d = bits_of(form.d())});
}

}  // namespace

void tell_of_products(void* const* lanes, const MatrixForm& form, const BlockState* block, std::uint32_t first,
                      std::uint32_t line) {
  if (is_integer(form.a())) return;
  if (!form.has(MatrixForm::by_quads))
    return tell_of_product(lanes, form, block, first, line, [](std::uint32_t) { return true; });
  for (std::uint32_t quad = 0; quad < 4; ++quad)
    tell_of_product(lanes, form, block, first, line, [quad](std::uint32_t lane) { return lane % 16 / 4 == quad; });
}

}  // namespace cucore::cpu::device_library
