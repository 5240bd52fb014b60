// Defaults of old PTX: see old_spellings.hpp. Checked against ptxas 13.0 and the code it makes.
#include "cpu/ptx/rewrites/old_spellings.hpp"

#include <algorithm>
#include <tuple>

namespace cucore::cpu::ptx {

namespace {

bool says_precision(const Instruction& i) {
  return i.has(Modifier::Rn) || i.has(Modifier::Rz) || i.has(Modifier::Rm) || i.has(Modifier::Rp) ||
         i.has(Modifier::Approx) || i.has(Modifier::Full);
}

bool is_float_operation(const Instruction& i) { return i.type() == Type::F32 || i.type() == Type::F64; }

/// The default precision of an instruction that names none.
void add_precision(Instruction& i, bool before_1_4) {
  if (!is_float_operation(i) || says_precision(i)) return;
  const bool is_double = i.type() == Type::F64;
  switch (i.opcode) {
    case Opcode::Mad:
      // Of single precision without a rounding in any version; ptxas makes fused operations of it.
      if (!is_double || before_1_4) i.modifiers.push_back(Modifier::Rn);
      return;
    case Opcode::Div:
    case Opcode::Rcp:
    case Opcode::Sqrt:
      if (before_1_4) i.modifiers.push_back(is_double ? Modifier::Rn : Modifier::Approx);
      return;
    case Opcode::Rsqrt:
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Lg2:
    case Opcode::Ex2:
      if (before_1_4) i.modifiers.push_back(Modifier::Approx);
      return;
    default:
      return;
  }
}

bool can_flush(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::Set:
    case Opcode::Setp:
    case Opcode::Slct:
      return i.type() == Type::F32;
    case Opcode::Cvt:
      return std::find(i.types.begin(), i.types.end(), Type::F32) != i.types.end();
    default:
      return i.type() == Type::F32 && has_flushable_result(i.opcode);
  }
}

}  // namespace

void complete_old_spellings(Module& module) {
  const bool before_1_4 = std::tie(module.version.major, module.version.minor) < std::make_tuple(1U, 4U);
  const bool flushes = module.target.starts_with("sm_1") && module.target.size() == 5;
  for (Function& function : module.functions) {
    for (Instruction& i : function.body) {
      add_precision(i, before_1_4);
      if (flushes && can_flush(i) && !i.has(Modifier::Ftz)) i.modifiers.push_back(Modifier::Ftz);
    }
  }
}

}  // namespace cucore::cpu::ptx
