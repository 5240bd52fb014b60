// Arithmetic of strides: see stride.hpp.
#include "cpu/compiler/vector/analysis/stride.hpp"

#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <bit>

namespace cucore::cpu::compiler {
namespace {

Span both(Span a, Span b) { return a.holds && b.holds ? Span{true, std::min(a.zeros, b.zeros)} : Span{}; }

bool is_power(std::int64_t stride) { return stride > 0 && std::has_single_bit(static_cast<std::uint64_t>(stride)); }

}  // namespace

std::int64_t wrapped(std::uint64_t stride, unsigned width) {
  return width >= 64 ? static_cast<std::int64_t>(stride) : llvm::SignExtend64(stride, width);
}

unsigned log2_of(std::uint64_t value) { return static_cast<unsigned>(std::countr_zero(value)); }

Stride join(Stride a, Stride b) {
  if (a.kind == Stride::Kind::Unknown) return b;
  if (b.kind == Stride::Kind::Unknown) return a;
  const unsigned zeros = std::min(a.zeros, b.zeros);
  if (a.is_varying() || b.is_varying() || a.step != b.step) return Stride::varying();
  if (a.is_uniform() && b.is_uniform()) return Stride::uniform(zeros);
  return Stride::strided(a.step, zeros, both(a.warp, b.warp), both(a.group, b.group));
}

Stride sum(Stride a, Stride b, int sign, unsigned width) {
  if (a.kind == Stride::Kind::Unknown || b.kind == Stride::Kind::Unknown) return {};
  if (a.is_varying() || b.is_varying()) return Stride::varying();
  const std::uint64_t stride =
      static_cast<std::uint64_t>(a.step) + static_cast<std::uint64_t>(sign) * static_cast<std::uint64_t>(b.step);
  return Stride::strided(wrapped(stride, width), std::min(a.zeros, b.zeros), both(a.warp, b.warp),
                         both(a.group, b.group));
}

unsigned bits_between(const Stride& stride, Span span, unsigned lanes) {
  if (!stride.is_strided() || !is_power(stride.step) || !span.holds || !std::has_single_bit(lanes)) return 0;
  const unsigned bits = log2_of(static_cast<std::uint64_t>(stride.step)) + log2_of(lanes);
  return span.zeros >= bits ? bits : 0;
}

Stride scaled(const Stride& a, std::uint64_t factor, unsigned width) {
  const unsigned more = factor != 0 ? log2_of(factor) : 0;
  auto with_more = [&](unsigned zeros) { return std::min(zeros + more, 63U); };
  return Stride::strided(wrapped(static_cast<std::uint64_t>(a.step) * factor, width), with_more(a.zeros),
                         {a.warp.holds, with_more(a.warp.zeros)}, {a.group.holds, with_more(a.group.zeros)});
}

}  // namespace cucore::cpu::compiler
