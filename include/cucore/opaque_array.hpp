// OpaqueArray and MipmappedArray: memory that the device lays out for textures and surfaces (CUarray).
//
//   auto image = device.create_opaque_array({.shape = {640, 480}, .format = ArrayFormat::uint8, .num_channels = 4});
//   image.copy_from(pixels, stream);                    // a Buffer, or bytes of the host
//   auto texture = device.create_texture_object(ResourceDescriptor::from_opaque_array(image));
//
// An array has no address: it is filled and read by copies, and by kernels through a TextureObject or SurfaceObject.
// Copies are of the whole array; the other side is packed, the width's elements side by side.
//
// Ownership, closed state and thread-safety: as of Stream. Textures, surfaces and levels keep their array's memory
// alive.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"

namespace cucore {

namespace detail {
struct ArrayState;
struct MipmappedArrayState;
}  // namespace detail
class Buffer;
class Device;
class Stream;

/// What one channel of an element is. The numbers are the driver's.
enum class ArrayFormat {
  uint8 = 0x01,
  uint16 = 0x02,
  uint32 = 0x03,
  int8 = 0x08,
  int16 = 0x09,
  int32 = 0x0a,
  float16 = 0x10,
  float32 = 0x20
};

/// Bytes of one channel.
CUCORE_API std::size_t format_bytes(ArrayFormat format) noexcept;

struct OpaqueArrayOptions {
  std::vector<std::size_t> shape;  ///< (width), (width, height) or (width, height, depth), in elements, none of them 0
  ArrayFormat format = ArrayFormat::float32;
  unsigned num_channels = 1;           ///< 1, 2 or 4
  bool is_surface_load_store = false;  ///< kernels may write it through a SurfaceObject
};

struct MipmappedArrayOptions {
  std::vector<std::size_t> shape;  ///< of level 0; each level has half the extents of the one before, at least 1
  ArrayFormat format = ArrayFormat::float32;
  unsigned num_channels = 1;
  unsigned num_levels = 1;  ///< the driver makes no more than until all extents are 1
  bool is_surface_load_store = false;
};

class CUCORE_API OpaqueArray {
 public:
  /// The closed array.
  OpaqueArray() noexcept = default;
  OpaqueArray(OpaqueArray&&) noexcept = default;
  OpaqueArray& operator=(OpaqueArray&&) noexcept = default;

  /// Refers to an array of the current context that someone else owns, and asks the driver what it is
  /// (cuArray3DGetDescriptor). `owner` is kept alive as long as the array is referred to.
  /// @throws ValueError null, or an array of a kind that OpaqueArrayOptions cannot describe (layers, other formats)
  static OpaqueArray from_handle(ArrayHandle handle, std::shared_ptr<const void> owner = nullptr);

  /// The driver's handle; null when closed.
  ArrayHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// What it was made with. @throws StateError closed
  const std::vector<std::size_t>& shape() const;
  ArrayFormat format() const;
  unsigned num_channels() const;
  bool is_surface_load_store() const;
  /// Bytes of an element: all its channels.
  std::size_t element_bytes() const;
  /// Bytes of all elements, side by side.
  std::size_t size_bytes() const;
  Device device() const;

  /// Copies size_bytes() from the beginning of `source` into the array, in the order of `stream` (cuMemcpy3DAsync).
  /// @throws ValueError the source is smaller
  void copy_from(const Buffer& source, const Stream& stream) const;
  /// The same from host memory, which must not change until the copy is done. `owner` is kept alive until then, but not
  /// in a stream that is being captured: there the memory is read each time the graph runs. It is dropped on one of the
  /// driver's threads, where it must not call CUDA.
  void copy_from(std::span<const std::byte> source, const Stream& stream,
                 const std::shared_ptr<const void>& owner = nullptr) const;
  /// Copies the array to the first size_bytes() of `destination`. @throws ValueError the destination is smaller
  void copy_to(const Buffer& destination, const Stream& stream) const;
  void copy_to(std::span<std::byte> destination, const Stream& stream,
               const std::shared_ptr<const void>& owner = nullptr) const;

  /// Another reference to the same array.
  OpaqueArray share() const;
  /// Drops this reference; the last one to an owned array destroys it (cuArrayDestroy). Closing twice is allowed.
  /// @throws DriverError cuArrayDestroy failed; the array is closed all the same
  void close();

  /// By handle; needs no driver call.
  friend bool operator==(const OpaqueArray& a, const OpaqueArray& b) noexcept { return a.handle() == b.handle(); }

  /// Internal.
  explicit OpaqueArray(std::shared_ptr<const detail::ArrayState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::ArrayState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::ArrayState> state_;
};

class CUCORE_API MipmappedArray {
 public:
  /// The closed array.
  MipmappedArray() noexcept = default;
  MipmappedArray(MipmappedArray&&) noexcept = default;
  MipmappedArray& operator=(MipmappedArray&&) noexcept = default;

  /// The driver's handle; null when closed.
  MipmappedArrayHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// What it was made with; the shape is that of level 0. @throws StateError closed
  const std::vector<std::size_t>& shape() const;
  ArrayFormat format() const;
  unsigned num_channels() const;
  unsigned num_levels() const;
  bool is_surface_load_store() const;
  Device device() const;

  /// One level, as an array that keeps all of them (cuMipmappedArrayGetLevel). @throws ValueError there is none such
  OpaqueArray get_level(unsigned level) const;

  /// Another reference to the same array.
  MipmappedArray share() const;
  /// Drops this reference; the last one, levels included, destroys it (cuMipmappedArrayDestroy). Closing twice is
  /// allowed. @throws DriverError cuMipmappedArrayDestroy failed; the array is closed all the same
  void close();

  /// By handle; needs no driver call.
  friend bool operator==(const MipmappedArray& a, const MipmappedArray& b) noexcept { return a.handle() == b.handle(); }

  /// Internal.
  explicit MipmappedArray(std::shared_ptr<const detail::MipmappedArrayState> state) noexcept
      : state_(std::move(state)) {}
  const std::shared_ptr<const detail::MipmappedArrayState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::MipmappedArrayState> state_;
};

}  // namespace cucore
