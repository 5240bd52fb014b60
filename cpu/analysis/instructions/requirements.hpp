// What the rows of the instruction table cannot say with sets: what a generator requires of an instruction whose types
// and modifiers are all acceptable. A failure names the part of the instruction that is not as required.
#pragma once

#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis::requirements {

// Arithmetic and conversions: arithmetic_requirements.cpp
Result<void> names_half(const ptx::Instruction& i);
Result<void> integer_multiply(const ptx::Instruction& i);
Result<void> saturating_add(const ptx::Instruction& i);
Result<void> single_precision_modifiers(const ptx::Instruction& i);
Result<void> rounded(const ptx::Instruction& i);
Result<void> approximate(const ptx::Instruction& i);
Result<void> relu_min_max(const ptx::Instruction& i);
Result<void> float_min_max(const ptx::Instruction& i);
Result<void> unpredicated_compare(const ptx::Instruction& i);
Result<void> set_types(const ptx::Instruction& i);
Result<void> half_set(const ptx::Instruction& i);
/// Of video instructions, only those that GPUs execute as the PTX ISA defines: ptxas emulates some differently (H100,
/// 580).
Result<void> agreed_video(const ptx::Instruction& i);
Result<void> two_types(const ptx::Instruction& i);
Result<void> slct_types(const ptx::Instruction& i);
Result<void> conversion(const ptx::Instruction& i);
Result<void> tf32_conversion(const ptx::Instruction& i);
Result<void> eight_bit_conversion(const ptx::Instruction& i);
Result<void> packing_conversion(const ptx::Instruction& i);
Result<void> move(const ptx::Instruction& i);

// Accesses of memory, textures and surfaces: memory_requirements.cpp
Result<void> load(const ptx::Instruction& i);
Result<void> store(const ptx::Instruction& i);
Result<void> address_conversion(const ptx::Instruction& i);
Result<void> space_test(const ptx::Instruction& i);
Result<void> any_space(const ptx::Instruction& i);
Result<void> stack_alignment(const ptx::Instruction& i);
Result<void> atomic(const ptx::Instruction& i);
Result<void> half_atomic(const ptx::Instruction& i);
Result<void> memory_barrier(const ptx::Instruction& i);
Result<void> cluster_address(const ptx::Instruction& i);
Result<void> texture_fetch(const ptx::Instruction& i);
Result<void> surface_access(const ptx::Instruction& i);
Result<void> texel_query(const ptx::Instruction& i);

// Asynchronous copies and barrier objects: copy_requirements.cpp
Result<void> barrier_object(const ptx::Instruction& i);
Result<void> copies_arrive(const ptx::Instruction& i);
Result<void> asynchronous_copy(const ptx::Instruction& i);
Result<void> bulk_copy(const ptx::Instruction& i);
Result<void> async_store(const ptx::Instruction& i);

// Tensor maps and launch control: tensor_map_requirements.cpp
Result<void> map_field(const ptx::Instruction& i);
Result<void> map_copy(const ptx::Instruction& i);
Result<void> cancel_request(const ptx::Instruction& i);
Result<void> cancel_query(const ptx::Instruction& i);

// What threads do together: warp_requirements.cpp
Result<void> barrier(const ptx::Instruction& i);
Result<void> cluster_barrier(const ptx::Instruction& i);
Result<void> shuffle(const ptx::Instruction& i);
Result<void> exchange(const ptx::Instruction& i);
Result<void> vote(const ptx::Instruction& i);
Result<void> reduction(const ptx::Instruction& i);
Result<void> call(const ptx::Instruction& i);
Result<void> matrix_multiply(const ptx::Instruction& i);
Result<void> matrix_transfer(const ptx::Instruction& i);
Result<void> matrix_rows(const ptx::Instruction& i);
Result<void> matrix_move(const ptx::Instruction& i);
Result<void> warpgroup_multiply(const ptx::Instruction& i);
Result<void> warpgroup_order(const ptx::Instruction& i);

}  // namespace cucore::cpu::analysis::requirements
