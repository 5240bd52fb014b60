// Which memory an instruction accesses: see memory_accesses.hpp.
#include "cpu/analysis/instructions/memory_accesses.hpp"

#include <algorithm>

namespace cucore::cpu::analysis {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using Extent = MemoryAccess::Extent;
using M = ptx::Modifier;
namespace bits = check_access;

/// .cv and .cg are how older code polls memory.
bool is_strong(const Instruction& i) {
  return i.has(M::Volatile) || i.has(M::Mmio) || i.has(M::Cv) || i.has(M::Cg) || i.has(M::Relaxed) ||
         i.has(M::Acquire) || i.has(M::Release);
}

MemoryAccess fixed(const Operand& address, Space space, std::uint32_t bytes, std::uint32_t flags) {
  return {.address = &address, .space = space, .bytes = bytes, .element = bytes, .alignment = bytes, .flags = flags};
}

Space space_of(const Instruction& i, std::size_t n) { return n < i.spaces.size() ? i.spaces[n] : Space::Generic; }

/// ld, st, atom and red
MemoryAccess plain(const Instruction& i) {
  const bool loads = i.opcode == Opcode::Ld || i.opcode == Opcode::Ldu;
  const bool stores = i.opcode == Opcode::St;
  const auto element = static_cast<std::uint32_t>(size_in_bytes(i.type()));
  std::uint32_t flags = loads    ? bits::reads_memory
                        : stores ? bits::writes_memory
                                 : bits::reads_memory | bits::writes_memory;
  if ((!loads && !stores) || is_strong(i)) {
    flags |= bits::is_strong;
    if (!stores) flags |= bits::acquires;
    if (!loads) flags |= bits::releases;
    if (i.has(M::Release) || i.has(M::AcqRel)) flags |= bits::own_fence;
  }
  const std::size_t at = loads || i.opcode == Opcode::Atom ? 1 : 0;
  MemoryAccess access = fixed(i.operands[at], space_of(i, 0), element * i.vector_width, flags);
  access.element = element;
  return access;
}

MemoryAccess mbarrier(const Operand& address, Space space, std::uint32_t flags = bits::arrives) {
  MemoryAccess access = fixed(address, space, 8, flags | bits::as_is);
  access.is_mbarrier = true;
  return access;
}

std::uint32_t flags_of_mbarrier(const Instruction& i) {
  if (i.has(M::Init)) return bits::arrives & ~bits::reads_memory;
  const bool waits = i.has(M::TestWait) || i.has(M::TryWait);
  return waits ? bits::reads_memory | bits::is_strong | bits::acquires : bits::arrives;
}

/// st.async and red.async to, value, and a barrier
std::vector<MemoryAccess> asynchronous_store(const Instruction& i) {
  MemoryAccess access = plain(i);
  access.flags |= bits::until_delivered;
  return {access, mbarrier(i.operands.back(), Space::Shared)};
}

/// cp.async to, from, bytes, and perhaps how many of them to take
std::vector<MemoryAccess> copy(const Instruction& i) {
  const auto bytes = static_cast<std::uint32_t>(i.operands[2].integer);
  MemoryAccess from = fixed(i.operands[1], Space::Global, bytes, bits::reads_memory);
  if (i.operands.size() - (i.has(M::L2CacheHint) ? 1 : 0) > 3) from.extent = Extent::CopyLimit;
  return {from, fixed(i.operands[0], space_of(i, 0), bytes, bits::writes_memory | bits::until_waited)};
}

/// cp.async.bulk to, from, bytes and a barrier
std::vector<MemoryAccess> bulk_copy(const Instruction& i) {
  std::vector<MemoryAccess> accesses;
  const bool delivers = i.has(M::MbarrierCompleteTxBytes);
  const std::uint32_t of_source = bits::reads_memory | bits::async_proxy | (delivers ? 0 : bits::until_waited);
  const std::uint32_t of_target = bits::writes_memory | (i.has(M::Reduce) ? bits::reads_memory | bits::is_strong : 0) |
                                  (delivers ? bits::until_delivered : 0);
  for (const std::size_t n : {std::size_t{1}, std::size_t{0}}) {
    if (accesses_by_itself(i)) break;
    MemoryAccess access = fixed(i.operands[n], space_of(i, n), 16, n == 1 ? of_source : of_target);
    access.extent = Extent::Operand;
    access.count = 2;
    accesses.push_back(access);
  }
  if (delivers) accesses.push_back(mbarrier(i.operands[i.has(M::Tensor) ? 2 : 3], Space::Shared));
  return accesses;
}

/// ldmatrix and stmatrix: the lanes of the first eighths of the warp bring a row of 16 bytes each.
MemoryAccess rows(const Instruction& i) {
  const bool loads = i.opcode == Opcode::Ldmatrix;
  MemoryAccess access =
      fixed(i.operands[loads ? 1 : 0], space_of(i, 0), 16, loads ? bits::reads_memory : bits::writes_memory);
  access.flags |= bits::as_is;
  access.element = 2;
  access.extent = Extent::Rows;
  access.count = i.has(M::X1) ? 8 : i.has(M::X2) ? 16 : 32;
  return access;
}

bool names_texels(Opcode opcode) {
  return opcode == Opcode::Tex || opcode == Opcode::Tld4 || opcode == Opcode::Txq || opcode == Opcode::Suld ||
         opcode == Opcode::Sust || opcode == Opcode::Sured || opcode == Opcode::Suq;
}

}  // namespace

