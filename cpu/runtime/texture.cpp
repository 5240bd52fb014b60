// Texture and surface objects: see texture.hpp.
#include "cpu/runtime/texture.hpp"

#include "cpu/runtime/array.hpp"
#include "cpu/runtime/handle_table.hpp"
#include "cpu/runtime/memory.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr std::size_t kAlignment = 512;
constexpr std::size_t kPitchAlignment = 32;
constexpr std::size_t kMostLinear = std::size_t{1} << 28;

using ObjectTable = HandleTable<ResourceObject, HandleKind::ResourceDescription>;
ObjectTable& object_table() {
  static auto* table = new ObjectTable;
  return *table;
}

const void* as_handle(unsigned long long handle) { return reinterpret_cast<const void*>(handle); }

bool is_format(CUarray_format format, unsigned int channels) {
  return channel_bytes(format) != 0 && (channels == 1 || channels == 2 || channels == 4);
}

CUresult bind(const CUDA_RESOURCE_DESC& resource, ResourceObject* object) {
  if (resource.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  object->resource = resource;
  const auto& linear = resource.res.linear;
  const auto& pitched = resource.res.pitch2D;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      object->array = find_array(resource.res.array.hArray);
      return object->array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      object->mipmapped_array = find_mipmapped_array(resource.res.mipmap.hMipmappedArray);
      return object->mipmapped_array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    case CU_RESOURCE_TYPE_LINEAR: {
      if (!is_format(linear.format, linear.numChannels) || linear.devPtr % kAlignment != 0)
        return CUDA_ERROR_INVALID_VALUE;
      const std::size_t element = channel_bytes(linear.format) * linear.numChannels;
      const bool fits =
          linear.sizeInBytes / element <= kMostLinear && is_device_range(linear.devPtr, linear.sizeInBytes);
      return linear.sizeInBytes != 0 && fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      if (!is_format(pitched.format, pitched.numChannels) || pitched.width == 0 || pitched.height == 0 ||
          pitched.devPtr % kAlignment != 0 || pitched.pitchInBytes % kPitchAlignment != 0)
        return CUDA_ERROR_INVALID_VALUE;
      const std::size_t row = channel_bytes(pitched.format) * pitched.numChannels * pitched.width;
      const std::size_t bytes = pitched.pitchInBytes * (pitched.height - 1) + row;
      return row <= pitched.pitchInBytes && is_device_range(pitched.devPtr, bytes) ? CUDA_SUCCESS
                                                                                   : CUDA_ERROR_INVALID_VALUE;
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

bool is_valid(const CUDA_TEXTURE_DESC& texture) {
  constexpr unsigned int kKnown = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                                  CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  for (const CUaddress_mode mode : texture.addressMode)
    if (mode < CU_TR_ADDRESS_MODE_WRAP || mode > CU_TR_ADDRESS_MODE_BORDER) return false;
  const auto is_filter = [](CUfilter_mode mode) {
    return mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR;
  };
  return is_filter(texture.filterMode) && is_filter(texture.mipmapFilterMode) && (texture.flags & ~kKnown) == 0;
}

CUarray_format format_of(const ResourceObject& object) {
  switch (object.resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return object.array->descriptor().Format;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return object.mipmapped_array->levels().front()->descriptor().Format;
    case CU_RESOURCE_TYPE_LINEAR:
      return object.resource.res.linear.format;
    default:
      return object.resource.res.pitch2D.format;
  }
}

/// Linear filtering needs values between the texels' own: floats, or integers read as such.
bool can_filter(const ResourceObject& object) {
  const CUarray_format format = format_of(object);
  const bool is_float = format == CU_AD_FORMAT_FLOAT || format == CU_AD_FORMAT_HALF;
  const bool reads_integers =
      !is_float && ((object.texture.flags & CU_TRSF_READ_AS_INTEGER) != 0 || channel_bytes(format) == 4);
  return object.texture.filterMode == CU_TR_FILTER_MODE_POINT || !reads_integers;
}

}  // namespace

CUresult create_texture_object(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                               const CUDA_RESOURCE_VIEW_DESC* view, CUtexObject* handle) {
  auto object = std::make_shared<ResourceObject>();
  if (const CUresult result = bind(resource, object.get()); result != CUDA_SUCCESS) return result;
  object->texture = texture;
  if (view) object->view = *view;
  const bool is_array = object->array || object->mipmapped_array;
  if (!is_valid(texture) || (view && !is_array) || !can_filter(*object)) return CUDA_ERROR_INVALID_VALUE;
  *handle = object_table().insert(std::move(object));
  return CUDA_SUCCESS;
}

CUresult create_surface_object(const CUDA_RESOURCE_DESC& resource, CUsurfObject* handle) {
  auto object = std::make_shared<ResourceObject>();
  if (resource.resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = bind(resource, object.get()); result != CUDA_SUCCESS) return result;
  if ((object->array->descriptor().Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0) return CUDA_ERROR_INVALID_VALUE;
  object->is_surface = true;
  *handle = object_table().insert(std::move(object));
  return CUDA_SUCCESS;
}

std::shared_ptr<ResourceObject> find_resource_object(unsigned long long handle, bool is_surface) {
  auto object = object_table().find(as_handle(handle));
  return object && object->is_surface == is_surface ? object : nullptr;
}

CUresult destroy_resource_object(unsigned long long handle, bool is_surface) {
  if (!find_resource_object(handle, is_surface)) return CUDA_ERROR_INVALID_HANDLE;
  object_table().remove(as_handle(handle));
  return CUDA_SUCCESS;
}

}  // namespace cucore::cpu::runtime
