// The special registers that kernels can read here. LLVM-free: the instruction table asks which exist.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

enum class Special : std::uint8_t {
  Tid,
  Ntid,
  Ctaid,
  Nctaid,
  Laneid,
  Warpid,
  Nwarpid,
  Smid,
  Nsmid,
  Gridid,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  Clock,
  ClockHi,
  Clock64,
  Globaltimer,
  GlobaltimerLo,
  GlobaltimerHi,
  Envreg,
  DynamicSmemSize,
  TotalSmemSize,
  ReservedSmemBegin,
  ReservedSmemEnd,
  ReservedSmemCap,
  ReservedSmemPart,
  ClusterId,
  ClusterCount,
  ClusterBlockId,
  ClusterBlockCount,
  ClusterBlockRank,
  ClusterSize,
  IsExplicitCluster,
  CurrentGraphExec,
};

/// Nothing for a special register that does not exist or is not readable here.
std::optional<Special> find_special(const ptx::SpecialRegister& special);

}  // namespace cucore::cpu::analysis
