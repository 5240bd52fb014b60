// Which instructions make floating-point numbers that the checker looks at (check_class::number_checks), and what is
// known of each before it runs: checked code asks a cheap question of the numbers, the run-time judges them by the same
// description.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"
#include "cpu/ptx/tree/register_uses.hpp"

namespace cucore::cpu::analysis {

enum class NumberOperation : std::uint8_t {
  Add,
  Subtract,
  Multiply,
  MultiplyAdd,
  Divide,
  Reciprocal,
  SquareRoot,
  ReciprocalSquareRoot,
  Exponential,
  Logarithm,
  Sine,
  Cosine,
  HyperbolicTangent,
  Convert,
  Load,
  Store
};

enum class NumberFormat : std::uint8_t { Unsigned, Signed, F16, Bf16, F32, F64, E4m3, E5m2 };

constexpr unsigned bits_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::F64:
      return 64;
    case NumberFormat::F32:
      return 32;
    case NumberFormat::E4m3:
    case NumberFormat::E5m2:
      return 8;
    default:
      return 16;
  }
}

/// Bits of the fraction, without the one that is not stored.
constexpr unsigned fraction_bits(NumberFormat format) {
  switch (format) {
    case NumberFormat::F64:
      return 52;
    case NumberFormat::F32:
      return 23;
    case NumberFormat::F16:
      return 10;
    case NumberFormat::Bf16:
      return 7;
    case NumberFormat::E4m3:
      return 3;
    default:
      return 2;
  }
}

/// A sum is a catastrophic cancellation if it has at most this many of its format's bits left.
constexpr unsigned most_bits_left = 2;
/// The distance of the exponents of operand and sum that says so.
constexpr unsigned cancelled_bits(NumberFormat format) { return fraction_bits(format) + 1 - most_bits_left; }

/// What an instruction does with numbers; 64 bits, as which it stands in marks.
struct NumberTest {
  static constexpr std::uint8_t flushes = 1;     ///< .ftz
  static constexpr std::uint8_t may_cancel = 2;  ///< a sum of rounded numbers
  static constexpr std::uint8_t by_operand = 4;  ///< packed elements come from operands of their own, the low one first
  static constexpr std::uint8_t saturates = 8;   ///< beyond the largest number there is none

  NumberOperation operation{};
  NumberFormat result{};
  NumberFormat source{};
  std::uint8_t elements = 1;  ///< packed in a register
  std::uint8_t flags = 0;
  std::uint8_t unused[3] = {};

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(*this); }
};
static_assert(sizeof(NumberTest) == 8);

struct NumberCheck {
  NumberTest test;
  ptx::Type result{};                  ///< as which the result operand is read
  ptx::Type source{};                  ///< and the others
  std::vector<std::uint8_t> operands;  ///< those that it computes with, by their place in the instruction
};

/// A literal NaN or infinity.
bool is_spelt_special(const ptx::Operand& operand);

/// Nothing if the instruction makes no numbers that are looked at, or one of its operands is spelt as NaN or infinity.
std::optional<NumberCheck> number_check_of(const ptx::Instruction& instruction);

/// A result that only counts if a later instruction chooses it.
struct ChosenLater {
  std::uint32_t producer;
  bool if_true;  ///< of the predicate
};

/// The checks of one function.
class NumberChecks {
 public:
  explicit NumberChecks(const ptx::Function& function);

  /// Of the instruction itself, where it stands; of loads and stores none.
  const NumberCheck* at(std::uint32_t instruction) const;
  /// What is looked at where this selp stands: compilers compute both sides of a choice.
  const std::vector<ChosenLater>* chosen_at(std::uint32_t selp) const;
  /// Whatever it is for.
  const NumberCheck* any_at(std::uint32_t instruction) const;
  /// The format in which a register is computed with, and how many numbers are in it; nothing if it is no float.
  std::optional<NumberTest> format_of(ptx::RegisterId id) const { return formats_[id]; }

 private:
  void find_choices(const ptx::Function& function, const ptx::RegisterUses& uses);
  void find_formats(const ptx::Function& function);

  std::vector<std::optional<NumberCheck>> checks_;  ///< by instruction
  std::vector<bool> is_chosen_later_;
  std::map<std::uint32_t, std::vector<ChosenLater>> choices_;
  std::vector<std::optional<NumberTest>> formats_;  ///< by register
};

}  // namespace cucore::cpu::analysis
