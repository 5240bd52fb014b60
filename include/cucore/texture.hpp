// TextureObject and SurfaceObject: how kernels read memory with filtering and bounds, and write arrays.
//
//   auto texture = device.create_texture_object(
//       ResourceDescriptor::from_opaque_array(image),
//       {.address_mode = {AddressMode::wrap}, .filter_mode = FilterMode::linear, .normalized_coords = true});
//   cucore::launch(stream, config, kernel, texture, out);      // __global__ void kernel(cudaTextureObject_t, float*)
//
// A ResourceDescriptor says which memory: an OpaqueArray (textures and surfaces), a MipmappedArray, all or the first
// bytes of a Buffer as one row (fetched by index; addressing and filtering do not count), or a Buffer as rows with a
// pitch. It keeps that memory alive, and so does what is made from it.
//
// Ownership, closed state and thread-safety: as of Stream; descriptors are values.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"
#include "cucore/opaque_array.hpp"

namespace cucore {

namespace detail {
struct ResourceState;
struct TextureState;
struct SurfaceState;
}  // namespace detail

/// What is read outside the memory. wrap and mirror need normalized coordinates; without them the driver clamps.
enum class AddressMode { wrap = 0, clamp = 1, mirror = 2, border = 3 };
/// The nearest element, or a mean of its neighbours by distance (of floating-point values; a GPU weighs in 9 bits).
enum class FilterMode { point = 0, linear = 1 };
/// Integers as they are, or as floats: unsigned ones from 0 to 1, signed ones from -1 to 1. Those of 32 bits are always
/// read as they are.
enum class ReadMode { element_type = 0, normalized_float = 1 };
/// The numbers are the driver's.
enum class ResourceKind { array = 0, mipmapped_array = 1, linear = 2, pitch2d = 3 };

struct TextureObjectOptions {
  std::vector<AddressMode> address_mode = {AddressMode::clamp};  ///< 1 to 3; the last one counts for the axes after it
  FilterMode filter_mode = FilterMode::point;
  ReadMode read_mode = ReadMode::element_type;
  bool normalized_coords = false;  ///< 0 to 1 along each axis instead of elements
  bool srgb = false;               ///< convert from sRGB; of uint8 only, else without effect
  bool disable_trilinear_optimization = false;
  bool seamless_cubemap = false;
  unsigned max_anisotropy = 0;
  FilterMode mipmap_filter_mode = FilterMode::point;
  float mipmap_level_bias = 0;
  float min_mipmap_level_clamp = 0;
  float max_mipmap_level_clamp = 0;
  std::array<float, 4> border_color = {};  ///< for AddressMode::border
};

struct LinearLayout {
  ArrayFormat format = ArrayFormat::float32;
  unsigned num_channels = 1;
  std::optional<std::size_t> size_bytes = std::nullopt;  ///< unset: all of the buffer
};

struct Pitch2dLayout {
  ArrayFormat format = ArrayFormat::float32;
  unsigned num_channels = 1;
  std::size_t width = 0;  ///< in elements
  std::size_t height = 0;
  std::size_t pitch_bytes = 0;  ///< from row to row; a multiple of DeviceProperties::texture_pitch_alignment
};

class CUCORE_API ResourceDescriptor {
 public:
  /// @throws StateError closed
  static ResourceDescriptor from_opaque_array(const OpaqueArray& array);
  static ResourceDescriptor from_mipmapped_array(const MipmappedArray& array);
  /// @throws ValueError the size is less than an element, no multiple of one, or more than the buffer's
  static ResourceDescriptor from_linear(const Buffer& buffer, const LinearLayout& layout);
  /// @throws ValueError an extent is 0, the pitch is less than a row, or the rows are more than the buffer
  static ResourceDescriptor from_pitch2d(const Buffer& buffer, const Pitch2dLayout& layout);

  ResourceKind kind() const noexcept;
  /// What it was made of; the others are closed.
  OpaqueArray opaque_array() const;
  MipmappedArray mipmapped_array() const;
  Buffer buffer() const;
  /// As given, for the kinds that have them.
  std::optional<ArrayFormat> format() const noexcept;
  std::optional<unsigned> num_channels() const noexcept;
  std::optional<std::size_t> size_bytes() const noexcept;
  std::optional<std::size_t> width() const noexcept;
  std::optional<std::size_t> height() const noexcept;
  std::optional<std::size_t> pitch_bytes() const noexcept;

  /// Internal.
  explicit ResourceDescriptor(std::shared_ptr<const detail::ResourceState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::ResourceState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::ResourceState> state_;
};

class CUCORE_API TextureObject {
 public:
  /// The closed texture.
  TextureObject() noexcept = default;
  TextureObject(TextureObject&&) noexcept = default;
  TextureObject& operator=(TextureObject&&) noexcept = default;

  /// The driver's handle; 0 when closed.
  TextureHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// What it was made with. @throws StateError closed
  ResourceDescriptor resource() const;
  const TextureObjectOptions& options() const;
  Device device() const;
  /// What launch() passes for it. @throws StateError closed
  TextureHandle kernel_argument() const;

  /// Another reference to the same texture.
  TextureObject share() const;
  /// Drops this reference; the last one destroys it (cuTexObjectDestroy). Kernels that use it must have completed.
  /// Closing twice is allowed. @throws DriverError cuTexObjectDestroy failed; the texture is closed all the same
  void close();

  /// By handle; needs no driver call.
  friend bool operator==(const TextureObject& a, const TextureObject& b) noexcept { return a.handle() == b.handle(); }

  /// Internal.
  explicit TextureObject(std::shared_ptr<const detail::TextureState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::TextureState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::TextureState> state_;
};

class CUCORE_API SurfaceObject {
 public:
  /// The closed surface.
  SurfaceObject() noexcept = default;
  SurfaceObject(SurfaceObject&&) noexcept = default;
  SurfaceObject& operator=(SurfaceObject&&) noexcept = default;

  /// The driver's handle; 0 when closed.
  SurfaceHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// What it was made with. @throws StateError closed
  ResourceDescriptor resource() const;
  Device device() const;
  /// What launch() passes for it. @throws StateError closed
  SurfaceHandle kernel_argument() const;

  /// Another reference to the same surface.
  SurfaceObject share() const;
  /// Drops this reference; the last one destroys it (cuSurfObjectDestroy). Kernels that use it must have completed.
  /// Closing twice is allowed. @throws DriverError cuSurfObjectDestroy failed; the surface is closed all the same
  void close();

  /// By handle; needs no driver call.
  friend bool operator==(const SurfaceObject& a, const SurfaceObject& b) noexcept { return a.handle() == b.handle(); }

  /// Internal.
  explicit SurfaceObject(std::shared_ptr<const detail::SurfaceState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::SurfaceState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::SurfaceState> state_;
};

}  // namespace cucore
