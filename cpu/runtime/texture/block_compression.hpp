// Texels in blocks of 4 by 4, compressed: BC1 to BC7 as Direct3D 11 and the Khronos Data Format Specification define
// them. Colours between two end points are exact fractions here; GPUs may round them to fewer bits.
#pragma once

#include <cstddef>

#include "cpu/runtime/memory/texel_format.hpp"

namespace cucore::cpu::runtime {

/// The channels of one texel of a block; (x, y) is its place there. What the format has no bits for is 0, alpha 1.
void decode_texel(BlockFormat format, const std::byte* block, unsigned x, unsigned y, float (&texel)[4]);

}  // namespace cucore::cpu::runtime
