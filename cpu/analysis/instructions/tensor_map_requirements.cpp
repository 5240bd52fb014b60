// What tensormap and clusterlaunchcontrol require beyond their rows of the instruction table.
#include <vector>

#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/instructions/requirements.hpp"

namespace cucore::cpu::analysis::requirements {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using M = ptx::Modifier;
using T = ptx::Type;

/// tensormap.replace.tile.FIELD [map], perhaps the ordinal of a dimension, value
Result<void> map_field(const Instruction& i) {
  if (!i.has(M::Replace) || !i.has(M::Tile) || i.modifiers.size() != 3 || i.vector_width != 1)
    return not_supported("form");
  if (i.spaces.size() > 1 || (i.space() != Space::Generic && i.space() != Space::Global && i.space() != Space::Shared))
    return not_supported("state space");
  const bool is_wide = i.has(M::GlobalAddress) || i.has(M::GlobalStride);
  if (i.types.size() != 2 || i.types[0] != T::B1024 || i.types[1] != (is_wide ? T::B64 : T::B32))
    return not_supported("types");
  if (i.operands[0].kind != Operand::Kind::Address) return not_supported("operands");
  const bool of_dimension =
      i.has(M::BoxDim) || i.has(M::GlobalDim) || i.has(M::GlobalStride) || i.has(M::ElementStride);
  if (i.operands.size() != (of_dimension ? 3U : 2U)) return not_supported("operands");
  if (i.has(M::GlobalAddress) || i.has(M::Rank)) return {};
  // A constant: the ordinal, or the number of what there is a short list of.
  const std::uint64_t count = i.has(M::GlobalStride)       ? 4
                              : of_dimension               ? 5
                              : i.has(M::Elemtype)         ? 13
                              : i.has(M::InterleaveLayout) ? 3
                              : i.has(M::SwizzleMode)      ? 4
                                                           : 2;
  return require(i.operands[1].kind == Operand::Kind::Integer && i.operands[1].integer < count, "value");
}

Result<void> map_copy(const Instruction& i) {
  if (!i.has(M::CpFenceproxy) || !i.has(M::TensormapGeneric) || !i.has(M::Release) || !i.has(M::Sync) ||
      !i.has(M::Aligned) || i.spaces != std::vector{Space::Global, Space::Shared})
    return not_supported("form");
  return require(i.operands[2].kind == Operand::Kind::Integer && i.operands[2].integer == 128, "number of bytes");
}

Result<void> cancel_request(const Instruction& i) {
  if (!i.has(M::TryCancel) || !i.has(M::Async) || !i.has(M::MbarrierCompleteTxBytes)) return not_supported("form");
  if (i.types.size() != 1 || i.vector_width != 1) return not_supported("types");
  return require(i.spaces.empty() || i.spaces == std::vector{Space::Shared}, "state space");
}

Result<void> cancel_query(const Instruction& i) {
  if (!i.has(M::QueryCancel) || i.modifiers.size() != 2 || !i.spaces.empty()) return not_supported("form");
  if (i.types.size() != 2 || i.types[1] != T::B128 || i.types[0] != (i.has(M::IsCanceled) ? T::Pred : T::B32))
    return not_supported("types");
  const unsigned width = i.has(M::GetFirstCtaid) ? 4 : 1;
  const Operand& to = i.operands[0];
  const bool is_vector = to.kind == Operand::Kind::Vector;
  if (i.vector_width != width || (is_vector ? to.elements.size() : 1U) != width) return not_supported("vector width");
  return {};
}

}  // namespace cucore::cpu::analysis::requirements
