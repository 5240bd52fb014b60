// What a CUtensorMap of this driver holds: the run-time writes it, and the code of kernels reads it.
#pragma once

#include <cstdint>

namespace cucore::cpu {

/// The driver API's types of elements, by their numbers there.
enum class TensorElement : std::uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, Bf16, F32Ftz, Tf32, Tf32Ftz };

struct TensorMapContents {
  static constexpr std::uint32_t expected_magic = 0x70616d74;

  std::uint64_t address;
  std::uint64_t strides[4];         ///< bytes, of all dimensions but the first
  std::uint32_t extents[5];         ///< minus one
  std::uint16_t box[5];             ///< of a tiled map; channels and pixels of an im2col map
  std::int16_t lower[3], upper[3];  ///< of an im2col map
  std::uint8_t element_strides[5];
  std::uint8_t rank, type, interleave, swizzle, promotion, fill, is_im2col;  ///< the driver API's enumerators
  std::uint8_t element_bytes;
  std::uint8_t is_wide;  ///< an im2col map that moves along the width alone; no copy of this driver reads it
  std::uint32_t magic;
};
static_assert(sizeof(TensorMapContents) <= 128);

/// In the place of an instruction's number of dimensions: its coordinates are a column and four rows of a tiled map of
/// two dimensions, of which each box is one row (.tile::gather4, .tile::scatter4).
inline constexpr std::uint32_t four_rows = 104;

}  // namespace cucore::cpu
