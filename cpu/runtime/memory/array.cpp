// CUDA arrays and mipmapped arrays: see array.hpp.
#include "cpu/runtime/memory/array.hpp"

#include <algorithm>
#include <utility>

#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/memory/texel_format.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/process/handle_table.hpp"

namespace cucore::cpu::runtime {

namespace {

using ArrayTable = HandleTable<Array, HandleKind::Array>;
ArrayTable& array_table() {
  static auto* table = new ArrayTable;
  return *table;
}

using MipmappedArrayTable = HandleTable<MipmappedArray, HandleKind::MipmappedArray>;
MipmappedArrayTable& mipmapped_array_table() {
  static auto* table = new MipmappedArrayTable;
  return *table;
}

/// Whether an array of `shape` fits into one of width x height x depth; a depth of layers if it is layered.
bool fits(const CUDA_ARRAY3D_DESCRIPTOR& shape, std::size_t width, std::size_t height, std::size_t depth) {
  return shape.Width <= width && shape.Height <= height && shape.Depth <= depth;
}

/// The limits that the device attributes tell, and what an H200 makes of those that they leave open.
bool is_small_enough(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  const bool is_surface = (d.Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0;
  if ((d.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0) return d.Height != 0 && fits(d, 32768, 32768, 0);
  if ((d.Flags & CUDA_ARRAY3D_CUBEMAP) != 0) return fits(d, 32768, 32768, 2046);
  if ((d.Flags & CUDA_ARRAY3D_LAYERED) != 0) return fits(d, 32768, 32768, 2048);
  if (d.Height == 0) return fits(d, is_surface ? 32768 : 131072, 0, 0);
  if (d.Depth == 0) return fits(d, 131072, 65536, 0);
  return fits(d, 16384, 16384, 16384) || (!is_surface && fits(d, 8192, 8192, 32768));
}

Result<void> check(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  constexpr unsigned int known_bits = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                                      CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_DEPTH_TEXTURE |
                                      CUDA_ARRAY3D_COLOR_ATTACHMENT;
  if (!texel_format(d.Format, d.NumChannels)) return ErrorCode::InvalidValue;
  if (d.Width == 0 || (d.Flags & ~known_bits) != 0) return ErrorCode::InvalidValue;
  const bool is_layered = (d.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  const bool is_cubemap = (d.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  if (is_layered && d.Depth == 0) return ErrorCode::InvalidValue;
  if (!is_layered && d.Depth != 0 && d.Height == 0) return ErrorCode::InvalidValue;
  if (is_cubemap && (d.Width != d.Height || (is_layered ? d.Depth % 6 != 0 : d.Depth != 6)))
    return ErrorCode::InvalidValue;
  return is_small_enough(d) ? Result<void>() : ErrorCode::InvalidValue;
}

Result<std::shared_ptr<Array>> make(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  const Array shape(descriptor, 0);
  const std::size_t bytes = shape.row_bytes() * shape.rows() * shape.slices();
  Result<std::uintptr_t> address = allocate_array_memory(context, bytes);
  if (!address) return std::move(address).failure();
  return std::make_shared<Array>(descriptor, *address);
}

}  // namespace

Array::Array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::uintptr_t address)
    : descriptor_(descriptor), address_(address) {}

Array::~Array() {
  if (address_ != 0) free_array_memory(address_, std::move(destroyed_at_));
}

std::size_t Array::row_bytes() const {
  return descriptor_.Width * texel_format(descriptor_.Format, descriptor_.NumChannels)->bytes();
}

std::size_t Array::rows() const { return std::max<std::size_t>(descriptor_.Height, 1); }

std::size_t Array::slices() const { return std::max<std::size_t>(descriptor_.Depth, 1); }

Result<CUarray> Array::create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  if (Result<void> checked = check(descriptor); !checked) return std::move(checked).failure();
  Result<std::shared_ptr<Array>> made = make(context, descriptor);
  if (!made) return std::move(made).failure();
  Array& array = **made;
  array.handle_ = reinterpret_cast<CUarray>(array_table().insert(*std::move(made)));
  return array.handle_;
}

Result<CUmipmappedArray> MipmappedArray::create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                                unsigned int levels) {
  if (Result<void> checked = check(descriptor); !checked) return std::move(checked).failure();
  const bool is_layered = (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  std::size_t longest = std::max(descriptor.Width, descriptor.Height);
  if (!is_layered) longest = std::max(longest, descriptor.Depth);
  unsigned int most = 1;
  for (; longest > 1; longest /= 2) ++most;
  levels = std::clamp(levels, 1U, most);
  auto made = std::make_shared<MipmappedArray>();
  for (unsigned int level = 0; level < levels; ++level) {
    const auto halved = [level](std::size_t extent) {
      return extent == 0 ? 0 : std::max<std::size_t>(extent >> level, 1);
    };
    CUDA_ARRAY3D_DESCRIPTOR each = descriptor;
    each.Width = halved(descriptor.Width);
    each.Height = halved(descriptor.Height);
    if (!is_layered) each.Depth = halved(descriptor.Depth);
    Result<std::shared_ptr<Array>> array = make(context, each);
    if (!array) return std::move(array).failure();
    (*array)->is_level_ = true;
    (*array)->handle_ = reinterpret_cast<CUarray>(array_table().insert(*array));
    made->levels_.push_back(*std::move(array));
  }
  return reinterpret_cast<CUmipmappedArray>(mipmapped_array_table().insert(std::move(made)));
}

MipmappedArray::~MipmappedArray() {
  for (const auto& level : levels_) array_table().remove(level->handle());
}

std::shared_ptr<Array> find_array(CUarray handle) { return array_table().find(handle); }

std::shared_ptr<MipmappedArray> find_mipmapped_array(CUmipmappedArray handle) {
  return mipmapped_array_table().find(handle);
}

Result<void> destroy_array(CUarray handle) {
  const auto array = array_table().find(handle);
  if (array && array->is_level()) return {};  // goes with its mipmapped array, as on GPUs
  if (!array || !array_table().remove(handle)) return ErrorCode::InvalidHandle;
  array->set_destroyed_at(shadow::caller());
  return {};
}

Result<void> destroy_mipmapped_array(CUmipmappedArray handle) {
  const auto array = mipmapped_array_table().remove(handle);
  if (!array) return ErrorCode::InvalidHandle;
  for (const auto& level : array->levels()) level->set_destroyed_at(shadow::caller());
  return {};
}

}  // namespace cucore::cpu::runtime
