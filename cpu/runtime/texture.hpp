// Texture and surface objects: what they are bound to and how it is read. Thread-safe.
#pragma once

#include <cuda.h>

#include <memory>
#include <optional>

namespace cucore::cpu::runtime {

class Array;
class MipmappedArray;

struct ResourceObject {
  CUDA_RESOURCE_DESC resource{};
  std::shared_ptr<Array> array;  ///< kept while the object lives
  std::shared_ptr<MipmappedArray> mipmapped_array;
  bool is_surface = false;
  CUDA_TEXTURE_DESC texture{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

/// INVALID_VALUE for what the driver refuses: bad modes, a resource of a kind or an alignment that cannot be bound.
CUresult create_texture_object(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                               const CUDA_RESOURCE_VIEW_DESC* view, CUtexObject* handle);
CUresult create_surface_object(const CUDA_RESOURCE_DESC& resource, CUsurfObject* handle);
std::shared_ptr<ResourceObject> find_resource_object(unsigned long long handle, bool is_surface);
CUresult destroy_resource_object(unsigned long long handle, bool is_surface);

}  // namespace cucore::cpu::runtime
