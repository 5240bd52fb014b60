// Reductions of a tensor's elements: see tensor_reduction.hpp.
#include "cpu/codegen/tensor_reduction.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>

#include "cpu/codegen/element_values.hpp"

namespace cucore::cpu::codegen {

namespace {

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

template <typename Word, typename Real>
void add_reals(std::byte* element, const std::byte* operand) {
  const auto value = std::bit_cast<Real>(read<Word>(operand));
  replace<Word>(element, [&](Word old) { return std::bit_cast<Word>(std::bit_cast<Real>(old) + value); });
}

/// The sum of two halves in binary64 is exact, or rounded so far down that its second rounding is the only one.
void add_halves(std::byte* element, const std::byte* operand, Element format) {
  const double value = to_real(format, read<std::uint16_t>(operand));
  replace<std::uint16_t>(element, [&](std::uint16_t old) {
    return static_cast<std::uint16_t>(from_real(format, to_real(format, old) + value));
  });
}

}  // namespace

bool can_combine(TensorElement type, Reduction operation) {
  switch (type) {
    case TensorElement::F16:
    case TensorElement::Bf16:
    case TensorElement::F32:
    case TensorElement::F64:
      return operation == Reduction::Add;
    case TensorElement::U32:
      return true;
    case TensorElement::S32:
    case TensorElement::U64:
    case TensorElement::S64:
      return operation != Reduction::Inc && operation != Reduction::Dec;
    default:
      return false;
  }
}

void combine(std::byte* element, const std::byte* operand, TensorElement type, Reduction operation) {
  switch (type) {
    case TensorElement::F16:
      return add_halves(element, operand, Element::F16);
    case TensorElement::Bf16:
      return add_halves(element, operand, Element::Bf16);
    case TensorElement::F32:
      return add_reals<std::uint32_t, float>(element, operand);
    case TensorElement::F64:
      return add_reals<std::uint64_t, double>(element, operand);
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

}  // namespace cucore::cpu::codegen
