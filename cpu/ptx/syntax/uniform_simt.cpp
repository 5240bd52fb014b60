// Code of gcc's offloading compiler for OpenMP, in which the lanes of a warp are one thread of the program (uniform
// SIMT): all of them run it, with the same values, and atomic operations are guarded so that one lane does them. A
// store that gives a lock back is not guarded: where lanes run in step it is one store, and here one lane does it.
// Which lanes are threads of their own is in the warp's word of the shared array __nvptx_uni: bits of their numbers.
#include <algorithm>
#include <optional>

#include "cpu/ptx/syntax/module_parser.hpp"

namespace cucore::cpu::ptx {

namespace {

Operand special(std::string_view name, std::uint8_t axis) {
  Operand operand;
  operand.kind = Operand::Kind::Special;
  operand.special = {.name = name, .axis = axis};
  return operand;
}

bool is_release(const Instruction& store, const std::vector<Instruction>& before) {
  if (store.spaces.size() > 1 || (store.space() != Space::Global && store.space() != Space::Generic)) return false;
  const auto last =
      std::find_if(before.rbegin(), before.rend(), [](const Instruction& i) { return i.opcode != Opcode::Mov; });
  return last != before.rend() && (last->opcode == Opcode::Membar || last->opcode == Opcode::Fence);
}

}  // namespace

void ModuleParser::add_store(Instruction store) {
  // Few stores are such, so that others look no name up.
  const auto lanes = !function_->is_entry && is_release(store, function_->body)
                         ? scopes_.find("__nvptx_uni", function_->registers)
                         : std::nullopt;
  if (lanes && lanes->kind == Entity::Kind::ModuleVariable) {
    Operand array;
    array.kind = Operand::Kind::Variable;
    array.variable = lanes->index;
    constexpr std::uint8_t y = 1;
    Operand row = computed(Opcode::Mov, {Type::U32}, {special("%tid", y)});
    Operand address;
    address.kind = Operand::Kind::Address;
    address.elements.push_back(element_address(std::move(array), std::move(row), sizeof(std::uint32_t), 0));
    Operand bits = computed(Opcode::Ld, {Type::U32}, {std::move(address)});
    function_->body.back().spaces = {Space::Shared};
    function_->body.back().subspaces = {SubSpace::None};
    Operand own = computed(Opcode::Mov, {Type::U32}, {special("%laneid", 0)});
    Operand kept = computed(Opcode::And, {Type::B32}, {std::move(bits), own});
    Operand stores = computed(Opcode::Setp, {Type::U32}, {std::move(kept), std::move(own)});
    function_->registers[stores.reg].type = Type::Pred;
    function_->body.back().modifiers = {Modifier::Eq};
    if (store.guard) {
      Operand guard = stores;
      guard.reg = store.guard->reg;
      guard.negated = store.guard->negated;
      function_->body.back().modifiers.push_back(Modifier::And);
      function_->body.back().operands.push_back(std::move(guard));
    }
    store.guard = Guard{.reg = stores.reg, .negated = false};
  }
  function_->body.push_back(std::move(store));
}

}  // namespace cucore::cpu::ptx
