// Texture and surface objects: see texture.hpp.
#include "cpu/runtime/texture/texture.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/memory/array.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/handle_table.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"
#include "cpu/runtime/texture/resource_epoch.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr std::size_t base_alignment = 512;
constexpr std::size_t pitch_alignment = 32;
constexpr std::size_t most_pitched = 131072;
constexpr std::size_t most_linear = std::size_t{1} << 28;

using ObjectTable = HandleTable<ResourceObject, HandleKind::ResourceDescription>;
ObjectTable& object_table() {
  static auto* table = new ObjectTable;
  return *table;
}

struct DestroyedObject {
  unsigned long long handle = 0;
  const char* kind = "";
  std::string made_at;
  std::string destroyed_at;
};
struct DestroyedObjects {
  std::mutex mutex;
  std::deque<DestroyedObject> latest;  ///< the latest first
};
constexpr std::size_t destroyed_remembered = 4096;

DestroyedObjects& destroyed_objects() {
  static auto* const instance = new DestroyedObjects;
  return *instance;
}

const char* kind_of(const ResourceObject& object) { return object.is_surface ? "surface object" : "texture object"; }

const void* as_handle(unsigned long long handle) { return reinterpret_cast<const void*>(handle); }

/// The levels and the format that kernels see.
void set_array_levels(const std::vector<std::shared_ptr<Array>>& levels, ResourceObject* object) {
  const CUDA_ARRAY3D_DESCRIPTOR& first = levels.front()->descriptor();
  object->format = *texel_format(first.Format, first.NumChannels);
  object->is_layered = (first.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  object->is_cubemap = (first.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  const bool has_slices = object->is_layered || object->is_cubemap || first.Depth == 0;
  object->dimensions = first.Height == 0 ? 1 : has_slices ? 2 : 3;
  for (const auto& level : levels) {
    object->levels.push_back({.base = reinterpret_cast<std::byte*>(level->address()),
                              .width = static_cast<std::int64_t>(level->descriptor().Width),
                              .height = static_cast<std::int64_t>(level->rows()),
                              .depth = static_cast<std::int64_t>(level->slices()),
                              .row_bytes = level->row_bytes(),
                              .slice_bytes = level->row_bytes() * level->rows()});
  }
}

void set_memory_level(CUdeviceptr address, std::size_t width, std::size_t height, std::size_t row_bytes,
                      ResourceObject* object) {
  object->dimensions = height == 0 ? 1 : 2;
  object->levels.push_back({.base = reinterpret_cast<std::byte*>(address),
                            .width = static_cast<std::int64_t>(width),
                            .height = static_cast<std::int64_t>(height == 0 ? 1 : height),
                            .depth = 1,
                            .row_bytes = row_bytes,
                            .slice_bytes = 0});
}

/// The array lives as long as the object, so that nothing unsafe happens; with checks it is destroyed when the program
/// says so.
void keep(std::shared_ptr<const void> array, ResourceObject* object) {
  object->array = array;
  if (!checker::checks(check_class::memory_checks)) object->kept_array = std::move(array);
}

Result<void> bind(const CUDA_RESOURCE_DESC& resource, ResourceObject* object) {
  if (resource.flags != 0) return ErrorCode::InvalidValue;
  object->resource = resource;
  const auto& linear = resource.res.linear;
  const auto& pitched = resource.res.pitch2D;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      const auto array = find_array(resource.res.array.hArray);
      if (!array) return ErrorCode::InvalidHandle;
      set_array_levels({array}, object);
      keep(array, object);
      return {};
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      const auto array = find_mipmapped_array(resource.res.mipmap.hMipmappedArray);
      if (!array) return ErrorCode::InvalidHandle;
      set_array_levels(array->levels(), object);
      keep(array, object);
      return {};
    }
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto format = texel_format(linear.format, linear.numChannels);
      if (!format || linear.devPtr % base_alignment != 0) return ErrorCode::InvalidValue;
      const std::size_t elements = linear.sizeInBytes / format->bytes();
      if (elements == 0 || elements > most_linear || !is_device_range(linear.devPtr, linear.sizeInBytes))
        return ErrorCode::InvalidValue;
      object->format = *format;
      set_memory_level(linear.devPtr, elements, 0, linear.sizeInBytes, object);
      return {};
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto format = texel_format(pitched.format, pitched.numChannels);
      if (!format || pitched.width == 0 || pitched.height == 0 || pitched.width > most_pitched ||
          pitched.height > most_pitched || pitched.devPtr % base_alignment != 0 ||
          pitched.pitchInBytes % pitch_alignment != 0)
        return ErrorCode::InvalidValue;
      const std::size_t row = format->bytes() * pitched.width;
      const std::size_t bytes = pitched.pitchInBytes * (pitched.height - 1) + row;
      if (row > pitched.pitchInBytes || !is_device_range(pitched.devPtr, bytes)) return ErrorCode::InvalidValue;
      object->format = *format;
      set_memory_level(pitched.devPtr, pitched.width, pitched.height, pitched.pitchInBytes, object);
      return {};
    }
    default:
      return ErrorCode::InvalidValue;
  }
}

