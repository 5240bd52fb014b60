// What generators require of arithmetic: of its kinds of numbers, comparisons and conversions. See requirements.hpp.
#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/instructions/requirements.hpp"

namespace cucore::cpu::analysis::requirements {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using M = ptx::Modifier;
using O = ptx::Opcode;
using T = ptx::Type;

Result<void> names_half(const Instruction& i) {
  return require(i.has(M::Lo) || i.has(M::Hi) || i.has(M::Wide), "needs .lo, .hi or .wide");
}

Result<void> integer_multiply(const Instruction& i) {
  if (i.has(M::Wide) && size_in_bytes(i.type()) == 8) return not_supported("no .wide of a 64-bit type");
  if (i.has(M::Sat) && !(i.has(M::Hi) && i.type() == T::S32)) return not_supported(".sat needs .hi.s32");
  return names_half(i);
}

Result<void> saturating_add(const Instruction& i) {
  return require(!i.has(M::Sat) || i.type() == T::S32, ".sat needs .s32");
}

Result<void> single_precision_modifiers(const Instruction& i) {
  const bool single = i.type() == T::F32;
  return require(single || (!i.has(M::Ftz) && !i.has(M::Sat)), ".ftz and .sat need .f32");
}

Result<void> rounded(const Instruction& i) {
  if (!i.has(M::Rn) && !i.has(M::Rz) && !i.has(M::Rm) && !i.has(M::Rp))
    return not_supported("needs a rounding or .approx");
  return single_precision_modifiers(i);
}

Result<void> approximate(const Instruction& i) {
  if (!i.has(M::Approx) && !i.has(M::Full)) return not_supported("needs .approx or a rounding");
  if (i.type() == T::F64 && i.opcode != O::Rsqrt && !(i.opcode == O::Rcp && i.has(M::Ftz)))
    return not_supported("type .f64");
  return {};
}

Result<void> relu_min_max(const Instruction& i) {
  return require(!i.has(M::Relu) || i.type() == T::S32 || i.type() == T::S16x2, ".relu needs a signed type");
}

Result<void> float_min_max(const Instruction& i) {
  if (i.has(M::Abs) != i.has(M::Xorsign)) return not_supported(".xorsign and .abs come together");
  return single_precision_modifiers(i);
}

Result<void> unpredicated_compare(const Instruction& i) {
  const bool combines = i.has(M::And) || i.has(M::Or) || i.has(M::Xor);
  return require(combines == (i.operands.size() == 4), "a Boolean operation needs a third source operand");
}

Result<void> set_types(const Instruction& i) {
  if (i.types.size() != 2) return not_supported("needs two types");
  const Type result = i.types[0];
  if (result != T::U32 && result != T::S32 && result != T::F32) return not_supported("result type");
  return unpredicated_compare(i);
}

Result<void> half_set(const Instruction& i) {
  if (i.types.size() != 2) return not_supported("needs two types");
  if (is_packed_half(i.types[1]) != is_packed_half(i.types[0]))
    return not_supported("packed and scalar types together");
  return unpredicated_compare(i);
}

Result<void> agreed_video(const Instruction& i) {
  const bool selects = !i.operands[0].selector.empty();
  const bool is_unsigned = i.types.size() == 3 && (i.types[1] == T::U32 || i.types[2] == T::U32);
  const bool is_changed = i.has(M::Sat) || i.has(M::Shr7) || i.has(M::Shr15);
  switch (i.opcode) {
    case ptx::Opcode::Vmad:
      return require(!is_unsigned || !is_changed,
                     "of numbers without sign, saturated or scaled, GPUs compute otherwise than the PTX ISA says");
    case ptx::Opcode::Vshl:
    case ptx::Opcode::Vshr:
      return require(!selects, "of a shift into a part of a register GPUs make otherwise than the PTX ISA says");
    case ptx::Opcode::Vadd:
    case ptx::Opcode::Vsub:
    case ptx::Opcode::Vmin:
    case ptx::Opcode::Vmax:
      return require(!selects || !i.has(M::Sat) || i.types[0] != T::S32,
                     "saturated into a part of a register, GPUs make of it otherwise than the PTX ISA says");
    default:
      return {};
  }
}

Result<void> two_types(const Instruction& i) { return require(i.types.size() == 2, "needs two types"); }

Result<void> slct_types(const Instruction& i) {
  if (i.types.size() != 2) return not_supported("needs two types");
  return require(i.types[1] == T::S32 || i.types[1] == T::F32, "selector type");
}

Result<void> conversion(const Instruction& i) {
  if (i.types.size() != 2) return not_supported("needs two types");
  const Type to = i.types[0];
  const Type from = i.types[1];
  const bool to_nearest_integer = i.has(M::Rni) || i.has(M::Rzi) || i.has(M::Rmi) || i.has(M::Rpi);
  const bool rounds = i.has(M::Rn) || i.has(M::Rz) || i.has(M::Rm) || i.has(M::Rp);
  if (is_packed_half(from)) return not_supported("packed source");
  if (is_packed_half(to)) {
    if (from != T::F32 || i.operands.size() != 3) return not_supported("packed halves come from two .f32");
    if (i.has(M::Sat)) return not_supported(".sat on a packed type");
    return require(i.has(M::Rn) || i.has(M::Rz), "needs .rn or .rz");
  }
  if (i.operands.size() != 2) return not_supported("operands");
  if (i.has(M::Relu) && !(is_half(to) && from == T::F32)) return not_supported(".relu needs .f32 to a half");
  if (i.has(M::Satfinite) && !(is_half(to) && from == T::F32)) return not_supported(".satfinite needs .f32 to a half");
  if (is_integer(to) && is_integer(from)) return require(!rounds && !to_nearest_integer, "rounding between integers");
  if (is_integer(to)) return require(to_nearest_integer, "needs .rni, .rzi, .rmi or .rpi");
  if (is_integer(from)) return require(rounds && !to_nearest_integer, "needs .rn, .rz, .rm or .rp");
  if (to == from) return require(!rounds, "rounding without narrowing");
  const bool narrows = size_in_bytes(to) < size_in_bytes(from) || (is_half(to) && is_half(from));
  if (narrows && !rounds) return not_supported("needs .rn, .rz, .rm or .rp");
  return require(!to_nearest_integer, "rounds to an integer between different types");
}

Result<void> tf32_conversion(const Instruction& i) {
  if (i.types != std::vector{T::Tf32, T::F32}) return not_supported("type");
  if (i.has(M::Rna) + i.has(M::Rn) + i.has(M::Rz) != 1) return not_supported("needs .rna, .rn or .rz");
  return require(!i.has(M::Relu) || !i.has(M::Rna), ".relu needs .rn or .rz");
}

Result<void> eight_bit_conversion(const Instruction& i) {
  if (i.types.size() != 2 || !i.has(M::Rn)) return not_supported("form");
  const auto is_eight_bit = [](Type type) { return type == T::E4m3x2 || type == T::E5m2x2; };
  if (is_eight_bit(i.types[0])) {
    if (is_eight_bit(i.types[1])) return not_supported("conversion between 8-bit formats");
    if (!i.has(M::Satfinite)) return not_supported("needs .satfinite");
    return require(i.operands.size() == (i.types[1] == T::F32 ? 3 : 2), "operands");
  }
  const bool widens = i.types[0] == T::F16x2 && is_eight_bit(i.types[1]) && !i.has(M::Satfinite);
  return require(widens && i.operands.size() == 2, "form");
}

Result<void> packing_conversion(const Instruction& i) {
  if (!i.has(M::Pack) || !i.has(M::Sat)) return not_supported("needs .pack.sat");
  if (i.types.size() < 2 || i.types[1] != T::S32) return not_supported("packs .s32");
  const bool fills = i.types[0] == T::U16 || i.types[0] == T::S16;
  if (i.types[0] == T::S32 || i.types[0] == T::B32) return not_supported("type");
  if (i.types.size() != (fills ? 2 : 3) || i.operands.size() != (fills ? 3 : 4)) return not_supported("operands");
  return require(fills || i.types[2] == T::B32, "what is shifted is a .b32");
}

Result<void> move(const Instruction& i) {
  return require(i.type() != T::Pred || i.operands[1].kind != Operand::Kind::Vector, "vector of predicates");
}

}  // namespace cucore::cpu::analysis::requirements
