// Types and modifiers by the groups in which instructions accept them: what rows of the instruction table are made of.
#pragma once

#include <cstddef>

#include "cpu/ptx/tree/ast.hpp"
#include "cpu/ptx/tree/enum_set.hpp"

namespace cucore::cpu::analysis::spelling_sets {

using ptx::ModifierSet;
using ptx::TypeSet;
using M = ptx::Modifier;
using T = ptx::Type;

inline constexpr TypeSet none{};
inline constexpr TypeSet int16{T::U16, T::S16};
inline constexpr TypeSet int32{T::U32, T::S32};
inline constexpr TypeSet int64{T::U64, T::S64};
inline constexpr TypeSet integers = int16 | int32 | int64;
inline constexpr TypeSet signed_integers{T::S16, T::S32, T::S64};
inline constexpr TypeSet packed16{T::U16x2, T::S16x2};
inline constexpr TypeSet bits{T::B16, T::B32, T::B64};
inline constexpr TypeSet bits32{T::B32, T::B64};
inline constexpr TypeSet floats{T::F32, T::F64};
inline constexpr TypeSet halves{T::F16, T::F16x2, T::Bf16, T::Bf16x2};
inline constexpr TypeSet predicate{T::Pred};
inline constexpr TypeSet bytes{T::B8, T::U8, T::S8};
inline constexpr TypeSet in_memory = bytes | bits | integers | floats | TypeSet{T::F16, T::Bf16, T::F16x2, T::Bf16x2};

inline constexpr ModifierSet plain{};
inline constexpr ModifierSet rounding{M::Rn, M::Rz, M::Rm, M::Rp};
inline constexpr ModifierSet comparison{M::Eq, M::Ne,  M::Lt,  M::Le,  M::Gt,  M::Ge,  M::Lo,  M::Ls,  M::Hi,
                                        M::Hs, M::Equ, M::Neu, M::Ltu, M::Leu, M::Gtu, M::Geu, M::Num, M::Nan};
inline constexpr ModifierSet combination{M::And, M::Or, M::Xor};
inline constexpr ModifierSet scopes{M::Cta, M::Cluster, M::Gpu, M::Sys};
inline constexpr ModifierSet cache_operators{M::Ca, M::Cg, M::Cs, M::Lu, M::Cv, M::Wb, M::Wt, M::Nc};
inline constexpr ModifierSet l1_hints{M::L1EvictNormal, M::L1EvictUnchanged, M::L1EvictFirst, M::L1EvictLast,
                                      M::L1NoAllocate};
inline constexpr ModifierSet l2_hints{M::L2EvictNormal, M::L2EvictUnchanged, M::L2EvictFirst,   M::L2EvictLast,
                                      M::L2CacheHint,   M::L2Prefetch64B,    M::L2Prefetch128B, M::L2Prefetch256B};
inline constexpr ModifierSet cache_hints = cache_operators | l1_hints | l2_hints;
inline constexpr ModifierSet load_order{M::Weak, M::Volatile, M::Relaxed, M::Acquire, M::Mmio};
inline constexpr ModifierSet store_order{M::Weak, M::Volatile, M::Relaxed, M::Release, M::Mmio};
inline constexpr ModifierSet atomic_order{M::Relaxed, M::Acquire, M::Release, M::AcqRel};
inline constexpr ModifierSet atomic_operation{M::Add, M::Min, M::Max, M::Inc,  M::Dec,
                                              M::And, M::Or,  M::Xor, M::Exch, M::Cas};
inline constexpr ModifierSet tensor_reduction{M::Add, M::Min, M::Max, M::Inc, M::Dec, M::And, M::Or, M::Xor};

inline constexpr ModifierSet video_second{M::Add, M::Min, M::Max};
inline constexpr ModifierSet video_comparison{M::Eq, M::Ne, M::Lt, M::Le, M::Gt, M::Ge};
inline constexpr ModifierSet map_fields{M::GlobalAddress, M::Rank,          M::BoxDim,   M::GlobalDim,
                                        M::GlobalStride,  M::ElementStride, M::Elemtype, M::InterleaveLayout,
                                        M::SwizzleMode,   M::FillMode};
inline constexpr ModifierSet ftz_sat{M::Ftz, M::Sat};
inline constexpr ModifierSet geometry{M::D1, M::D2, M::D3, M::A1D, M::A2D, M::Cube, M::Acube};
inline constexpr ModifierSet out_of_bounds{M::Trap, M::Clamp, M::Zero};
inline constexpr ModifierSet extents{M::Width, M::Height, M::Depth, M::ChannelDataType, M::ChannelOrder, M::ArraySize};

inline constexpr TypeSet factors{T::F16, T::Bf16, T::Tf32, T::F64, T::E4m3, T::E5m2, T::S8, T::U8, T::S4, T::U4, T::B1};
inline constexpr TypeSet accumulators{T::F16, T::F32, T::F64, T::S32};
inline constexpr ModifierSet matrix_shapes{M::M8n8k4,    M::M8n8k16,  M::M8n8k32,  M::M8n8k128,  M::M8n32k16,
                                           M::M16n16k16, M::M16n16k8, M::M32n8k16, M::M16n8k4,   M::M16n8k8,
                                           M::M16n8k16,  M::M16n8k32, M::M16n8k64, M::M16n8k128, M::M16n8k256};
inline constexpr ModifierSet matrix_product =
    ModifierSet{M::Sync, M::Aligned, M::Row, M::Col, M::Satfinite, M::Xor, M::And, M::Popc} | rounding;
inline constexpr ModifierSet warpgroup_shapes = [] {
  ModifierSet shapes = plain;
  for (auto n = static_cast<std::size_t>(M::M64n8k8); n <= static_cast<std::size_t>(M::M64n256k256); ++n)
    shapes = shapes | ModifierSet{static_cast<M>(n)};
  return shapes;
}();
inline constexpr ModifierSet matrix_rows{M::Sync, M::Aligned, M::M8n8, M::X1, M::X2, M::X4, M::Trans};

}  // namespace cucore::cpu::analysis::spelling_sets
