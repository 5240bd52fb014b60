// Tensor maps: the opaque 128 bytes that describe a tensor and the boxes copied out of it. Their contents are this
// driver's own.
#pragma once

#include <cuda.h>

namespace cucore::cpu::runtime {

struct TiledMap {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* extents;
  const cuuint64_t* strides;  ///< bytes, of all dimensions but the first
  const cuuint32_t* box;
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

/// INVALID_VALUE for everything that the documentation of cuTensorMapEncodeTiled forbids.
CUresult encode_tiled(CUtensorMap* map, const TiledMap& request);
CUresult replace_address(CUtensorMap* map, void* address);

}  // namespace cucore::cpu::runtime
