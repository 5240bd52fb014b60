// Texture and surface objects: what they are bound to and how it is read. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/memory/texel_format.hpp"

namespace cucore::cpu::runtime {

/// One mipmap level as kernels see it; `depth` counts slices, layers or faces.
struct TexelGrid {
  std::byte* base = nullptr;
  std::int64_t width = 1, height = 1, depth = 1;
  std::size_t row_bytes = 0;
  std::size_t slice_bytes = 0;
};

/// What a kernel reads through; nothing of it changes after creation.
struct ResourceObject {
  CUDA_RESOURCE_DESC resource{};
  std::weak_ptr<const void> array;         ///< CUDA array or mipmapped array; none if memory is bound
  std::shared_ptr<const void> kept_array;  ///< the same, but where the checker is to see that it was destroyed
  bool is_surface = false;
  CUDA_TEXTURE_DESC texture{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
  TexelFormat format;             ///< the view's, if it has one
  std::vector<TexelGrid> levels;  ///< of the view
  bool is_layered = false;
  bool is_cubemap = false;
  std::uint32_t dimensions = 1;  ///< of what is bound, without layers and faces
  std::string made_at;           ///< in the program, for the checker

  bool has_mipmaps() const { return resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY; }
};

/// The texels are read as integers, not as numbers between them.
bool reads_integers(const ResourceObject& object);

/// InvalidValue for what the driver refuses: bad modes, a resource of a kind or an alignment that cannot be bound.
Result<CUtexObject> create_texture_object(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                                          const CUDA_RESOURCE_VIEW_DESC* view);
Result<CUsurfObject> create_surface_object(const CUDA_RESOURCE_DESC& resource);
std::shared_ptr<ResourceObject> find_resource_object(unsigned long long handle, bool is_surface);
Result<void> destroy_resource_object(unsigned long long handle, bool is_surface);
/// For the checker: lines that say what became of an object that no longer exists.
std::vector<std::string> describe_missing_object(unsigned long long handle);

}  // namespace cucore::cpu::runtime