/// Narrows the object to the levels and layers of the view, and reads it in the view's format. What is refused, and
/// that a last level or layer that the array lacks is not, is as an H200's driver has it.
Result<void> apply(const CUDA_RESOURCE_VIEW_DESC& view, ResourceObject* object) {
  const auto format = texel_format(view.format);
  if (!format || format->bytes() != object->format.bytes()) return ErrorCode::InvalidValue;
  if (format->block != BlockFormat::None) {
    // A block is a texel of the array: two or four unsigned integers of 32 bits.
    const TexelFormat of_block{TexelFormat::Kind::Unsigned, 4, static_cast<std::uint8_t>(format->bytes() / 4)};
    if (object->format != of_block || object->dimensions != 2) return ErrorCode::InvalidValue;
    for (TexelGrid& level : object->levels) {
      level.width *= side_of_block;
      level.height *= side_of_block;
    }
  }
  object->format = *format;
  const TexelGrid& first = object->levels.front();
  const bool has_slices = object->is_layered || object->is_cubemap;
  if (view.width != static_cast<std::size_t>(first.width)) return ErrorCode::InvalidValue;
  if (object->dimensions > 1 ? view.height != static_cast<std::size_t>(first.height) : view.height > 1)
    return ErrorCode::InvalidValue;
  const bool has_depth = has_slices || object->dimensions > 2;
  if (view.depth != (has_depth ? static_cast<std::size_t>(first.depth) : 0)) return ErrorCode::InvalidValue;
  if (view.firstMipmapLevel > view.lastMipmapLevel || view.firstLayer > view.lastLayer) return ErrorCode::InvalidValue;
  if (!has_slices && view.lastLayer > 0) return ErrorCode::InvalidValue;
  const std::size_t last_level = object->levels.size() - 1;
  object->levels.resize(std::min<std::size_t>(view.lastMipmapLevel, last_level) + 1);
  object->levels.erase(
      object->levels.begin(),
      object->levels.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(view.firstMipmapLevel, last_level)));
  if (!has_slices || view.lastLayer == 0) return {};  // 0 to 0: all of them
  const std::int64_t last_layer = first.depth - 1;
  const std::int64_t from = std::min<std::int64_t>(view.firstLayer, last_layer);
  for (TexelGrid& level : object->levels) {
    level.base += level.slice_bytes * static_cast<std::size_t>(from);
    level.depth = std::min<std::int64_t>(view.lastLayer, last_layer) - from + 1;
  }
  return {};
}

