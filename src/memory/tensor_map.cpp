// TensorMap: errors that can be found here are described in words, since the driver says only "invalid value".
#include "cucore/tensor_map.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "cucore/error.hpp"
#include "src/device/context_state.hpp"
#include "src/driver/table.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/error/refuse.hpp"

namespace cucore {
namespace {

using MapNumbers = std::vector<std::int64_t>;

[[noreturn]] void refuse_map(const char* call, std::string message, std::string hint = {}) {
  detail::refuse(std::string("TensorMap::") + call, std::move(message), std::move(hint));
}

// What is the driver's to judge, and it would refuse.
[[noreturn]] void refuse_as_driver(const char* call, std::string message, std::string hint = {}) {
  detail::refuse_as_driver(std::string("TensorMap::") + call, std::move(message), std::move(hint));
}

void check_address(const char* call, DevicePointer address) {
  if (address % 16 == 0) return;
  refuse_map(call, "the address " + hexadecimal(address) + " is not aligned to 16 bytes");
}

using Refuse = void(const char* call, std::string message, std::string hint);

// One number for each axis, in a range.
void check_numbers(const char* call, const char* what, const MapNumbers& numbers, std::size_t count, std::int64_t least,
                   std::int64_t most, Refuse* refuse = refuse_map) {
  if (numbers.size() != count) {
    refuse_map(call, std::string(what) + " must have " + std::to_string(count) + " elements, not " +
                         std::to_string(numbers.size()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] >= least && numbers[i] <= most) continue;
    refuse(call,
           std::string(what) + "[" + std::to_string(i) + "] must be from " + std::to_string(least) + " to " +
               std::to_string(most) + ", not " + std::to_string(numbers[i]),
           {});
  }
}

template <class To>
std::vector<To> reversed(const MapNumbers& numbers) {
  std::vector<To> made(numbers.size());
  std::ranges::transform(numbers.rbegin(), numbers.rend(), made.begin(),
                         [](std::int64_t number) { return static_cast<To>(number); });
  return made;
}

bool is_floating(TensorMapDataType type) { return type >= TensorMapDataType::float16; }

// What both kinds of map hand to the driver, in its order.
struct Geometry {
  void* address;
  unsigned rank;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  // in bytes, of all axes but the innermost
  std::vector<unsigned> element_strides;

  Geometry(const char* call, DevicePointer base, const StridedLayout& layout, TensorMapDataType type,
           const TensorMapOptions& options, std::size_t least_rank) {
    rank = static_cast<unsigned>(layout.rank());
    if (rank < least_rank || rank > 5) {
      refuse_map(call,
                 "the tensor must have " + std::to_string(least_rank) + " to 5 axes, not " + std::to_string(rank));
    }
    if (element_bytes(type) != layout.itemsize()) {
      refuse_map(call, "elements of " + std::to_string(layout.itemsize()) + " bytes cannot be of a type of " +
                           std::to_string(element_bytes(type)));
    }
    const DevicePointer start = base + static_cast<DevicePointer>(layout.slice_offset_in_bytes());
    check_address(call, start);
    address = reinterpret_cast<void*>(start);
    check_numbers(call, "the shape", layout.shape(), rank, 1, std::int64_t{1} << 32, refuse_as_driver);
    shape = reversed<std::uint64_t>(layout.shape());
    check_strides(call, layout, options.interleave == TensorMapInterleave::bytes_32 ? 32 : 16);
    MapNumbers steps = options.element_strides;
    if (steps.empty()) steps.assign(rank, 1);
    check_numbers(call, "element_strides", steps, rank, 1, 8, refuse_as_driver);
    element_strides = reversed<unsigned>(steps);
    if (options.interleave != TensorMapInterleave::none && rank < 3) {
      refuse_as_driver(call, "interleave needs a tensor of 3 axes or more");
    }
    if (options.oob_fill == TensorMapOobFill::nan && !is_floating(type)) {
      refuse_as_driver(call, "elements that are whole numbers cannot be filled with NaN");
    }
  }