bool accesses_by_itself(const Instruction& i) {
  if (i.opcode == Opcode::Wmma) return i.has(M::Load) || i.has(M::Store);
  if (names_texels(i.opcode)) return true;
  return i.opcode == Opcode::Cp && i.has(M::Bulk) && i.spaces.size() == 2 &&
         (i.has(M::Tensor) || i.has(M::MulticastCluster));
}

std::vector<MemoryAccess> memory_accesses_of(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::Ld:
    case Opcode::Ldu:
      if (i.space() == Space::Param) return {};
      return {plain(i)};
    case Opcode::St:
    case Opcode::Red:
      if (i.space() == Space::Param) return {};
      if (i.has(M::Async)) return asynchronous_store(i);
      return {plain(i)};
    case Opcode::Atom:
      return {plain(i)};
    case Opcode::Cp:
      if (i.has(M::Mbarrier)) return {mbarrier(i.operands[0], space_of(i, 0))};
      if (i.has(M::Bulk)) return i.spaces.size() == 2 ? bulk_copy(i) : std::vector<MemoryAccess>{};
      return i.spaces.empty() ? std::vector<MemoryAccess>{} : copy(i);
    case Opcode::Mbarrier: {
      if (i.has(M::PendingCount)) return {};
      const bool has_result = i.operands[0].kind != Operand::Kind::Address;
      return {mbarrier(i.operands[has_result ? 1 : 0], space_of(i, 0), flags_of_mbarrier(i))};
    }
    case Opcode::Tensormap: {
      const bool replaces = i.has(M::Replace);
      std::vector<MemoryAccess> accesses{
          fixed(i.operands[0], space_of(i, 0), 128, (replaces ? bits::reads_memory : 0U) | bits::writes_memory)};
      if (!replaces) accesses.push_back(fixed(i.operands[1], space_of(i, 1), 128, bits::reads_memory));
      for (MemoryAccess& access : accesses) {
        access.alignment = 8;
        if (replaces) continue;
        access.extent = MemoryAccess::Extent::Rows;  // the warp copies it once, which the first lane stands for
        access.count = 1;
      }
      return accesses;
    }
    case Opcode::Clusterlaunchcontrol:
      if (!i.has(M::TryCancel)) return {};
      return {fixed(i.operands[0], Space::Shared, 16, bits::writes_memory | bits::until_delivered),
              mbarrier(i.operands[1], Space::Shared)};
    case Opcode::Ldmatrix:
    case Opcode::Stmatrix:
      return {rows(i)};
    default:
      return {};
  }
}

std::vector<ptx::VariableId> variables_to_follow(const ptx::Function& function, std::uint32_t checks) {
  std::vector<ptx::VariableId> taken;
  if ((checks & (check_class::memory_checks | check_class::init_checks)) == 0) return taken;
  for (ptx::VariableId id = 0; id < function.variables.size() && (checks & check_class::init_checks) != 0; ++id)
    if (function.variables[id].space == Space::Local) taken.push_back(id);
  for (const Instruction& i : function.body) {
    if (i.opcode == Opcode::Call) continue;
    for (const Operand& operand : i.operands) {
      if (operand.kind != Operand::Kind::Variable || operand.scope != Operand::Scope::Function) continue;
      const Space space = function.variables[operand.variable].space;
      const bool own = space == Space::Local || (space == Space::Param && !function.is_entry);
      if (own && std::find(taken.begin(), taken.end(), operand.variable) == taken.end())
        taken.push_back(operand.variable);
    }
  }
  return taken;
}

std::optional<ptx::VariableId> only_local_variable(const ptx::Function& function) {
  std::optional<ptx::VariableId> only;
  for (ptx::VariableId id = 0; id < function.variables.size(); ++id) {
    if (function.variables[id].space != Space::Local) continue;
    if (only) return {};
    only = id;
  }
  return only;
}

bool has_short_local_addresses(const ptx::Function& function) {
  return std::any_of(function.body.begin(), function.body.end(), [&](const Instruction& i) {
    if (i.opcode != Opcode::Mov || i.operands.size() < 2 || size_in_bytes(i.type()) != 4) return false;
    const Operand& from = i.operands[1];
    return from.kind == Operand::Kind::Variable && from.scope == Operand::Scope::Function &&
           function.variables[from.variable].space == Space::Local;
  });
}

}  // namespace cucore::cpu::analysis
