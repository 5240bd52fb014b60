// TensorMap: how a kernel's tensor copies (TMA, compute capability 9.0) read and write boxes of a tensor.
//
//   const StridedLayout image({rows, columns}, sizeof(float));
//   const auto map = TensorMap::tiled(buffer.handle(), image, TensorMapDataType::float32, {16, 32});
//   launch(stream, config, kernel, map);      // for a parameter `const __grid_constant__ CUtensorMap map`
//
// Axes are in the order of the layout, the innermost one last; the driver's own order is the reverse. The innermost
// axis has stride 1, and the other strides are multiples of 16 bytes.
//
// Ownership: a value of 128 bytes, which does not keep the tensor's memory alive. Thread-safety: as an int.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"
#include "cucore/strided_layout.hpp"

namespace cucore {

// The numbers of these are the driver's.

/// What an element is. `_ftz` reads subnormal numbers as 0.
enum class TensorMapDataType {
  uint8,
  uint16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  float32,
  float64,
  bfloat16,
  float32_ftz,
  tfloat32,
  tfloat32_ftz
};
/// Whether channels lie in slices of 16 or 32 bytes (NC/8HWC8, NC/16HWC16).
enum class TensorMapInterleave { none, bytes_16, bytes_32 };
/// The length of the lines in which a box's 16-byte chunks are permuted in shared memory, to avoid bank conflicts.
enum class TensorMapSwizzle { none, bytes_32, bytes_64, bytes_128 };
/// How much of a line the L2 cache fetches at once.
enum class TensorMapL2Promotion { none, bytes_64, bytes_128, bytes_256 };
/// What elements outside the tensor read as. `nan`: a NaN that fused multiplications treat as 0.
enum class TensorMapOobFill { zeros, nan };

struct TensorMapOptions {
  std::vector<std::int64_t> element_strides = {};  ///< 1 to 8 for each axis: read every n-th element; none: 1
  TensorMapInterleave interleave = TensorMapInterleave::none;
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;
  TensorMapOobFill oob_fill = TensorMapOobFill::zeros;
};

/// What an im2col copy takes: the box of pixels between the corners, which are offsets from the tensor's own, one for
/// each axis but the outermost (the image) and the innermost (the channels).
struct TensorMapPixels {
  std::vector<std::int64_t> lower_corner = {};
  std::vector<std::int64_t> upper_corner = {};
  std::int64_t channels_per_pixel = 1;
  std::int64_t pixels_per_column = 1;
};

/// What a wide im2col copy takes: pixels along the axis next to the channels only (W), between corners that are offsets
/// from the tensor's own.
struct TensorMapWidePixels {
  enum class Mode { w = 0, w128 = 1 };
  std::int64_t lower_corner_width = 0;
  std::int64_t upper_corner_width = 0;
  std::int64_t channels_per_pixel = 1;
  std::int64_t pixels_per_column = 1;  ///< the driver ignores it with Mode::w128
  Mode mode = Mode::w;
};

class CUCORE_API TensorMap {
 public:
  /// Boxes of `box` elements (1 to 256 along each of 1 to 5 axes) of the tensor at `address` (cuTensorMapEncodeTiled).
  /// @throws ValueError not aligned to 16 bytes, another number of axes, a box, stride or type that cannot be
  /// @throws DriverError what else the driver refuses
  static TensorMap tiled(DevicePointer address, const StridedLayout& layout, TensorMapDataType type,
                         const std::vector<std::int64_t>& box, const TensorMapOptions& options = {});
  /// Columns of pixels for convolutions, of a tensor with 3 to 5 axes (cuTensorMapEncodeIm2col). Throws as tiled().
  static TensorMap im2col(DevicePointer address, const StridedLayout& layout, TensorMapDataType type,
                          const TensorMapPixels& pixels, const TensorMapOptions& options = {});
  /// The same along W (cuTensorMapEncodeIm2colWide: CUDA 12.8, compute capability 10.0). Throws as tiled();
  /// @throws DriverError CUDA_ERROR_NOT_SUPPORTED: the driver or the device does not have it
  static TensorMap im2col_wide(DevicePointer address, const StridedLayout& layout, TensorMapDataType type,
                               const TensorMapWidePixels& pixels, const TensorMapOptions& options = {});

  /// The same geometry at another address (cuTensorMapReplaceAddress).
  /// @throws ValueError not aligned to 16 bytes  @throws DriverError
  void replace_address(DevicePointer address);

  /// As kernels take it.
  std::span<const std::byte, 128> bytes() const noexcept { return bytes_; }

 private:
  TensorMap() = default;

  alignas(64) std::array<std::byte, 128> bytes_{};
};

/// Bytes of an element.
CUCORE_API std::int64_t element_bytes(TensorMapDataType type) noexcept;

}  // namespace cucore