  void check_strides(const char* call, const StridedLayout& layout, std::int64_t multiple) {
    MapNumbers bytes = layout.strides_in_bytes();
    if (bytes.back() != layout.itemsize() && layout.shape().back() != 1) {
      refuse_as_driver(call, "the innermost axis must have stride 1, not " + std::to_string(layout.strides().back()));
    }
    bytes.pop_back();
    for (const std::int64_t stride : bytes) {
      if (stride >= 0 && stride % multiple == 0 && stride < std::int64_t{1} << 40) continue;
      refuse_as_driver(call,
                       "a stride of " + std::to_string(stride) + " bytes is not a multiple of " +
                           std::to_string(multiple) + " below 2^40",
                       "pad the rows of the tensor");
    }
    strides = reversed<std::uint64_t>(bytes);
    if (strides.empty()) strides.push_back(0);  // the driver wants an array for one axis, too
  }
};

std::string of(const Geometry& geometry) {
  return "a tensor of " + std::to_string(geometry.rank) + " axes at " + hexadecimal(geometry.address);
}

}  // namespace

std::int64_t element_bytes(TensorMapDataType type) noexcept {
  switch (type) {
    case TensorMapDataType::uint8:
      return 1;
    case TensorMapDataType::uint16:
    case TensorMapDataType::float16:
    case TensorMapDataType::bfloat16:
      return 2;
    case TensorMapDataType::uint64:
    case TensorMapDataType::int64:
    case TensorMapDataType::float64:
      return 8;
    default:
      return 4;
  }
}

TensorMap TensorMap::tiled(DevicePointer address, const StridedLayout& layout, TensorMapDataType type,
                           const std::vector<std::int64_t>& box, const TensorMapOptions& options) {
  const Geometry tensor("tiled", address, layout, type, options, 1);
  check_numbers("tiled", "box_dim", box, tensor.rank, 1, 256);
  const std::int64_t line = box.back() * layout.itemsize();
  if (options.interleave == TensorMapInterleave::none && line % 16 != 0) {
    refuse_as_driver(
        "tiled", "the innermost axis of the box has " + std::to_string(line) + " bytes, which is not a multiple of 16");
  }
  const std::int64_t span = 16 << static_cast<int>(options.swizzle);
  if (options.swizzle != TensorMapSwizzle::none && line > span) {
    refuse_as_driver("tiled", "the innermost axis of the box has " + std::to_string(line) + " bytes, more than the " +
                                  std::to_string(span) + " that are swizzled");
  }
  const std::vector<unsigned> extents = reversed<unsigned>(box);
  TensorMap made;
  driver::check(driver::table().cuTensorMapEncodeTiled(
                    reinterpret_cast<driver::CUtensorMap*>(&made), static_cast<int>(type), tensor.rank, tensor.address,
                    tensor.shape.data(), tensor.strides.data(), extents.data(), tensor.element_strides.data(),
                    static_cast<int>(options.interleave), static_cast<int>(options.swizzle),
                    static_cast<int>(options.l2_promotion), static_cast<int>(options.oob_fill)),
                "cuTensorMapEncodeTiled", [&] { return of(tensor); });
  return made;
}

TensorMap TensorMap::im2col(DevicePointer address, const StridedLayout& layout, TensorMapDataType type,
                            const TensorMapPixels& pixels, const TensorMapOptions& options) {
  const Geometry tensor("im2col", address, layout, type, options, 3);
  constexpr std::int64_t least = std::numeric_limits<int>::min();
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  check_numbers("im2col", "pixel_box_lower_corner", pixels.lower_corner, tensor.rank - 2, least, most);
  check_numbers("im2col", "pixel_box_upper_corner", pixels.upper_corner, tensor.rank - 2, least, most);
  check_numbers("im2col", "channels_per_pixel", {pixels.channels_per_pixel}, 1, 1, 256);
  check_numbers("im2col", "pixels_per_column", {pixels.pixels_per_column}, 1, 1, 1024);
  const std::vector<int> lower = reversed<int>(pixels.lower_corner);
  const std::vector<int> upper = reversed<int>(pixels.upper_corner);
  TensorMap made;
  driver::check(
      driver::table().cuTensorMapEncodeIm2col(
          reinterpret_cast<driver::CUtensorMap*>(&made), static_cast<int>(type), tensor.rank, tensor.address,
          tensor.shape.data(), tensor.strides.data(), lower.data(), upper.data(),
          static_cast<unsigned>(pixels.channels_per_pixel), static_cast<unsigned>(pixels.pixels_per_column),
          tensor.element_strides.data(), static_cast<int>(options.interleave), static_cast<int>(options.swizzle),
          static_cast<int>(options.l2_promotion), static_cast<int>(options.oob_fill)),
      "cuTensorMapEncodeIm2col", [&] { return of(tensor); });
  return made;
}

TensorMap TensorMap::im2col_wide(DevicePointer address, const StridedLayout& layout, TensorMapDataType type,
                                 const TensorMapWidePixels& pixels, const TensorMapOptions& options) {
  const Geometry tensor("im2col_wide", address, layout, type, options, 3);
  constexpr std::int64_t least = std::numeric_limits<int>::min();
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  check_numbers("im2col_wide", "pixel_box_lower_corner_width", {pixels.lower_corner_width}, 1, least, most);
  check_numbers("im2col_wide", "pixel_box_upper_corner_width", {pixels.upper_corner_width}, 1, least, most);
  check_numbers("im2col_wide", "channels_per_pixel", {pixels.channels_per_pixel}, 1, 1, 256);
  check_numbers("im2col_wide", "pixels_per_column", {pixels.pixels_per_column}, 1, 1, 1024);
  TensorMap made;
  driver::check(
      driver::table().cuTensorMapEncodeIm2colWide(
          reinterpret_cast<driver::CUtensorMap*>(&made), static_cast<int>(type), tensor.rank, tensor.address,
          tensor.shape.data(), tensor.strides.data(), static_cast<int>(pixels.lower_corner_width),
          static_cast<int>(pixels.upper_corner_width), static_cast<unsigned>(pixels.channels_per_pixel),
          static_cast<unsigned>(pixels.pixels_per_column), tensor.element_strides.data(),
          static_cast<int>(options.interleave), static_cast<int>(pixels.mode), static_cast<int>(options.swizzle),
          static_cast<int>(options.l2_promotion), static_cast<int>(options.oob_fill)),
      "cuTensorMapEncodeIm2colWide", [&] { return of(tensor); });
  return made;
}

void TensorMap::replace_address(DevicePointer address) {
  check_address("replace_address", address);
  TensorMap changed = *this;  // whole or not at all
  driver::check(driver::table().cuTensorMapReplaceAddress(reinterpret_cast<driver::CUtensorMap*>(&changed),
                                                          reinterpret_cast<void*>(address)),
                "cuTensorMapReplaceAddress", [&] { return "the address " + hexadecimal(address); });
  *this = changed;
}

}  // namespace cucore
