// The table itself: for every opcode, the spellings that have a generator.
#include "cpu/analysis/instructions/instruction_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "cpu/analysis/instructions/requirements.hpp"
#include "cpu/analysis/instructions/spelling_sets.hpp"
#include "cpu/ptx/tree/words.hpp"

namespace cucore::cpu::analysis {

using ptx::ModifierSet;
using ptx::TypeSet;
using M = ptx::Modifier;
using O = ptx::Opcode;
using T = ptx::Type;

namespace {

using enum Generator;
using namespace spelling_sets;

// clang-format off
constexpr Form table[] = {
    // integer arithmetic
    {O::Add, emit_integer_add, 3, 3, integers | packed16, {M::Sat}, requirements::saturating_add},
    {O::Sub, emit_integer_sub, 3, 3, integers, {M::Sat}, requirements::saturating_add},
    {O::Mul, emit_integer_mul, 3, 3, integers, {M::Lo, M::Hi, M::Wide}, requirements::integer_multiply},
    {O::Mad, emit_integer_mad, 4, 4, integers, {M::Lo, M::Hi, M::Wide, M::Sat}, requirements::integer_multiply},
    {O::Mul24, emit_mul24, 3, 3, int32, {M::Lo, M::Hi}, requirements::names_half},
    {O::Mad24, emit_mul24, 4, 4, int32, {M::Lo, M::Hi, M::Sat}, requirements::integer_multiply},
    {O::Div, emit_integer_div, 3, 3, integers, plain},
    {O::Rem, emit_integer_rem, 3, 3, integers, plain},
    {O::Abs, emit_integer_abs, 2, 2, signed_integers, plain},
    {O::Neg, emit_integer_neg, 2, 2, signed_integers, plain},
    {O::Min, emit_integer_min_max, 3, 3, integers | packed16, {M::Relu}, requirements::relu_min_max},
    {O::Max, emit_integer_min_max, 3, 3, integers | packed16, {M::Relu}, requirements::relu_min_max},
    {O::Sad, emit_sad, 4, 4, integers, plain},
    {O::Dp4a, emit_dot_product, 4, 4, int32, plain, requirements::two_types},
    {O::Dp2a, emit_dot_product, 4, 4, int32, {M::Lo, M::Hi}, requirements::two_types},

    // video: parts of registers, and SIMD forms
    {O::Vadd, emit_video, 3, 4, int32, video_second | ModifierSet{M::Sat}, requirements::agreed_video},
    {O::Vsub, emit_video, 3, 4, int32, video_second | ModifierSet{M::Sat}, requirements::agreed_video},
    {O::Vabsdiff, emit_video, 3, 4, int32, video_second | ModifierSet{M::Sat}},
    {O::Vmin, emit_video, 3, 4, int32, video_second | ModifierSet{M::Sat}, requirements::agreed_video},
    {O::Vmax, emit_video, 3, 4, int32, video_second | ModifierSet{M::Sat}, requirements::agreed_video},
    {O::Vshl, emit_video, 3, 4, int32, video_second | ModifierSet{M::Sat, M::Clamp, M::Wrap}, requirements::agreed_video},
    {O::Vshr, emit_video, 3, 4, int32, video_second | ModifierSet{M::Sat, M::Clamp, M::Wrap}, requirements::agreed_video},
    {O::Vmad, emit_video, 4, 4, int32, {M::Sat, M::Shr7, M::Shr15, M::Po}, requirements::agreed_video},
    {O::Vset, emit_video, 3, 4, int32, video_second | video_comparison},
    {O::Vadd2, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vadd4, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vsub2, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vsub4, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vavrg2, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vavrg4, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vabsdiff2, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vabsdiff4, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vmin2, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vmin4, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vmax2, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vmax4, emit_video, 4, 4, int32, {M::Sat, M::Add}},
    {O::Vset2, emit_video, 4, 4, int32, video_comparison | ModifierSet{M::Add}},
    {O::Vset4, emit_video, 4, 4, int32, video_comparison | ModifierSet{M::Add}},

    // carry chains
    {O::Add, emit_add_carry, 3, 3, int32 | int64, {M::Cc}},
    {O::Addc, emit_add_carry, 3, 3, int32 | int64, {M::Cc}},
    {O::Sub, emit_sub_borrow, 3, 3, int32 | int64, {M::Cc}},
    {O::Subc, emit_sub_borrow, 3, 3, int32 | int64, {M::Cc}},
    {O::Mad, emit_mad_carry, 4, 4, int32 | int64, {M::Lo, M::Hi, M::Cc}, requirements::names_half},
    {O::Madc, emit_mad_carry, 4, 4, int32 | int64, {M::Lo, M::Hi, M::Cc}, requirements::names_half},

    // floating point
    {O::Add, emit_float_arithmetic, 3, 3, floats, rounding | ftz_sat, requirements::single_precision_modifiers},
    {O::Sub, emit_float_arithmetic, 3, 3, floats, rounding | ftz_sat, requirements::single_precision_modifiers},
    {O::Mul, emit_float_arithmetic, 3, 3, floats, rounding | ftz_sat, requirements::single_precision_modifiers},
    {O::Fma, emit_float_arithmetic, 4, 4, floats, rounding | ftz_sat, requirements::rounded},
    {O::Mad, emit_float_arithmetic, 4, 4, floats, rounding | ftz_sat, requirements::rounded},
    {O::Div, emit_float_arithmetic, 3, 3, floats, rounding | ModifierSet{M::Ftz}, requirements::rounded},
    {O::Rcp, emit_float_arithmetic, 2, 2, floats, rounding | ModifierSet{M::Ftz}, requirements::rounded},
    {O::Sqrt, emit_float_arithmetic, 2, 2, floats, rounding | ModifierSet{M::Ftz}, requirements::rounded},
    {O::Abs, emit_float_abs, 2, 2, floats, {M::Ftz}, requirements::single_precision_modifiers},
    {O::Neg, emit_float_neg, 2, 2, floats, {M::Ftz}, requirements::single_precision_modifiers},
    {O::Min, emit_float_min_max, 3, 4, floats, {M::Ftz, M::NaN, M::Xorsign, M::Abs}, requirements::float_min_max},
    {O::Max, emit_float_min_max, 3, 4, floats, {M::Ftz, M::NaN, M::Xorsign, M::Abs}, requirements::float_min_max},
    {O::Copysign, emit_copysign, 3, 3, floats, plain},
    {O::Testp, emit_testp, 2, 2, floats, {M::Finite, M::Infinite, M::Number, M::Notanumber, M::Normal, M::Subnormal}},

    // halves: scalar and packed
    {O::Add, emit_half_arithmetic, 3, 3, halves, {M::Rn, M::Ftz, M::Sat}},
    {O::Sub, emit_half_arithmetic, 3, 3, halves, {M::Rn, M::Ftz, M::Sat}},
    {O::Mul, emit_half_arithmetic, 3, 3, halves, {M::Rn, M::Ftz, M::Sat}},
    {O::Fma, emit_half_arithmetic, 4, 4, halves, {M::Rn, M::Ftz, M::Sat, M::Relu}},
    {O::Abs, emit_half_arithmetic, 2, 2, halves, {M::Ftz}},
    {O::Neg, emit_half_arithmetic, 2, 2, halves, {M::Ftz}},
    {O::Min, emit_half_arithmetic, 3, 3, halves, {M::Ftz, M::NaN}},
    {O::Max, emit_half_arithmetic, 3, 3, halves, {M::Ftz, M::NaN}},

    // functions with a stated error
    {O::Div, emit_approximate, 3, 3, floats, {M::Approx, M::Full, M::Ftz}, requirements::approximate},
    {O::Rcp, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, requirements::approximate},
    {O::Sqrt, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, requirements::approximate},
    {O::Rsqrt, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, requirements::approximate},
    {O::Ex2, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, requirements::approximate},
    {O::Lg2, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, requirements::approximate},
    {O::Sin, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, requirements::approximate},
    {O::Cos, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, requirements::approximate},
    {O::Tanh, emit_approximate, 2, 2, floats, {M::Approx, M::Ftz}, requirements::approximate},
    {O::Ex2, emit_approximate_half, 2, 2, halves, {M::Approx, M::Ftz}},
    {O::Tanh, emit_approximate_half, 2, 2, halves, {M::Approx}},

    // comparison and selection
    {O::Setp, emit_setp, 3, 4, integers | bits | floats | TypeSet{T::F16, T::Bf16},
     comparison | combination | ModifierSet{M::Ftz}, requirements::unpredicated_compare},
    {O::Setp, emit_setp_packed, 3, 4, {T::F16x2, T::Bf16x2}, comparison | combination | ModifierSet{M::Ftz},
     requirements::unpredicated_compare},
    {O::Set, emit_set, 3, 4, integers | bits | floats, comparison | combination | ModifierSet{M::Ftz}, requirements::set_types},
    {O::Set, emit_set_half, 3, 4, int32 | halves, comparison | combination | ModifierSet{M::Ftz}, requirements::half_set},
    {O::Selp, emit_selp, 4, 4, integers | bits | floats, plain},
    {O::Slct, emit_slct, 4, 4, integers | bits | floats, {M::Ftz}, requirements::slct_types},

    // bits
    {O::And, emit_logic, 3, 3, bits | predicate, plain},
    {O::Or, emit_logic, 3, 3, bits | predicate, plain},
    {O::Xor, emit_logic, 3, 3, bits | predicate, plain},
    {O::Not, emit_not, 2, 2, bits | predicate, plain},
    {O::Cnot, emit_cnot, 2, 2, bits, plain},
    {O::Lop3, emit_lop3, 5, 5, {T::B32}, plain},
    {O::Shl, emit_shift, 3, 3, bits, plain},
    {O::Shr, emit_shift, 3, 3, bits | integers, plain},
    {O::Shf, emit_funnel_shift, 4, 4, {T::B32}, {M::L, M::R, M::Clamp, M::Wrap}},
    {O::Popc, emit_count, 2, 2, bits32, plain},
    {O::Clz, emit_count, 2, 2, bits32, plain},
    {O::Brev, emit_brev, 2, 2, bits32, plain},
    {O::Bfind, emit_bfind, 2, 2, int32 | int64, {M::Shiftamt}},
    {O::Bfe, emit_bfe, 4, 4, int32 | int64, plain},
    {O::Bfi, emit_bfi, 5, 5, bits32, plain},
    {O::Bmsk, emit_bmsk, 3, 3, {T::B32}, {M::Clamp, M::Wrap}},
    {O::Fns, emit_fns, 4, 4, {T::B32}, plain},
    {O::Szext, emit_szext, 3, 3, int32, {M::Clamp, M::Wrap}},
    {O::Prmt, emit_prmt, 4, 4, {T::B32}, {M::F4e, M::B4e, M::Rc8, M::Ecl, M::Ecr, M::Rc16}},

    // data movement and conversion
    {O::Mov, emit_mov, 2, 2, integers | bits | floats | predicate | TypeSet{T::B128}, plain, requirements::move},
    {O::Cvt, emit_cvt, 2, 3, integers | TypeSet{T::U8, T::S8} | floats | halves,
     rounding | ModifierSet{M::Rni, M::Rzi, M::Rmi, M::Rpi, M::Ftz, M::Sat, M::Satfinite, M::Relu},
     requirements::conversion},
    {O::Cvt, emit_cvt_tf32, 2, 2, {T::Tf32, T::F32}, {M::Rna, M::Rn, M::Rz, M::Satfinite, M::Relu},
     requirements::tf32_conversion},
    {O::Cvt, emit_cvt_pack, 3, 4, {T::U2, T::S2, T::U4, T::S4, T::U8, T::S8, T::U16, T::S16, T::S32, T::B32},
     {M::Pack, M::Sat}, requirements::packing_conversion},
    {O::Cvt, emit_cvt_fp8, 2, 3, {T::E4m3x2, T::E5m2x2, T::F32, T::F16x2}, {M::Rn, M::Satfinite, M::Relu},
     requirements::eight_bit_conversion},
    {O::Cvta, emit_cvta, 2, 2, {T::U64}, {M::To}, requirements::address_conversion, true},
    {O::Isspacep, emit_isspacep, 2, 2, none, plain, requirements::space_test, true},
    {O::Alloca, emit_alloca, 2, 3, {T::U64}, plain, requirements::stack_alignment},
    {O::Stacksave, emit_stack_pointer, 1, 1, {T::U64}, plain},
    {O::Stackrestore, emit_stack_pointer, 1, 1, {T::U64}, plain},

    // memory
    {O::Ld, emit_ld, 2, 3, in_memory | TypeSet{T::B128}, load_order | cache_hints | scopes, requirements::load, true},
    {O::Ldu, emit_ld, 2, 2, in_memory, plain, requirements::load, true},
    {O::St, emit_st, 2, 3, in_memory | TypeSet{T::B128}, store_order | cache_hints | scopes, requirements::store, true},
    {O::Cp, emit_cp_async, 0, 5, none,
     cache_hints | ModifierSet{M::Async, M::CommitGroup, M::WaitGroup, M::WaitAll}, requirements::asynchronous_copy, true},
    {O::Cp, emit_cp_async_arrive, 1, 1, {T::B64}, {M::Async, M::Mbarrier, M::Arrive, M::Noinc},
     requirements::copies_arrive, true},
    {O::Cp, emit_cp_async_bulk, 0, 6, none,
     cache_hints | ModifierSet{M::Async, M::Bulk, M::MbarrierCompleteTxBytes, M::BulkGroup, M::CommitGroup,
                               M::WaitGroup, M::Read, M::Prefetch, M::L2, M::CpMask, M::Tensor, M::Tile,
                               M::TileGather4, M::TileScatter4, M::Im2col, M::Im2colNoOffs, M::MulticastCluster,
                               M::D1, M::D2, M::D3, M::D4, M::D5},
     requirements::bulk_copy, true},
    {O::Cp, emit_cp_async_bulk, 3, 5, int32 | int64 | bits32 | floats | TypeSet{T::F16, T::Bf16},
     cache_hints | atomic_operation |
         ModifierSet{M::Reduce, M::Async, M::Bulk, M::BulkGroup, M::MbarrierCompleteTxBytes, M::Noftz},
     requirements::bulk_copy, true},
    {O::Cp, emit_cp_async_bulk, 2, 3, none,
     cache_hints | tensor_reduction |
         ModifierSet{M::Reduce, M::Async, M::Bulk, M::BulkGroup, M::Tensor, M::Tile, M::Im2colNoOffs,
                     M::D1, M::D2, M::D3, M::D4, M::D5},
     requirements::bulk_copy, true},
    {O::Mbarrier, emit_mbarrier, 1, 4, {T::B64},
     scopes | ModifierSet{M::Init, M::Inval, M::ExpectTx, M::CompleteTx, M::Arrive, M::ArriveDrop, M::NoComplete,
                          M::TestWait, M::TryWait, M::Parity, M::PendingCount, M::Acquire, M::Release, M::Relaxed},
     requirements::barrier_object, true},
    {O::St, emit_async_store, 3, 3, {T::B32, T::B64, T::U32, T::U64, T::S32, T::S64, T::F32, T::F64},
     {M::Async, M::Weak, M::MbarrierCompleteTxBytes}, requirements::async_store, true},
    {O::Red, emit_async_store, 3, 3, {T::B32, T::U32, T::S32, T::U64},
     atomic_operation | ModifierSet{M::Async, M::Relaxed, M::Cluster, M::MbarrierCompleteTxBytes},
     requirements::async_store, true},
    {O::Createpolicy, emit_createpolicy, 2, 5, {T::B64},
     cache_hints | ModifierSet{M::Fractional, M::Range, M::Cvt, M::L2}, requirements::any_space, true},
    {O::Membar, emit_fence, 0, 0, none, {M::Cta, M::Gl, M::Sys}},
    {O::Fence, emit_fence, 0, 0, none, scopes | ModifierSet{M::Sc, M::AcqRel, M::Acquire, M::Release}},
    {O::Fence, emit_fence, 0, 2, none,
     scopes | ModifierSet{M::Proxy, M::Alias, M::Async, M::AsyncGeneric, M::TensormapGeneric, M::MbarrierInit,
                          M::Acquire, M::Release, M::SyncRestrictSharedCta, M::SyncRestrictSharedCluster},
     requirements::memory_barrier, true},
    {O::Prefetch, emit_nothing, 1, 1, none, cache_hints | ModifierSet{M::L1, M::L2, M::Tensormap}, requirements::any_space, true},
    {O::Prefetchu, emit_nothing, 1, 1, none, {M::L1}, requirements::any_space, true},
    {O::Applypriority, emit_nothing, 2, 2, none, cache_hints, requirements::any_space, true},
    {O::Discard, emit_nothing, 2, 2, none, {M::L2}, requirements::any_space, true},
    {O::Atom, emit_atomic, 3, 5, integers | bits | floats | TypeSet{T::B128}, atomic_order | scopes | atomic_operation | cache_hints,
     requirements::atomic, true},
    {O::Red, emit_atomic, 2, 3, integers | bits | floats, atomic_order | scopes | atomic_operation | cache_hints,
     requirements::atomic, true},
    {O::Atom, emit_atomic_half, 3, 4, halves, atomic_order | scopes | cache_hints | ModifierSet{M::Add, M::Noftz},
     requirements::half_atomic, true},
    {O::Red, emit_atomic_half, 2, 3, halves, atomic_order | scopes | cache_hints | ModifierSet{M::Add, M::Noftz},
     requirements::half_atomic, true},

    // tensor maps and launches
    {O::Tensormap, emit_tensormap_replace, 2, 3, {T::B1024, T::B32, T::B64},
     map_fields | ModifierSet{M::Replace, M::Tile}, requirements::map_field, true},
    {O::Tensormap, emit_tensormap_copy, 3, 3, none,
     scopes | ModifierSet{M::CpFenceproxy, M::TensormapGeneric, M::Release, M::Sync, M::Aligned},
     requirements::map_copy, true},
    {O::Clusterlaunchcontrol, emit_try_cancel, 2, 2, {T::B128},
     {M::TryCancel, M::Async, M::MbarrierCompleteTxBytes}, requirements::cancel_request, true},
    {O::Clusterlaunchcontrol, emit_query_cancel, 2, 2, {T::Pred, T::B32, T::B128},
     {M::QueryCancel, M::IsCanceled, M::GetFirstCtaid, M::GetFirstCtaidX, M::GetFirstCtaidY, M::GetFirstCtaidZ},
     requirements::cancel_query, true},

    // textures and surfaces
    {O::Tex, emit_texture_fetch, 2, 5, int32 | TypeSet{T::F32, T::F16, T::F16x2},
     geometry | ModifierSet{M::Base, M::Level, M::Grad}, requirements::texture_fetch, true},
    {O::Tld4, emit_texture_fetch, 2, 3, int32 | TypeSet{T::F32, T::F16, T::F16x2},
     geometry | ModifierSet{M::R, M::G, M::B, M::A}, requirements::texture_fetch, true},
    {O::Txq, emit_texel_query, 2, 3, {T::B32},
     extents | ModifierSet{M::NormalizedCoords, M::NumMipmapLevels, M::NumSamples, M::ForceUnnormalizedCoords,
                           M::FilterMode, M::AddrMode0, M::AddrMode1, M::AddrMode2, M::Level},
     requirements::texel_query, true},
    {O::Suq, emit_texel_query, 2, 2, {T::B32}, extents | ModifierSet{M::MemoryLayout}, requirements::texel_query, true},
    {O::Suld, emit_surface_access, 2, 2, {T::B8, T::B16, T::B32, T::B64},
     geometry | out_of_bounds | cache_hints | ModifierSet{M::B}, requirements::surface_access, true},
    {O::Sust, emit_surface_access, 2, 2, {T::B8, T::B16, T::B32, T::B64},
     geometry | out_of_bounds | cache_hints | ModifierSet{M::B, M::P}, requirements::surface_access, true},
    {O::Sured, emit_surface_access, 2, 2, {T::U32, T::S32, T::U64, T::S64, T::B32, T::B64},
     geometry | out_of_bounds | ModifierSet{M::B, M::P, M::Add, M::Min, M::Max, M::And, M::Or},
     requirements::surface_access, true},

    // control flow
    {O::Bra, emit_bra, 1, 1, none, {M::Uni}},
    {O::Brx, emit_brx, 2, 2, none, {M::Idx, M::Uni}},
    {O::Call, emit_call, 1, 4, none, {M::Uni}, requirements::call},
    {O::Ret, emit_ret, 0, 0, none, {M::Uni}},
    {O::Exit, emit_exit, 0, 0, none, plain},
    {O::Trap, emit_trap, 0, 0, none, plain},
    {O::Brkpt, emit_trap, 0, 0, none, plain},
    {O::Pmevent, emit_nothing, 1, 1, none, {M::Mask}},
    {O::Nanosleep, emit_nanosleep, 1, 1, {T::U32}, plain},
    {O::Setmaxnreg, emit_nothing, 1, 1, {T::U32}, {M::Inc, M::Dec, M::Sync, M::Aligned}},
    {O::Griddepcontrol, emit_nothing, 0, 0, none, {M::LaunchDependents, M::Wait}},

    // blocks and warps
    {O::Bar, emit_barrier, 1, 4, {T::U32, T::Pred},
     {M::Cta, M::Warp, M::Sync, M::Arrive, M::Red, M::Popc, M::And, M::Or}, requirements::barrier},
    {O::Barrier, emit_barrier, 1, 4, {T::U32, T::Pred},
     {M::Cta, M::Sync, M::Aligned, M::Arrive, M::Red, M::Popc, M::And, M::Or}, requirements::barrier},
    {O::Barrier, emit_cluster_barrier, 0, 0, none,
     {M::Cluster, M::Arrive, M::Wait, M::Acquire, M::Release, M::Relaxed, M::Aligned}, requirements::cluster_barrier},
    {O::Mapa, emit_mapa, 3, 3, {T::U32, T::U64}, plain, requirements::cluster_address, true},
    {O::Getctarank, emit_getctarank, 2, 2, {T::U32, T::U64}, plain, requirements::cluster_address, true},
    {O::Shfl, emit_shfl, 4, 5, {T::B32}, {M::Sync, M::Up, M::Down, M::Bfly, M::Idx}, requirements::exchange},
    {O::Vote, emit_vote, 2, 3, {T::B32, T::Pred}, {M::Sync, M::All, M::Any, M::Uni, M::Ballot}, requirements::vote},
    {O::Activemask, emit_activemask, 1, 1, {T::B32}, plain},
    {O::Redux, emit_redux, 3, 3, int32 | TypeSet{T::B32},
     {M::Sync, M::Add, M::Min, M::Max, M::And, M::Or, M::Xor}, requirements::reduction},
    {O::Match, emit_match, 3, 3, bits32, {M::Sync, M::Any, M::All}, requirements::shuffle},
    {O::Elect, emit_elect, 2, 2, none, {M::Sync}, requirements::shuffle},

    // matrices
    {O::Mma, emit_mma, 4, 6, factors | accumulators,
     matrix_shapes | matrix_product | ModifierSet{M::Sp, M::SpOrderedMetadata}, requirements::matrix_multiply},
    {O::Wgmma, emit_wgmma, 4, 10, factors | accumulators,
     warpgroup_shapes | ModifierSet{M::MmaAsync, M::Sync, M::Aligned, M::Sp, M::Satfinite, M::And, M::Popc},
     requirements::warpgroup_multiply},
    {O::Wgmma, emit_nothing, 0, 0, none, {M::Fence, M::CommitGroup, M::Sync, M::Aligned}, requirements::warpgroup_order},
    {O::Wgmma, emit_nothing, 1, 1, none, {M::WaitGroup, M::Sync, M::Aligned}, requirements::warpgroup_order},
    {O::Wmma, emit_mma, 4, 4, factors | accumulators, matrix_shapes | matrix_product | ModifierSet{M::Mma},
     requirements::matrix_multiply},
    {O::Wmma, emit_wmma_load, 2, 3, factors | accumulators,
     matrix_shapes | ModifierSet{M::Load, M::A, M::B, M::C, M::Sync, M::Aligned, M::Row, M::Col},
     requirements::matrix_transfer, true},
    {O::Wmma, emit_wmma_store, 2, 3, accumulators,
     matrix_shapes | ModifierSet{M::Store, M::D, M::Sync, M::Aligned, M::Row, M::Col}, requirements::matrix_transfer, true},
    {O::Ldmatrix, emit_ldmatrix, 2, 2, {T::B16}, matrix_rows, requirements::matrix_rows, true},
    {O::Stmatrix, emit_stmatrix, 2, 2, {T::B16}, matrix_rows, requirements::matrix_rows, true},
    {O::Movmatrix, emit_movmatrix, 2, 2, {T::B16}, {M::Sync, M::Aligned, M::M8n8, M::Trans}, requirements::matrix_move},
};
// clang-format on

/// Rows by opcode: the table lists an opcode in several families.
class FormsByOpcode {
 public:
  consteval FormsByOpcode() {
    for (const Form& form : table) ++begin_[static_cast<std::size_t>(form.opcode) + 1];
    for (std::size_t opcode = 0; opcode < ptx::opcode_count; ++opcode) begin_[opcode + 1] += begin_[opcode];
    auto next = begin_;
    for (std::size_t row = 0; row < std::size(table); ++row)
      rows_[next[static_cast<std::size_t>(table[row].opcode)]++] = static_cast<std::uint16_t>(row);
  }
  /// Numbers of rows, in the table's order.
  constexpr std::span<const std::uint16_t> operator[](O opcode) const {
    const auto index = static_cast<std::size_t>(opcode);
    return std::span(rows_).subspan(begin_[index], begin_[index + 1] - begin_[index]);
  }

 private:
  std::array<std::uint16_t, ptx::opcode_count + 1> begin_{};
  std::array<std::uint16_t, std::size(table)> rows_{};
};

constexpr FormsByOpcode forms_by_opcode;

}  // namespace

std::span<const Form> instruction_table() { return table; }

std::span<const std::uint16_t> rows_of(ptx::Opcode opcode) { return forms_by_opcode[opcode]; }

}  // namespace cucore::cpu::analysis
