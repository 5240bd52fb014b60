// Instructions that make floating-point numbers: see number_checks.hpp.
#include "cpu/analysis/instructions/number_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace cucore::cpu::analysis {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterUses;
using ptx::Type;
using M = ptx::Modifier;

struct Packed {
  NumberFormat format;
  std::uint8_t elements;
};

std::optional<Packed> packed_format(Type type) {
  switch (type) {
    case Type::F16:
      return Packed{NumberFormat::F16, 1};
    case Type::F16x2:
      return Packed{NumberFormat::F16, 2};
    case Type::Bf16:
      return Packed{NumberFormat::Bf16, 1};
    case Type::Bf16x2:
      return Packed{NumberFormat::Bf16, 2};
    case Type::F32:
    case Type::Tf32:
      return Packed{NumberFormat::F32, 1};
    case Type::F32x2:
      return Packed{NumberFormat::F32, 2};
    case Type::F64:
      return Packed{NumberFormat::F64, 1};
    case Type::E4m3x2:
      return Packed{NumberFormat::E4m3, 2};
    case Type::E5m2x2:
      return Packed{NumberFormat::E5m2, 2};
    default:
      return std::nullopt;
  }
}

std::optional<NumberOperation> operation_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::Add:
      return NumberOperation::Add;
    case Opcode::Sub:
      return NumberOperation::Subtract;
    case Opcode::Mul:
      return NumberOperation::Multiply;
    case Opcode::Fma:
    case Opcode::Mad:
      return NumberOperation::MultiplyAdd;
    case Opcode::Div:
      return NumberOperation::Divide;
    case Opcode::Rcp:
      return NumberOperation::Reciprocal;
    case Opcode::Sqrt:
      return NumberOperation::SquareRoot;
    case Opcode::Rsqrt:
      return NumberOperation::ReciprocalSquareRoot;
    case Opcode::Ex2:
      return NumberOperation::Exponential;
    case Opcode::Lg2:
      return NumberOperation::Logarithm;
    case Opcode::Sin:
      return NumberOperation::Sine;
    case Opcode::Cos:
      return NumberOperation::Cosine;
    case Opcode::Tanh:
      return NumberOperation::HyperbolicTangent;
    default:
      return std::nullopt;
  }
}

std::optional<NumberCheck> conversion_check_of(const Instruction& i) {
  if (i.types.size() < 2) return std::nullopt;
  const Type to = i.types[0];
  const Type from = i.types[1];
  const auto result = packed_format(to);
  if (!result) return std::nullopt;
  NumberCheck check;
  check.test.operation = NumberOperation::Convert;
  check.test.result = result->format;
  check.test.elements = result->elements;
  check.result = to == Type::Tf32 ? Type::B32 : to;
  check.source = from;
  if (const auto source = packed_format(from)) {
    check.test.source = source->format;
    // Rounding to an integer makes no number that was not there, and a wider format has room for all.
    if (from == to || (to == Type::F64 && from == Type::F32)) return std::nullopt;
    if (bits_of(source->format) < bits_of(result->format)) return std::nullopt;
  } else if (ptx::is_integer(from) && result->format == NumberFormat::F16) {
    check.test.source = ptx::is_signed(from) ? NumberFormat::Signed : NumberFormat::Unsigned;
  } else {
    return std::nullopt;
  }
  check.operands = {1};
  if (i.operands.size() == 3) {
    check.test.flags |= NumberTest::by_operand;
    check.operands = {2, 1};
  } else if (i.operands.size() != 2) {
    return std::nullopt;
  }
  if (i.has(M::Satfinite)) check.test.flags |= NumberTest::saturates;
  if (i.has(M::Ftz)) check.test.flags |= NumberTest::flushes;
  return check;
}

/// Compilers contract a * b - c * d: then the addend of an fma is a rounded product. An addend that is the same product
/// is there to have the product's error, and any other is taken to be exact, as in divisions by Newton's method.
bool adds_other_product(const ptx::Function& function, const Instruction& fma, const RegisterUses& uses) {
  const Operand* addend = &fma.operands[3];
  for (unsigned steps = 0; steps < 2; ++steps) {
    if (addend->kind != Operand::Kind::Register || uses.writers[addend->reg].size() != 1) return false;
    const Instruction& made = function.body[uses.writers[addend->reg][0]];
    if (made.opcode == Opcode::Neg && made.operands.size() == 2) {
      addend = &made.operands[1];
      continue;
    }
    if (made.opcode != Opcode::Mul || !ptx::is_float(made.type())) return false;
    const auto is_same = [](const Operand& a, const Operand& b) {
      return a.kind == Operand::Kind::Register && b.kind == Operand::Kind::Register && a.reg == b.reg;
    };
    const auto is_factor = [&](const Operand& factor) {
      return is_same(factor, fma.operands[1]) || is_same(factor, fma.operands[2]);
    };
    return !(is_factor(made.operands[1]) && is_factor(made.operands[2]));
  }
  return false;
}

}  // namespace

bool is_spelt_special(const Operand& operand) {
  if (operand.kind != Operand::Kind::Float) return false;
  const double number = operand.is_single ? std::bit_cast<float>(static_cast<std::uint32_t>(operand.float_bits))
                                          : std::bit_cast<double>(operand.float_bits);
  return !std::isfinite(number);
}

