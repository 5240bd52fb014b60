// What the rows of the instruction table cannot say with sets: each function tells why a generator cannot take an
// instruction whose types and modifiers are all acceptable, or returns null.
#pragma once

#include "cpu/ptx/ast.hpp"

namespace cucore::cpu::codegen::refusals {

const char* lacks_half(const ptx::Instruction& i);
const char* integer_multiply(const ptx::Instruction& i);
const char* saturating_add(const ptx::Instruction& i);
const char* single_precision_modifiers(const ptx::Instruction& i);
const char* rounded(const ptx::Instruction& i);
const char* approximate(const ptx::Instruction& i);
const char* relu_min_max(const ptx::Instruction& i);
const char* float_min_max(const ptx::Instruction& i);
const char* unpredicated_compare(const ptx::Instruction& i);
const char* set_types(const ptx::Instruction& i);
const char* two_types(const ptx::Instruction& i);
const char* slct_types(const ptx::Instruction& i);
const char* conversion(const ptx::Instruction& i);
const char* eight_bit_conversion(const ptx::Instruction& i);
const char* move(const ptx::Instruction& i);
const char* load(const ptx::Instruction& i);
const char* store(const ptx::Instruction& i);
const char* address_conversion(const ptx::Instruction& i);
const char* space_test(const ptx::Instruction& i);
const char* atomic(const ptx::Instruction& i);
const char* barrier(const ptx::Instruction& i);
const char* shuffle(const ptx::Instruction& i);
const char* vote(const ptx::Instruction& i);
const char* call(const ptx::Instruction& i);
const char* asynchronous_copy(const ptx::Instruction& i);
const char* reduction(const ptx::Instruction& i);
const char* half_atomic(const ptx::Instruction& i);
const char* half_set(const ptx::Instruction& i);
const char* matrix_multiply(const ptx::Instruction& i);
const char* warpgroup_multiply(const ptx::Instruction& i);
const char* warpgroup_order(const ptx::Instruction& i);
const char* matrix_transfer(const ptx::Instruction& i);
const char* matrix_rows(const ptx::Instruction& i);
const char* matrix_move(const ptx::Instruction& i);
const char* texture_fetch(const ptx::Instruction& i);
const char* surface_access(const ptx::Instruction& i);
const char* texel_query(const ptx::Instruction& i);
const char* memory_barrier(const ptx::Instruction& i);
const char* barrier_object(const ptx::Instruction& i);
const char* copies_arrive(const ptx::Instruction& i);
const char* bulk_copy(const ptx::Instruction& i);
const char* async_store(const ptx::Instruction& i);
const char* cluster_address(const ptx::Instruction& i);
const char* cluster_barrier(const ptx::Instruction& i);
const char* any_space(const ptx::Instruction& i);

}  // namespace cucore::cpu::codegen::refusals
