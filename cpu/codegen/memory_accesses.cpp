// Which memory an instruction accesses: see memory_accesses.hpp.
#include "cpu/codegen/memory_accesses.hpp"

namespace cucore::cpu::codegen {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using Extent = MemoryAccess::Extent;
using M = ptx::Modifier;
namespace bits = check_access;

constexpr std::uint32_t kSynchronises =
    bits::kReads | bits::kWrites | bits::kStrong | bits::kAcquires | bits::kReleases | bits::kOwnFence;

/// .cv and .cg are how older code polls memory.
bool is_strong(const Instruction& i) {
  return i.has(M::Volatile) || i.has(M::Mmio) || i.has(M::Cv) || i.has(M::Cg) || i.has(M::Relaxed) ||
         i.has(M::Acquire) || i.has(M::Release);
}

MemoryAccess fixed(const Operand& address, Space space, std::uint32_t bytes, std::uint32_t flags) {
  return {.address = &address, .space = space, .bytes = bytes, .element = bytes, .alignment = bytes, .flags = flags};
}

/// Another block of the cluster may be meant: then the address is one of the generic kind.
Space space_of(const Instruction& i, std::size_t n) {
  if (n >= i.spaces.size()) return Space::Generic;
  const bool cluster =
      i.spaces[n] == Space::Shared && n < i.subspaces.size() && i.subspaces[n] == ptx::SubSpace::Cluster;
  return cluster ? Space::Generic : i.spaces[n];
}

/// ld, st, atom and red
MemoryAccess plain(const Instruction& i) {
  const bool loads = i.opcode == Opcode::Ld || i.opcode == Opcode::Ldu;
  const bool stores = i.opcode == Opcode::St;
  const auto element = static_cast<std::uint32_t>(size_in_bytes(i.type()));
  std::uint32_t flags = loads ? bits::kReads : stores ? bits::kWrites : bits::kReads | bits::kWrites;
  if ((!loads && !stores) || is_strong(i)) {
    flags |= bits::kStrong;
    if (!stores) flags |= bits::kAcquires;
    if (!loads) flags |= bits::kReleases;
    if (i.has(M::Release) || i.has(M::AcqRel)) flags |= bits::kOwnFence;
  }
  const std::size_t at = loads || i.opcode == Opcode::Atom ? 1 : 0;
  MemoryAccess access = fixed(i.operands[at], space_of(i, 0), element * i.vector_width, flags);
  access.element = element;
  return access;
}

MemoryAccess mbarrier(const Operand& address, Space space, bool initialises) {
  const std::uint32_t flags = kSynchronises & ~(initialises ? bits::kReads : 0);
  return fixed(address, space, 8, flags | bits::kAsIs);
}

/// cp.async to, from, bytes, and perhaps how many of them to take
std::vector<MemoryAccess> copy(const Instruction& i) {
  const auto bytes = static_cast<std::uint32_t>(i.operands[2].integer);
  MemoryAccess from = fixed(i.operands[1], Space::Global, bytes, bits::kReads);
  if (i.operands.size() - (i.has(M::L2CacheHint) ? 1 : 0) > 3) from.extent = Extent::CopyLimit;
  return {from, fixed(i.operands[0], space_of(i, 0), bytes, bits::kWrites)};
}

MemoryAccess unknown(const Operand& address, Space space, std::uint32_t flags) {
  MemoryAccess access = fixed(address, space, 1, flags);
  access.extent = Extent::Unknown;
  return access;
}

/// cp.async.bulk to, from, bytes and a barrier; of a tensor the addresses are the map's.
std::vector<MemoryAccess> bulk_copy(const Instruction& i) {
  std::vector<MemoryAccess> accesses;
  if (i.has(M::Tensor)) {
    const bool loads = i.spaces[0] == Space::Shared;
    if (loads) accesses.push_back(unknown(i.operands[0], space_of(i, 0), bits::kWrites));
  } else {
    for (const std::size_t n : {std::size_t{1}, std::size_t{0}}) {
      const std::uint32_t flags = n == 1 ? bits::kReads : bits::kWrites;
      MemoryAccess access = fixed(i.operands[n], space_of(i, n), 16, flags);
      access.extent = Extent::Operand;
      access.count = 2;
      accesses.push_back(access);
    }
  }
  if (i.has(M::MbarrierCompleteTxBytes)) {
    const std::size_t at = i.has(M::Tensor) ? 2 : 3;
    accesses.push_back(mbarrier(i.operands[at], Space::Generic, false));
    accesses.back().space = space_of(i, 0) == Space::Generic ? Space::Generic : Space::Shared;
  }
  return accesses;
}

/// ldmatrix and stmatrix: the lanes of the first eighths of the warp bring a row of 16 bytes each.
MemoryAccess rows(const Instruction& i) {
  const bool loads = i.opcode == Opcode::Ldmatrix;
  MemoryAccess access = fixed(i.operands[loads ? 1 : 0], space_of(i, 0), 16, loads ? bits::kReads : bits::kWrites);
  access.flags |= bits::kAsIs;
  access.element = 2;
  access.extent = Extent::Rows;
  access.count = i.has(M::X1) ? 8 : i.has(M::X2) ? 16 : 32;
  return access;
}

}  // namespace

std::vector<MemoryAccess> memory_accesses_of(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::Ld:
    case Opcode::Ldu:
      if (i.space() == Space::Param) return {};
      return {plain(i)};
    case Opcode::St:
    case Opcode::Red:
      if (i.space() == Space::Param) return {};
      if (i.has(M::Async)) return {plain(i), mbarrier(i.operands.back(), space_of(i, 0), false)};
      return {plain(i)};
    case Opcode::Atom:
      return {plain(i)};
    case Opcode::Cp:
      if (i.has(M::Mbarrier)) return {mbarrier(i.operands[0], space_of(i, 0), false)};
      if (i.has(M::Bulk)) return i.spaces.size() == 2 ? bulk_copy(i) : std::vector<MemoryAccess>{};
      return i.spaces.empty() ? std::vector<MemoryAccess>{} : copy(i);
    case Opcode::Mbarrier: {
      if (i.has(M::PendingCount)) return {};
      const bool has_result = i.operands[0].kind != Operand::Kind::Address;
      return {mbarrier(i.operands[has_result ? 1 : 0], space_of(i, 0), i.has(M::Init))};
    }
    case Opcode::Ldmatrix:
    case Opcode::Stmatrix:
      return {rows(i)};
    case Opcode::Wmma:
      if (i.has(M::Load)) return {unknown(i.operands[1], space_of(i, 0), bits::kReads | bits::kAsIs)};
      if (i.has(M::Store)) return {unknown(i.operands[0], space_of(i, 0), bits::kWrites | bits::kAsIs)};
      return {};
    default:
      return {};
  }
}

}  // namespace cucore::cpu::codegen
