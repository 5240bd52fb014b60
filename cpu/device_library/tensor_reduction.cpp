// Reductions of a tensor's elements: see tensor_reduction.hpp.
#include "cpu/device_library/tensor_reduction.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "cpu/device_library/element_values.hpp"

namespace cucore::cpu::device_library {
namespace {

using analysis::Element;

template <typename Word, typename Update>
void replace(std::byte* element, const Update& update) {
  const std::atomic_ref<Word> word(*reinterpret_cast<Word*>(element));
  Word old = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(old, update(old), std::memory_order_relaxed)) {
  }
}

template <typename Word>
Word read(const std::byte* at) {
  Word value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename Integer>
Integer combined(Integer old, Integer operand, Reduction operation) {
  using Bits = std::make_unsigned_t<Integer>;
  switch (operation) {
    case Reduction::Add:
      return static_cast<Integer>(static_cast<Bits>(old) + static_cast<Bits>(operand));
    case Reduction::Min:
      return std::min(old, operand);
    case Reduction::Max:
      return std::max(old, operand);
    case Reduction::Inc:
      return old >= operand ? Integer{0} : static_cast<Integer>(old + 1);
    case Reduction::Dec:
      return old == 0 || old > operand ? operand : static_cast<Integer>(old - 1);
    case Reduction::And:
      return old & operand;
    case Reduction::Or:
      return old | operand;
    case Reduction::Xor:
      return old ^ operand;
  }
  return old;
}

template <typename Integer>
void combine_integers(std::byte* element, const std::byte* operand, Reduction operation) {
  const auto value = read<Integer>(operand);
  replace<Integer>(element, [&](Integer old) { return combined(old, value, operation); });
}

/// Zero of its sign for a subnormal value.
float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value; }

void add_floats(std::byte* element, const std::byte* operand, bool flushes) {
  const auto value = [&](std::uint32_t bits) {
    return flushes ? flushed(std::bit_cast<float>(bits)) : std::bit_cast<float>(bits);
  };
  const float addend = value(read<std::uint32_t>(operand));
  replace<std::uint32_t>(element, [&](std::uint32_t old) {
    const float sum = value(old) + addend;
    return static_cast<std::uint32_t>(from_real(Element::F32, static_cast<double>(flushes ? flushed(sum) : sum)));
  });
}

void add_doubles(std::byte* element, const std::byte* operand) {
  const auto bits = read<std::uint64_t>(operand);
  const auto addend = std::bit_cast<double>(bits);
  replace<std::uint64_t>(element, [&](std::uint64_t old) {
    const auto value = std::bit_cast<double>(old);
    if (std::isnan(addend)) return bits;
    return std::isnan(value) ? old : std::bit_cast<std::uint64_t>(value + addend);
  });
}

/// Of two halves or bfloats; the sum of two in binary64 is exact, or rounded so far down that its second rounding is
/// the only one.
double combined(double old, double operand, Reduction operation) {
  if (operation == Reduction::Add) return old + operand;
  if (std::isnan(old)) return operand;
  if (std::isnan(operand)) return old;
  const bool is_below = operand < old || (operand == old && std::signbit(operand));
  return is_below == (operation == Reduction::Min) ? operand : old;
}

void combine_halves(std::byte* element, const std::byte* operand, Element format, Reduction operation) {
  const double value = to_real(format, read<std::uint16_t>(operand));
  replace<std::uint16_t>(element, [&](std::uint16_t old) {
    return static_cast<std::uint16_t>(from_real(format, combined(to_real(format, old), value, operation)));
  });
}

}  // namespace

bool can_combine(TensorElement type, Reduction operation) {
  switch (type) {
    case TensorElement::F16:
    case TensorElement::Bf16:
      return operation == Reduction::Add || operation == Reduction::Min || operation == Reduction::Max;
    case TensorElement::F32:
    case TensorElement::F32Ftz:
    case TensorElement::Tf32:
    case TensorElement::Tf32Ftz:
    case TensorElement::F64:
      return operation == Reduction::Add;
    case TensorElement::U32:
      return true;
    case TensorElement::S32:
    case TensorElement::U64:
      return operation != Reduction::Inc && operation != Reduction::Dec;
    case TensorElement::S64:
      return operation == Reduction::Min || operation == Reduction::Max;
    default:
      return false;
  }
}

void combine(std::byte* element, const std::byte* operand, TensorElement type, Reduction operation) {
  switch (type) {
    case TensorElement::F16:
      return combine_halves(element, operand, Element::F16, operation);
    case TensorElement::Bf16:
      return combine_halves(element, operand, Element::Bf16, operation);
    case TensorElement::F32:
    case TensorElement::Tf32:
      return add_floats(element, operand, false);
    case TensorElement::F32Ftz:
    case TensorElement::Tf32Ftz:
      return add_floats(element, operand, true);
    case TensorElement::F64:
      return add_doubles(element, operand);
    case TensorElement::U32:
      return combine_integers<std::uint32_t>(element, operand, operation);
    case TensorElement::S32:
      return combine_integers<std::int32_t>(element, operand, operation);
    case TensorElement::U64:
      return combine_integers<std::uint64_t>(element, operand, operation);
    default:
      return combine_integers<std::int64_t>(element, operand, operation);
  }
}

}  // namespace cucore::cpu::device_library
