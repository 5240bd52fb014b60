// Copies of boxes between a tensor in global memory and shared memory, as a tensor map describes them.
//
// What cannot be copied ends the kernel, as on an H200. It is an illegal instruction if the map was not made by this
// driver, has another rank or mode, or is interleaved (which is not supported here), if the box's first coordinate is
// not a multiple of 16 bytes, and if a box to be written begins before the tensor (four rows: before its first column).
// It is a misaligned address if shared memory does not lie at a multiple of 128 bytes.
#pragma once

#include <cstdint>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::device_library::tensor_copy {

/// Copies the box at `coordinates` (one for each of `rank` dimensions) to shared memory; what lies outside of the
/// tensor becomes zero, or NaN if the map says so. Returns the bytes of the whole box. With `offsets`, one for each
/// dimension between the first and the last, the map is an im2col map: its pixels are taken from `coordinates` on, each
/// so far aside. Elements of TensorFloat-32 are rounded to it. With `rank` four_rows (cpu/abi) the box is four rows of
/// a matrix, one behind the other, which begin at one column.
std::uint32_t load(ThreadState* thread, void* shared, const void* map, std::uint32_t rank,
                   const std::int32_t* coordinates, const std::int32_t* offsets);
/// The other way; what lies outside of the tensor is not written.
void store(ThreadState* thread, const void* shared, const void* map, std::uint32_t rank,
           const std::int32_t* coordinates, const std::int32_t* offsets);
/// As store, but each element is combined with the tensor's (`operation`: a Reduction); one that its type does not have
/// is an illegal instruction.
void reduce(ThreadState* thread, const void* shared, const void* map, std::uint32_t rank,
            const std::int32_t* coordinates, const std::int32_t* offsets, std::uint32_t operation);

}  // namespace cucore::cpu::device_library::tensor_copy
