// Tensor maps: the opaque 128 bytes that describe a tensor and the boxes copied out of it. Their contents are this
// driver's own.
#pragma once

#include <cuda.h>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

/// What both kinds of maps say of the tensor.
struct MappedTensor {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* extents;
  const cuuint64_t* strides;  ///< bytes, of all dimensions but the first
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

/// The bounding box of an im2col map: pixels between two corners, given as offsets from the tensor's own, width first.
struct PixelBox {
  const int* lower;
  const int* upper;
  cuuint32_t channels;  ///< per pixel
  cuuint32_t pixels;    ///< per column
};

/// The same of a map that moves along the width alone.
struct WidePixelBox {
  int lower, upper;
  cuuint32_t channels;  ///< per pixel
  cuuint32_t pixels;    ///< per column, unless the mode says 128
  CUtensorMapIm2ColWideMode mode;
};

/// InvalidValue for everything that the documentation of cuTensorMapEncodeTiled forbids.
Result<void> encode_tiled(CUtensorMap* map, const MappedTensor& tensor, const cuuint32_t* box);
/// The same for cuTensorMapEncodeIm2col.
Result<void> encode_im2col(CUtensorMap* map, const MappedTensor& tensor, const PixelBox& box);
/// The same for cuTensorMapEncodeIm2colWide. Such maps can be made, as on other devices that have no copies for them.
Result<void> encode_im2col_wide(CUtensorMap* map, const MappedTensor& tensor, const WidePixelBox& box);
Result<void> replace_address(CUtensorMap* map, void* address);

}  // namespace cucore::cpu::runtime