std::optional<NumberCheck> number_check_of(const Instruction& i) {
  if (i.operands.size() < 2) return std::nullopt;
  if (std::any_of(i.operands.begin(), i.operands.end(), is_spelt_special)) return std::nullopt;
  if (i.opcode == Opcode::Cvt) return conversion_check_of(i);
  const auto operation = operation_of(i.opcode);
  const auto format = packed_format(i.type());
  if (!operation || !format) return std::nullopt;
  NumberCheck check;
  check.test.operation = *operation;
  check.test.result = check.test.source = format->format;
  check.test.elements = format->elements;
  check.result = check.source = i.type();
  if (i.has(M::Ftz)) check.test.flags |= NumberTest::flushes;
  if (i.opcode == Opcode::Add || i.opcode == Opcode::Sub) check.test.flags |= NumberTest::may_cancel;
  for (std::uint8_t n = 1; n < i.operands.size() && n <= 3; ++n) check.operands.push_back(n);
  return check;
}

NumberChecks::NumberChecks(const ptx::Function& function)
    : is_chosen_later_(function.body.size()), formats_(function.registers.size()) {
  const RegisterUses uses(function);
  for (const Instruction& each : function.body) {
    checks_.push_back(number_check_of(each));
    if (checks_.back() && checks_.back()->test.operation == NumberOperation::MultiplyAdd &&
        adds_other_product(function, each, uses))
      checks_.back()->test.flags |= NumberTest::may_cancel;
  }
  find_choices(function, uses);
  find_formats(function);
}

const NumberCheck* NumberChecks::any_at(std::uint32_t instruction) const {
  return checks_[instruction] ? &*checks_[instruction] : nullptr;
}

const NumberCheck* NumberChecks::at(std::uint32_t instruction) const {
  return is_chosen_later_[instruction] ? nullptr : any_at(instruction);
}

const std::vector<ChosenLater>* NumberChecks::chosen_at(std::uint32_t selp) const {
  const auto found = choices_.find(selp);
  return found == choices_.end() ? nullptr : &found->second;
}

/// A result that one selp of the same straight piece of code is the only one to read, while the operands that it was
/// made of are still there.
void NumberChecks::find_choices(const ptx::Function& function, const RegisterUses& uses) {
  std::vector<std::uint32_t> piece(function.body.size() + 1);
  for (const ptx::Label& label : function.labels) piece[label.instruction] = 1;
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const Instruction& each = function.body[i];
    const bool ends = each.opcode == Opcode::Bra || each.opcode == Opcode::Ret || each.opcode == Opcode::Exit;
    if (ends) piece[i + 1] = 1;
  }
  for (std::size_t i = 1; i < piece.size(); ++i) piece[i] += piece[i - 1];
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const Instruction& each = function.body[i];
    if (!checks_[i] || each.guard || each.operands[0].kind != Operand::Kind::Register) continue;
    const auto& readers = uses.readers[each.operands[0].reg];
    if (uses.writers[each.operands[0].reg].size() != 1 || readers.size() != 1) continue;
    const std::uint32_t reader = readers[0];
    const Instruction& selp = function.body[reader];
    if (selp.opcode != Opcode::Selp || selp.guard || reader < i || piece[reader] != piece[i]) continue;
    const auto is_changed = [&](const Operand& operand) {
      if (operand.kind != Operand::Kind::Register) return false;
      const auto& writers = uses.writers[operand.reg];
      return std::any_of(writers.begin(), writers.end(), [&](std::uint32_t at) { return at >= i && at < reader; });
    };
    if (std::any_of(each.operands.begin() + 1, each.operands.end(), is_changed)) continue;
    is_chosen_later_[i] = true;
    const Operand& first = selp.operands[1];
    choices_[reader].push_back({i, first.kind == Operand::Kind::Register && first.reg == each.operands[0].reg});
  }
}

void NumberChecks::find_formats(const ptx::Function& function) {
  const auto note = [&](const Operand& operand, NumberFormat format, std::uint8_t elements) {
    if (operand.kind != Operand::Kind::Register || operand.component >= 0 || formats_[operand.reg]) return false;
    NumberTest test;
    test.result = test.source = format;
    test.elements = elements;
    formats_[operand.reg] = test;
    return true;
  };
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const NumberCheck* const check = any_at(i);
    if (check == nullptr) continue;
    const Instruction& each = function.body[i];
    if (bits_of(check->test.result) >= 16) note(each.operands[0], check->test.result, check->test.elements);
    if (check->test.source < NumberFormat::F16 || bits_of(check->test.source) < 16) continue;
    const std::uint8_t elements = check->test.has(NumberTest::by_operand) ? 1 : check->test.elements;
    for (const std::uint8_t n : check->operands) note(each.operands[n], check->test.source, elements);
  }
  // Kernels that only copy say what it is that they copy.
  for (const Instruction& each : function.body) {
    const bool is_access = each.opcode == Opcode::Ld || each.opcode == Opcode::Ldu || each.opcode == Opcode::St;
    const auto format = packed_format(each.type());
    if (!is_access || !format || bits_of(format->format) < 16 || each.operands.size() < 2) continue;
    const Operand& value = each.operands[each.opcode == Opcode::St ? 1 : 0];
    note(value, format->format, format->elements);
    for (const Operand& element : value.elements) note(element, format->format, format->elements);
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Instruction& each : function.body) {
      if (each.opcode != Opcode::Mov && each.opcode != Opcode::Selp) continue;
      const std::size_t values = std::min<std::size_t>(each.operands.size(), each.opcode == Opcode::Mov ? 2 : 3);
      for (std::size_t from = 0; from < values; ++from) {
        if (each.operands[from].kind != Operand::Kind::Register || !formats_[each.operands[from].reg]) continue;
        const NumberTest known = *formats_[each.operands[from].reg];
        for (std::size_t to = 0; to < values; ++to)
          has_changed = note(each.operands[to], known.result, known.elements) || has_changed;
      }
    }
  }
}

}  // namespace cucore::cpu::analysis
