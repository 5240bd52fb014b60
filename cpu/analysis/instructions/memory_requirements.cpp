// What generators require of accesses of memory, textures and surfaces, and addresses. See requirements.hpp.
#include <bit>
#include <cstddef>

#include "cpu/analysis/instructions/access_requirements.hpp"
#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/instructions/requirements.hpp"

namespace cucore::cpu::analysis::requirements {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using M = ptx::Modifier;
using O = ptx::Opcode;
using T = ptx::Type;

namespace {

/// What stands before the coordinates is a 64-bit register that holds an object's handle, or a reference.
Result<void> texel_object(const Instruction& i, std::size_t operand, std::size_t elements) {
  const Operand& address = i.operands[operand];
  if (address.kind != Operand::Kind::Address) return not_supported("operands");
  const Operand& object = address.elements[0];
  if (object.kind == Operand::Kind::Variable && object.scope == Operand::Scope::Function)
    return not_supported("a reference that is a parameter");
  return require(address.elements.size() == elements, "a sampler of its own");
}

}  // namespace

Result<void> load(const Instruction& i) {
  using enum Space;
  if (Result<void> met = spaces_one_of(i, {Generic, Const, Global, Local, Param, Shared}); !met) return met;
  if (Result<void> met = vector_access(i); !met) return met;
  return cache_policy_operand(i, 2);
}

Result<void> store(const Instruction& i) {
  using enum Space;
  if (Result<void> met = spaces_one_of(i, {Generic, Global, Local, Param, Shared}); !met) return met;
  if (Result<void> met = vector_access(i); !met) return met;
  return cache_policy_operand(i, 2);
}

Result<void> address_conversion(const Instruction& i) {
  using enum Space;
  if (i.spaces.size() != 1) return not_supported("needs one state space");
  return spaces_one_of(i, {Const, Global, Local, Param, Shared});
}

Result<void> space_test(const Instruction& i) {
  if (i.spaces.size() != 1) return not_supported("needs one state space");
  return spaces_one_of(i, {Space::Shared, Space::Param, Space::Const, Space::Local, Space::Global});
}

Result<void> any_space(const Instruction&) { return {}; }

Result<void> stack_alignment(const Instruction& i) {
  const bool is_power = i.operands.size() < 3 || std::has_single_bit(i.operands[2].integer);
  return is_power ? Result<void>() : not_supported("alignment");
}

Result<void> atomic(const Instruction& i) {
  if (Result<void> met = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared}); !met) return met;
  const Type type = i.type();
  if (i.vector_width != 1 && (type != T::F32 || !i.has(M::Add) || i.vector_width > 4 || i.space() == Space::Shared))
    return not_supported("vector");
  const bool is_untyped = is_bits(type);
  const bool cas = i.has(M::Cas);
  const bool exchange = i.has(M::Exch);
  if (type == T::B16 && !cas) return not_supported("type .b16");
  if (type == T::B128 && !cas && !exchange) return not_supported("type .b128");
  if (i.has(M::Inc) || i.has(M::Dec)) {
    if (type != T::U32) return not_supported("type");
  } else if (i.has(M::Add)) {
    if (is_untyped || type == T::S64) return not_supported("type");
  } else if (i.has(M::Min) || i.has(M::Max)) {
    if (!is_integer(type)) return not_supported("type");
  } else if (!is_untyped) {
    return not_supported("type");
  }
  if (i.opcode == O::Red && (cas || exchange)) return not_supported("operation of red");
  return cache_policy_operand(i, (i.opcode == O::Atom ? 3U : 2U) + (cas ? 1U : 0U));
}

Result<void> half_atomic(const Instruction& i) {
  if (Result<void> met = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared}); !met) return met;
  const std::size_t bytes = size_in_bytes(i.type()) * i.vector_width;
  if (i.vector_width != 1 && (bytes > 16 || i.space() == Space::Shared)) return not_supported("vector");
  if (!i.has(M::Add)) return not_supported("operation of a half");
  return cache_policy_operand(i, i.opcode == O::Atom ? 3 : 2);
}

Result<void> memory_barrier(const Instruction& i) {
  if (Result<void> met = spaces_one_of(i, {Space::Generic, Space::Global, Space::Shared}); !met) return met;
  const bool names_object = i.has(M::TensormapGeneric) && i.has(M::Acquire);
  if (i.operands.size() != (names_object ? 2U : 0U)) return not_supported("operands");
  const bool restricts = i.has(M::SyncRestrictSharedCta) || i.has(M::SyncRestrictSharedCluster);
  return require(i.has(M::Proxy) || i.has(M::MbarrierInit) || restricts, "form");
}

Result<void> cluster_address(const Instruction& i) {
  if (i.vector_width != 1) return not_supported("vector");
  if (i.spaces.empty() && i.type() != T::U64) return not_supported("a generic address of 32 bits");
  return spaces_one_of(i, {Space::Shared});
}

Result<void> texture_fetch(const Instruction& i) {
  if (!i.spaces.empty()) return not_supported("state space");
  if (i.types.size() != 2) return not_supported("needs two types");
  const Type coordinate = i.types[1];
  if (coordinate != T::F32 && coordinate != T::S32) return not_supported("coordinate type");
  if (i.vector_width != (i.types[0] == T::F16x2 ? 2 : 4)) return not_supported("vector width");
  const bool is_cube = i.has(M::Cube) || i.has(M::Acube);
  if (is_cube && coordinate != T::F32) return not_supported("coordinate type");
  if (i.opcode == O::Tld4 && (i.has(M::D1) || i.has(M::D3) || i.has(M::A1D) || coordinate != T::F32))
    return not_supported("geometry");
  const std::size_t least = i.has(M::Grad) ? 4 : i.has(M::Level) ? 3 : 2;
  if (i.operands.size() < least) return not_supported("operands");
  const bool has_offset = i.operands.size() == least + 1 && i.operands.back().kind == Operand::Kind::Vector;
  if (i.operands.size() > least && (!has_offset || is_cube)) return not_supported("depth comparison");
  return texel_object(i, 1, 2);
}

Result<void> surface_access(const Instruction& i) {
  if (!i.spaces.empty()) return not_supported("state space");
  if (i.has(M::Cube) || i.has(M::Acube)) return not_supported("geometry");
  if (!i.has(M::B) && !i.has(M::P)) return not_supported("needs .b or .p");
  if (i.opcode == O::Sust && i.has(M::P) && i.type() != T::B32) return not_supported("type");
  if (i.opcode == O::Sured) {
    if (i.vector_width != 1) return not_supported("vector");
    const bool logical = i.has(M::And) || i.has(M::Or);
    if (!logical && !i.has(M::Add) && !i.has(M::Min) && !i.has(M::Max)) return not_supported("operation");
    // .p takes plain bits, and the texels say what they mean.
    if ((logical || i.has(M::P)) != is_bits(i.type())) return not_supported("type");
  }
  if (Result<void> met = vector_access(i); !met) return met;
  return texel_object(i, i.opcode == O::Suld ? 1 : 0, 2);
}

Result<void> texel_query(const Instruction& i) {
  if (!i.spaces.empty()) return not_supported("state space");
  if (i.modifiers.size() != (i.has(M::Level) ? 2U : 1U)) return not_supported("attribute");
  if (i.operands.size() != (i.has(M::Level) ? 3U : 2U)) return not_supported("operands");
  return texel_object(i, 1, 1);
}

}  // namespace cucore::cpu::analysis::requirements
