// Guards stores that give locks back: see uniform_simt.hpp.
#include "cpu/ptx/rewrites/uniform_simt.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cpu/ptx/rewrites/rewrite_body.hpp"
#include "cpu/ptx/tree/code_writer.hpp"

namespace cucore::cpu::ptx {

namespace {

Operand special(std::string_view name, std::uint8_t axis) {
  Operand operand;
  operand.kind = Operand::Kind::Special;
  operand.special = {.name = name, .axis = axis};
  return operand;
}

/// A store to memory that others see, straight behind a fence.
bool is_release(const Instruction& store, const std::vector<Instruction>& before) {
  if (store.opcode != Opcode::St || store.spaces.size() > 1) return false;
  if (store.space() != Space::Global && store.space() != Space::Generic) return false;
  const auto last =
      std::find_if(before.rbegin(), before.rend(), [](const Instruction& i) { return i.opcode != Opcode::Mov; });
  return last != before.rend() && (last->opcode == Opcode::Membar || last->opcode == Opcode::Fence);
}

/// Whether this lane's number is one of its warp's bits, in a predicate, and the guard that there was.
Guard write_guard(CodeWriter writer, Function& function, Type address_type, VariableId lanes,
                  const std::optional<Guard>& before) {
  Operand array;
  array.kind = Operand::Kind::Variable;
  array.variable = lanes;
  constexpr std::uint8_t y = 1;
  Operand row = writer.compute(Opcode::Mov, {Type::U32}, {special("%tid", y)});
  Operand address;
  address.kind = Operand::Kind::Address;
  address.elements.push_back(
      writer.element_address(address_type, std::move(array), std::move(row), sizeof(std::uint32_t), 0));
  Operand bits = writer.compute(Opcode::Ld, {Type::U32}, {std::move(address)});
  writer.last().spaces = {Space::Shared};
  writer.last().subspaces = {SubSpace::None};
  Operand own = writer.compute(Opcode::Mov, {Type::U32}, {special("%laneid", 0)});
  Operand kept = writer.compute(Opcode::And, {Type::B32}, {std::move(bits), own});
  Operand stores = writer.compute(Opcode::Setp, {Type::U32}, {std::move(kept), std::move(own)});
  function.registers[stores.reg].type = Type::Pred;
  writer.last().modifiers = {Modifier::Eq};
  if (before) {
    Operand guard = stores;
    guard.reg = before->reg;
    guard.negated = before->negated;
    writer.last().modifiers.push_back(Modifier::And);
    writer.last().operands.push_back(std::move(guard));
  }
  return {.reg = stores.reg, .negated = false};
}

}  // namespace

void guard_releases_of_uniform_warps(Module& module) {
  const auto lanes = std::find_if(module.variables.begin(), module.variables.end(),
                                  [](const Variable& variable) { return variable.name == "__nvptx_uni"; });
  if (lanes == module.variables.end()) return;
  const auto index = static_cast<VariableId>(lanes - module.variables.begin());
  for (Function& function : module.functions) {
    if (function.is_entry) continue;
    rewrite_body(function, [&](Instruction&& instruction) {
      if (is_release(instruction, function.body))
        instruction.guard = write_guard(CodeWriter(function, instruction.position, instruction.source), function,
                                        address_type(module), index, instruction.guard);
      function.body.push_back(std::move(instruction));
    });
  }
}

}  // namespace cucore::cpu::ptx
