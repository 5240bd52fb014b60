// The generators, by file: each emits a family of PTX instructions as LLVM IR at the emitter's position. The driver has
// the instruction table without them (CUCPU_NO_GENERATORS): there it only says what is supported.
#pragma once

#include "cpu/analysis/instruction_table.hpp"

namespace cucore::cpu::codegen {

#ifdef CUCPU_NO_GENERATORS
#define CUCPU_GENERATOR(name) inline constexpr Generator name = nullptr
#else
#define CUCPU_GENERATOR(name) void name(FunctionEmitter&, const ptx::Instruction&)
#endif

// integer.cpp
CUCPU_GENERATOR(emit_integer_add);
CUCPU_GENERATOR(emit_integer_sub);
CUCPU_GENERATOR(emit_integer_mul);
CUCPU_GENERATOR(emit_integer_mad);
CUCPU_GENERATOR(emit_integer_div);
CUCPU_GENERATOR(emit_integer_rem);
CUCPU_GENERATOR(emit_integer_abs);
CUCPU_GENERATOR(emit_integer_neg);
CUCPU_GENERATOR(emit_integer_min_max);
CUCPU_GENERATOR(emit_sad);
CUCPU_GENERATOR(emit_mul24);
CUCPU_GENERATOR(emit_dot_product);

// carry.cpp
CUCPU_GENERATOR(emit_add_carry);
CUCPU_GENERATOR(emit_sub_borrow);
CUCPU_GENERATOR(emit_mad_carry);

// float.cpp
CUCPU_GENERATOR(emit_float_arithmetic);
CUCPU_GENERATOR(emit_float_abs);
CUCPU_GENERATOR(emit_float_neg);
CUCPU_GENERATOR(emit_float_min_max);
CUCPU_GENERATOR(emit_copysign);
CUCPU_GENERATOR(emit_testp);

// half.cpp
CUCPU_GENERATOR(emit_half_arithmetic);

// math.cpp
CUCPU_GENERATOR(emit_approximate);
CUCPU_GENERATOR(emit_approximate_half);

// compare.cpp
CUCPU_GENERATOR(emit_setp);
CUCPU_GENERATOR(emit_setp_packed);
CUCPU_GENERATOR(emit_set);
CUCPU_GENERATOR(emit_set_half);
CUCPU_GENERATOR(emit_selp);
CUCPU_GENERATOR(emit_slct);

// bits.cpp
CUCPU_GENERATOR(emit_logic);
CUCPU_GENERATOR(emit_not);
CUCPU_GENERATOR(emit_cnot);
CUCPU_GENERATOR(emit_lop3);
CUCPU_GENERATOR(emit_shift);
CUCPU_GENERATOR(emit_funnel_shift);
CUCPU_GENERATOR(emit_count);
CUCPU_GENERATOR(emit_brev);
CUCPU_GENERATOR(emit_bfind);
CUCPU_GENERATOR(emit_bfe);
CUCPU_GENERATOR(emit_bfi);
CUCPU_GENERATOR(emit_bmsk);
CUCPU_GENERATOR(emit_szext);
CUCPU_GENERATOR(emit_prmt);

// convert.cpp
CUCPU_GENERATOR(emit_cvt);
CUCPU_GENERATOR(emit_cvt_tf32);
CUCPU_GENERATOR(emit_cvt_fp8);

// data.cpp
CUCPU_GENERATOR(emit_mov);
CUCPU_GENERATOR(emit_cvta);
CUCPU_GENERATOR(emit_isspacep);

// memory.cpp
CUCPU_GENERATOR(emit_ld);
CUCPU_GENERATOR(emit_st);
CUCPU_GENERATOR(emit_cp_async);
CUCPU_GENERATOR(emit_fence);

// async.cpp
CUCPU_GENERATOR(emit_mbarrier);
CUCPU_GENERATOR(emit_cp_async_arrive);
CUCPU_GENERATOR(emit_cp_async_bulk);
CUCPU_GENERATOR(emit_async_store);
CUCPU_GENERATOR(emit_createpolicy);

// cluster.cpp
CUCPU_GENERATOR(emit_mapa);
CUCPU_GENERATOR(emit_getctarank);
CUCPU_GENERATOR(emit_cluster_barrier);

// atomics.cpp
CUCPU_GENERATOR(emit_atomic);
CUCPU_GENERATOR(emit_atomic_half);

// control.cpp
CUCPU_GENERATOR(emit_bra);
CUCPU_GENERATOR(emit_brx);
CUCPU_GENERATOR(emit_call);
CUCPU_GENERATOR(emit_ret);
CUCPU_GENERATOR(emit_exit);
CUCPU_GENERATOR(emit_trap);
CUCPU_GENERATOR(emit_nothing);
CUCPU_GENERATOR(emit_nanosleep);

// warp.cpp
CUCPU_GENERATOR(emit_barrier);
CUCPU_GENERATOR(emit_shfl);
CUCPU_GENERATOR(emit_vote);
CUCPU_GENERATOR(emit_activemask);
CUCPU_GENERATOR(emit_redux);
CUCPU_GENERATOR(emit_match);
CUCPU_GENERATOR(emit_elect);

// matrix.cpp
CUCPU_GENERATOR(emit_mma);
CUCPU_GENERATOR(emit_wmma_load);
CUCPU_GENERATOR(emit_wmma_store);
CUCPU_GENERATOR(emit_ldmatrix);
CUCPU_GENERATOR(emit_stmatrix);
CUCPU_GENERATOR(emit_movmatrix);
CUCPU_GENERATOR(emit_wgmma);

// texture.cpp
CUCPU_GENERATOR(emit_texture_fetch);
CUCPU_GENERATOR(emit_surface_access);
CUCPU_GENERATOR(emit_texel_query);

#undef CUCPU_GENERATOR

}  // namespace cucore::cpu::codegen
