// Tensor maps: see tensor_map.hpp.
#include "cpu/runtime/texture/tensor_map.hpp"

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "cpu/abi/tensor_map_contents.hpp"
#include "cpu/runtime/address_space/shadow.hpp"

namespace cucore::cpu::runtime {

namespace {

using Encoded = TensorMapContents;
static_assert(sizeof(Encoded) <= sizeof(CUtensorMap));

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

bool is_valid(const MappedTensor& r) {
  if (bytes_of(r.type) == 0 || r.rank < 1 || r.rank > 5) return false;
  if (!r.extents || !r.strides || !r.element_strides) return false;
  if (r.interleave < CU_TENSOR_MAP_INTERLEAVE_NONE || r.interleave > CU_TENSOR_MAP_INTERLEAVE_32B) return false;
  if (r.swizzle < CU_TENSOR_MAP_SWIZZLE_NONE || r.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return false;
  if (r.promotion < CU_TENSOR_MAP_L2_PROMOTION_NONE || r.promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) return false;
  const bool is_interleaved = r.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
  const std::uint64_t unit = r.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  // No address: to be replaced.
  if (reinterpret_cast<std::uintptr_t>(r.address) % unit != 0 || (is_interleaved && r.rank < 3)) return false;
  const bool is_float = r.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (r.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE &&
      (r.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA || !is_float))
    return false;
  for (cuuint32_t i = 0; i < r.rank; ++i) {
    if (r.extents[i] == 0 || r.extents[i] > (std::uint64_t{1} << 32)) return false;
    if (r.element_strides[i] == 0 || r.element_strides[i] > 8) return false;
    if (i > 0 && (r.strides[i - 1] % unit != 0 || r.strides[i - 1] >= (std::uint64_t{1} << 40))) return false;
  }
  return true;
}

/// The channels of an im2col map's pixel.
bool are_valid_channels(const MappedTensor& tensor, cuuint32_t channels) {
  if (channels == 0 || channels > 256) return false;
  const std::uint64_t bytes = channels * bytes_of(tensor.type);
  return tensor.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || (bytes % 16 == 0 && bytes <= span_of(tensor.swizzle));
}

bool is_valid(const MappedTensor& tensor, const cuuint32_t* box) {
  if (!box) return false;
  constexpr std::uint64_t most_bytes = std::uint64_t{227} << 10;  // of shared memory
  std::uint64_t bytes = bytes_of(tensor.type);
  for (cuuint32_t i = 0; i < tensor.rank; ++i) {
    if (box[i] == 0 || box[i] > 256) return false;
    bytes *= box[i];
  }
  if (bytes > most_bytes) return false;
  const std::uint64_t inner = box[0] * bytes_of(tensor.type);
  return tensor.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || (inner % 16 == 0 && inner <= span_of(tensor.swizzle));
}

bool is_valid(const MappedTensor& tensor, const PixelBox& box) {
  if (tensor.rank < 3 || !box.lower || !box.upper) return false;
  if (!are_valid_channels(tensor, box.channels) || box.pixels == 0 || box.pixels > 1024) return false;
  const int limit = tensor.rank == 3 ? 32768 : tensor.rank == 4 ? 128 : 16;
  for (cuuint32_t i = 0; i + 2 < tensor.rank; ++i) {
    for (const int offset : {box.lower[i], box.upper[i]})
      if (offset < -limit || offset >= limit) return false;
    if (static_cast<std::int64_t>(tensor.extents[i + 1]) + box.upper[i] - box.lower[i] <= 0) return false;
  }
  return true;
}

bool is_valid(const MappedTensor& tensor, const WidePixelBox& box) {
  const bool has_mode = box.mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W || box.mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
  if (tensor.rank < 3 || !has_mode || !are_valid_channels(tensor, box.channels)) return false;
  if (box.pixels == 0 || box.pixels > 1024) return false;
  for (const int offset : {box.lower, box.upper})
    if (offset < -32768 || offset > 32767) return false;
  return static_cast<std::int64_t>(tensor.extents[1]) + box.upper - box.lower > 0;
}

Encoded encode(const MappedTensor& tensor) {
  Encoded encoded{};
  encoded.magic = Encoded::expected_magic;
  encoded.address = reinterpret_cast<std::uintptr_t>(tensor.address);
  // Stores through the map are not seen by the checker, so all of the memory counts as written.
  if (const auto [base, bytes] = shadow::allocation_at(encoded.address); bytes != 0) shadow::mark_written(base, bytes);
  encoded.rank = static_cast<std::uint8_t>(tensor.rank);
  for (cuuint32_t i = 0; i < tensor.rank; ++i) {
    encoded.extents[i] = static_cast<std::uint32_t>(tensor.extents[i] - 1);
    encoded.element_strides[i] = static_cast<std::uint8_t>(tensor.element_strides[i]);
    if (i > 0) encoded.strides[i - 1] = tensor.strides[i - 1];
  }
  encoded.type = static_cast<std::uint8_t>(tensor.type);
  encoded.element_bytes = static_cast<std::uint8_t>(bytes_of(tensor.type));
  encoded.interleave = static_cast<std::uint8_t>(tensor.interleave);
  encoded.swizzle = static_cast<std::uint8_t>(tensor.swizzle);
  encoded.promotion = static_cast<std::uint8_t>(tensor.promotion);
  encoded.fill = static_cast<std::uint8_t>(tensor.fill);
  return encoded;
}

/// `map` may lie anywhere: cuda.core 1.2 has its maps in objects of Python's allocator, which divide by 16 alone.
void put(CUtensorMap* map, const Encoded& encoded) {
  std::memset(static_cast<void*>(map), 0, sizeof *map);
  std::memcpy(static_cast<void*>(map), &encoded, sizeof encoded);
}

}  // namespace

Result<void> encode_tiled(CUtensorMap* map, const MappedTensor& tensor, const cuuint32_t* box) {
  if (!map || !is_valid(tensor) || !is_valid(tensor, box)) return ErrorCode::InvalidValue;
  Encoded encoded = encode(tensor);
  for (cuuint32_t i = 0; i < tensor.rank; ++i) encoded.box[i] = static_cast<std::uint16_t>(box[i]);
  put(map, encoded);
  return {};
}

Result<void> encode_im2col(CUtensorMap* map, const MappedTensor& tensor, const PixelBox& box) {
  if (!map || !is_valid(tensor) || !is_valid(tensor, box)) return ErrorCode::InvalidValue;
  Encoded encoded = encode(tensor);
  encoded.is_im2col = 1;
  encoded.box[0] = static_cast<std::uint16_t>(box.channels);
  encoded.box[1] = static_cast<std::uint16_t>(box.pixels);
  for (cuuint32_t i = 0; i + 2 < tensor.rank; ++i) {
    encoded.lower[i] = static_cast<std::int16_t>(box.lower[i]);
    encoded.upper[i] = static_cast<std::int16_t>(box.upper[i]);
  }
  put(map, encoded);
  return {};
}

Result<void> encode_im2col_wide(CUtensorMap* map, const MappedTensor& tensor, const WidePixelBox& box) {
  if (!map || !is_valid(tensor) || !is_valid(tensor, box)) return ErrorCode::InvalidValue;
  Encoded encoded = encode(tensor);
  encoded.is_im2col = encoded.is_wide = 1;
  encoded.box[0] = static_cast<std::uint16_t>(box.channels);
  encoded.box[1] = static_cast<std::uint16_t>(box.mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ? box.pixels : 128);
  encoded.lower[0] = static_cast<std::int16_t>(box.lower);
  encoded.upper[0] = static_cast<std::int16_t>(box.upper);
  put(map, encoded);
  return {};
}

Result<void> replace_address(CUtensorMap* map, void* address) {
  if (!map || !address) return ErrorCode::InvalidValue;
  Encoded encoded{};
  std::memcpy(&encoded, map, sizeof encoded);
  const std::uintptr_t unit = encoded.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  if (encoded.magic != Encoded::expected_magic || reinterpret_cast<std::uintptr_t>(address) % unit != 0)
    return ErrorCode::InvalidValue;
  encoded.address = reinterpret_cast<std::uintptr_t>(address);
  std::memcpy(map, &encoded, sizeof encoded);
  return {};
}

}  // namespace cucore::cpu::runtime