bool is_valid(const CUDA_TEXTURE_DESC& texture) {
  constexpr unsigned int known_bits = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                                      CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  for (const CUaddress_mode mode : texture.addressMode)
    if (mode < CU_TR_ADDRESS_MODE_WRAP || mode > CU_TR_ADDRESS_MODE_BORDER) return false;
  const auto is_filter = [](CUfilter_mode mode) {
    return mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR;
  };
  return is_filter(texture.filterMode) && is_filter(texture.mipmapFilterMode) && (texture.flags & ~known_bits) == 0;
}

}  // namespace

bool reads_integers(const ResourceObject& object) {
  return object.format.is_integer() &&
         (object.format.channel_bytes == 4 || (object.texture.flags & CU_TRSF_READ_AS_INTEGER) != 0);
}

Result<CUtexObject> create_texture_object(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                                          const CUDA_RESOURCE_VIEW_DESC* view) {
  auto object = std::make_shared<ResourceObject>();
  object->made_at = shadow::caller();
  if (Result<void> bound = bind(resource, object.get()); !bound) return std::move(bound).failure();
  object->texture = texture;
  if (!is_valid(texture) || (view && object->array.expired())) return ErrorCode::InvalidValue;
  if (view) {
    object->view = *view;
    if (Result<void> applied = apply(*view, object.get()); !applied) return std::move(applied).failure();
  }
  if ((texture.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 && !object->is_cubemap) return ErrorCode::InvalidValue;
  ResourceEpoch::count_object();
  return CUtexObject{object_table().insert(std::move(object))};
}

Result<CUsurfObject> create_surface_object(const CUDA_RESOURCE_DESC& resource) {
  auto object = std::make_shared<ResourceObject>();
  object->made_at = shadow::caller();
  if (resource.resType != CU_RESOURCE_TYPE_ARRAY) return ErrorCode::InvalidValue;
  if (Result<void> bound = bind(resource, object.get()); !bound) return std::move(bound).failure();
  object->is_surface = true;
  ResourceEpoch::count_object();
  return CUsurfObject{object_table().insert(std::move(object))};
}

std::shared_ptr<ResourceObject> find_resource_object(unsigned long long handle, bool is_surface) {
  auto object = object_table().find(as_handle(handle));
  return object && object->is_surface == is_surface ? object : nullptr;
}

Result<void> destroy_resource_object(unsigned long long handle, bool is_surface) {
  static auto* const mutex = new std::mutex;  // an object is destroyed once
  std::unique_lock once(*mutex);
  const auto object = find_resource_object(handle, is_surface);
  if (!object) return ErrorCode::InvalidHandle;
  ResourceEpoch::end(handle, object);  // before it leaves the table, so that running grids find it in one of the two
  object_table().remove(as_handle(handle));
  once.unlock();
  if (!checker::checks(check_class::memory_checks)) return {};
  DestroyedObject destroyed{handle, kind_of(*object), object->made_at, shadow::caller()};
  DestroyedObjects& self = destroyed_objects();
  const std::lock_guard lock(self.mutex);
  self.latest.push_front(std::move(destroyed));
  if (self.latest.size() > destroyed_remembered) self.latest.pop_back();
  return {};
}

std::vector<std::string> describe_missing_object(unsigned long long handle) {
  const std::string object = "object " + hexadecimal(handle);
  if (const auto other = object_table().find(as_handle(handle))) return {object + " is a " + kind_of(*other)};
  DestroyedObjects& self = destroyed_objects();
  const std::lock_guard lock(self.mutex);
  const auto found = std::find_if(self.latest.begin(), self.latest.end(),
                                  [&](const DestroyedObject& each) { return each.handle == handle; });
  if (found == self.latest.end()) return {object + " never was"};
  std::vector<std::string> lines = {object + " is a " + found->kind + " that was destroyed"};
  if (!found->made_at.empty()) lines.push_back("made at " + found->made_at);
  if (!found->destroyed_at.empty()) lines.push_back("destroyed at " + found->destroyed_at);
  return lines;
}

}  // namespace cucore::cpu::runtime
