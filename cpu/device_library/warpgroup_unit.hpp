// What generated code calls for wgmma. All threads of a warpgroup pass their registers; the last one to arrive does the
// work of all, at once: there is nothing left to commit or to wait for.
//
// How floats are added (as tensor cores of sm_90 do): the exact products of one instruction and the accumulator are
// aligned to the largest exponent among them and cut off below some bits, toward zero. Their sum is exact. It is cut
// off to the accumulator's bits if that is an f32, and rounded to nearest if it is an f16.
#pragma once

#include <cstdint>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::device_library::warpgroup_unit {

/// d = a * b + d in the fragments of `form` (a WarpgroupForm), or d = a * b if not `accumulates`. `a` is null if A has
/// a descriptor. `window`: the shared address of the block's own memory. `metadata`: this thread's, if A is sparse.
void multiply(ThreadState* thread, std::uint64_t form, void* d, const void* a, std::uint64_t a_descriptor,
              std::uint64_t b_descriptor, std::uint32_t window, std::uint32_t accumulates, std::uint32_t metadata);

}  // namespace cucore::cpu::device_library::warpgroup_unit
