// Tensor maps: see tensor_map.hpp.
#include "cpu/runtime/tensor_map.hpp"

#include <cstdint>
#include <cstring>

namespace cucore::cpu::runtime {

namespace {

/// What the 128 bytes hold.
struct Encoded {
  std::uint64_t address;
  std::uint64_t strides[4];
  std::uint32_t extents[5];  ///< minus one
  std::uint16_t box[5];
  std::uint8_t element_strides[5];
  std::uint8_t rank, type, interleave, swizzle, promotion, fill;
  std::uint32_t magic;
};
static_assert(sizeof(Encoded) <= sizeof(CUtensorMap));

constexpr std::uint32_t kMagic = 0x70616d74;

std::uint64_t bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
      return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 0;  // the packed types of 4 and 6 bits need sm_100
  }
}

std::uint64_t span_of(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B:
      return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B:
      return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B:
      return 128;
    default:
      return ~std::uint64_t{0};
  }
}

bool is_valid(const TiledMap& r) {
  const std::uint64_t element = bytes_of(r.type);
  if (element == 0 || r.rank < 1 || r.rank > 5 || !r.extents || !r.box || !r.element_strides) return false;
  if (r.rank > 1 && !r.strides) return false;
  if (r.interleave < CU_TENSOR_MAP_INTERLEAVE_NONE || r.interleave > CU_TENSOR_MAP_INTERLEAVE_32B) return false;
  if (r.swizzle < CU_TENSOR_MAP_SWIZZLE_NONE || r.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return false;
  if (r.promotion < CU_TENSOR_MAP_L2_PROMOTION_NONE || r.promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) return false;
  const bool is_interleaved = r.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
  const std::uint64_t unit = r.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  if (!r.address || reinterpret_cast<std::uintptr_t>(r.address) % unit != 0 || (is_interleaved && r.rank < 3))
    return false;
  const bool is_float = r.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (r.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE &&
      (r.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA || !is_float))
    return false;
  for (cuuint32_t i = 0; i < r.rank; ++i) {
    if (r.extents[i] == 0 || r.extents[i] > (std::uint64_t{1} << 32) || r.box[i] == 0 || r.box[i] > 256) return false;
    if (r.element_strides[i] == 0 || r.element_strides[i] > 8) return false;
    if (i > 0 && (r.strides[i - 1] % unit != 0 || r.strides[i - 1] >= (std::uint64_t{1} << 40))) return false;
  }
  const std::uint64_t inner = r.box[0] * element;
  if (!is_interleaved && (inner % 16 != 0 || inner > span_of(r.swizzle))) return false;
  return r.interleave != CU_TENSOR_MAP_INTERLEAVE_32B || r.swizzle == CU_TENSOR_MAP_SWIZZLE_32B;
}

}  // namespace

CUresult encode_tiled(CUtensorMap* map, const TiledMap& request) {
  if (!map || reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || !is_valid(request)) return CUDA_ERROR_INVALID_VALUE;
  Encoded encoded{};
  encoded.magic = kMagic;
  encoded.address = reinterpret_cast<std::uintptr_t>(request.address);
  encoded.rank = static_cast<std::uint8_t>(request.rank);
  for (cuuint32_t i = 0; i < request.rank; ++i) {
    encoded.extents[i] = static_cast<std::uint32_t>(request.extents[i] - 1);
    encoded.box[i] = static_cast<std::uint16_t>(request.box[i]);
    encoded.element_strides[i] = static_cast<std::uint8_t>(request.element_strides[i]);
    if (i > 0) encoded.strides[i - 1] = request.strides[i - 1];
  }
  encoded.type = static_cast<std::uint8_t>(request.type);
  encoded.interleave = static_cast<std::uint8_t>(request.interleave);
  encoded.swizzle = static_cast<std::uint8_t>(request.swizzle);
  encoded.promotion = static_cast<std::uint8_t>(request.promotion);
  encoded.fill = static_cast<std::uint8_t>(request.fill);
  *map = {};
  std::memcpy(map, &encoded, sizeof encoded);
  return CUDA_SUCCESS;
}

CUresult replace_address(CUtensorMap* map, void* address) {
  if (!map || !address) return CUDA_ERROR_INVALID_VALUE;
  Encoded encoded{};
  std::memcpy(&encoded, map, sizeof encoded);
  const std::uintptr_t unit = encoded.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  if (encoded.magic != kMagic || reinterpret_cast<std::uintptr_t>(address) % unit != 0) return CUDA_ERROR_INVALID_VALUE;
  encoded.address = reinterpret_cast<std::uintptr_t>(address);
  std::memcpy(map, &encoded, sizeof encoded);
  return CUDA_SUCCESS;
}

}  // namespace cucore::cpu::runtime
