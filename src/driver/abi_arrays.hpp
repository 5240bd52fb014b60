// The driver's C ABI of arrays, textures, surfaces, copies in three dimensions and graphics resources: as abi.hpp, and
// included by it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cucore/driver_types.hpp"

namespace cucore::driver {

using CUarray = ArrayHandle;
using CUmipmappedArray = MipmappedArrayHandle;
using CUtexObject = TextureHandle;
using CUsurfObject = SurfaceHandle;
using CUgraphicsResource = GraphicsResourceHandle;

inline constexpr unsigned CU_MEMORYTYPE_ARRAY = 3;
inline constexpr unsigned CU_MEMORYTYPE_UNIFIED = 4;

inline constexpr int CU_AD_FORMAT_UNSIGNED_INT8 = 0x01;
inline constexpr int CU_AD_FORMAT_UNSIGNED_INT16 = 0x02;
inline constexpr int CU_AD_FORMAT_UNSIGNED_INT32 = 0x03;
inline constexpr int CU_AD_FORMAT_SIGNED_INT8 = 0x08;
inline constexpr int CU_AD_FORMAT_SIGNED_INT16 = 0x09;
inline constexpr int CU_AD_FORMAT_SIGNED_INT32 = 0x0a;
inline constexpr int CU_AD_FORMAT_HALF = 0x10;
inline constexpr int CU_AD_FORMAT_FLOAT = 0x20;
inline constexpr unsigned CUDA_ARRAY3D_LAYERED = 0x01;
inline constexpr unsigned CUDA_ARRAY3D_SURFACE_LDST = 0x02;
inline constexpr unsigned CUDA_ARRAY3D_CUBEMAP = 0x04;

inline constexpr int CU_RESOURCE_TYPE_ARRAY = 0;
inline constexpr int CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1;
inline constexpr int CU_RESOURCE_TYPE_LINEAR = 2;
inline constexpr int CU_RESOURCE_TYPE_PITCH2D = 3;
inline constexpr int CU_TR_ADDRESS_MODE_WRAP = 0;
inline constexpr int CU_TR_ADDRESS_MODE_CLAMP = 1;
inline constexpr int CU_TR_ADDRESS_MODE_MIRROR = 2;
inline constexpr int CU_TR_ADDRESS_MODE_BORDER = 3;
inline constexpr int CU_TR_FILTER_MODE_POINT = 0;
inline constexpr int CU_TR_FILTER_MODE_LINEAR = 1;
inline constexpr unsigned CU_TRSF_READ_AS_INTEGER = 0x01;
inline constexpr unsigned CU_TRSF_NORMALIZED_COORDINATES = 0x02;
inline constexpr unsigned CU_TRSF_SRGB = 0x10;
inline constexpr unsigned CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20;
inline constexpr unsigned CU_TRSF_SEAMLESS_CUBEMAP = 0x40;

struct CUDA_ARRAY3D_DESCRIPTOR {
  std::size_t Width, Height, Depth;
  int Format;
  unsigned NumChannels;
  unsigned Flags;
};

struct CUDA_MEMCPY3D {
  std::size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void* srcHost;
  DevicePointer srcDevice;
  CUarray srcArray;
  void* reserved0;
  std::size_t srcPitch, srcHeight;
  std::size_t dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void* dstHost;
  DevicePointer dstDevice;
  CUarray dstArray;
  void* reserved1;
  std::size_t dstPitch, dstHeight;
  std::size_t WidthInBytes, Height, Depth;
};

struct CUDA_RESOURCE_DESC {
  int resType;
  union {
    struct {
      CUarray hArray;
    } array;
    struct {
      CUmipmappedArray hMipmappedArray;
    } mipmap;
    struct {
      DevicePointer devPtr;
      int format;
      unsigned numChannels;
      std::size_t sizeInBytes;
    } linear;
    struct {
      DevicePointer devPtr;
      int format;
      unsigned numChannels;
      std::size_t width;
      std::size_t height;
      std::size_t pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned flags;
};

struct CUDA_TEXTURE_DESC {
  int addressMode[3];
  int filterMode;
  unsigned flags;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  float borderColor[4];
  int reserved[12];
};

}  // namespace cucore::driver
