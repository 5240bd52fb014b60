// Copies of boxes between a tensor in global memory and shared memory, as a tensor map describes them (tiled maps).
#pragma once

#include <cstdint>

#include "cpu/codegen/kernel_abi.hpp"

namespace cucore::cpu::codegen::tensor_copy {

/// Copies the box at `coordinates` (one for each of `rank` dimensions) to shared memory; what lies outside of the
/// tensor becomes zero, or NaN if the map says so. Returns the bytes of the whole box. A map that is none of this
/// driver's, has another rank, is interleaved or is an im2col map traps.
std::uint32_t load(ThreadState* thread, void* shared, const void* map, std::uint32_t rank,
                   const std::int32_t* coordinates);
/// The other way; what lies outside of the tensor is not written.
void store(ThreadState* thread, const void* shared, const void* map, std::uint32_t rank,
           const std::int32_t* coordinates);

}  // namespace cucore::cpu::codegen::tensor_copy
