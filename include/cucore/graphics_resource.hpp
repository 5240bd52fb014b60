// GraphicsResource: memory of OpenGL, used by CUDA while it is mapped.
//
//   auto resource = GraphicsResource::from_gl_buffer(vertex_buffer);    // in a thread where the GL context is current
//   {
//     const Buffer vertices = resource.map(stream);
//     cucore::launch(stream, config, kernel, vertices, n);
//   }                                                                   // unmapped in the order of `stream`
//
// A mapped buffer or array keeps the registration alive by itself. OpenGL must not use the memory while it is mapped.
// Tested only with a stand-in for the driver, never with a real OpenGL.
//
// Ownership: move-only; the registration ends with the resource and what it has mapped. Thread-safety: const members
// may be called concurrently; map(), unmap(), close() and moves need exclusion.
#pragma once

#include <memory>

#include "cucore/buffer.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"

namespace cucore {

namespace detail {
struct GraphicsState;
}
class OpaqueArray;
class Stream;

/// What CUDA will do with it; may be combined with |. The numbers are the driver's.
enum class GraphicsRegisterFlags : unsigned {
  none = 0,
  read_only = 1,
  write_discard = 2,  ///< writes all of it and reads nothing
  surface_load_store = 4,
  texture_gather = 8
};
constexpr GraphicsRegisterFlags operator|(GraphicsRegisterFlags a, GraphicsRegisterFlags b) noexcept {
  return static_cast<GraphicsRegisterFlags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

class CUCORE_API GraphicsResource {
 public:
  /// The closed resource.
  GraphicsResource() noexcept = default;
  GraphicsResource(GraphicsResource&&) noexcept = default;
  GraphicsResource& operator=(GraphicsResource&&) noexcept = default;

  /// Registers a buffer object (cuGraphicsGLRegisterBuffer). @throws DriverError no GL context, no such buffer, ...
  static GraphicsResource from_gl_buffer(unsigned buffer, GraphicsRegisterFlags flags = GraphicsRegisterFlags::none);
  /// Registers a texture or renderbuffer (cuGraphicsGLRegisterImage); `target` is GL_TEXTURE_2D and the like.
  static GraphicsResource from_gl_image(unsigned image, unsigned target,
                                        GraphicsRegisterFlags flags = GraphicsRegisterFlags::none);

  /// The driver's handle; null when closed.
  GraphicsResourceHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Whether it is an image, which map_array() maps and map() does not.
  bool is_image() const;
  /// False when closed.
  bool is_mapped() const noexcept;

  /// Maps a buffer in the order of `stream`. The end of the Buffer unmaps it, in the order of the stream it is closed
  /// with, or else of `stream`. @throws StateError closed, or mapped already  @throws DriverError; nothing is mapped
  /// then
  Buffer map(const Stream& stream) const;
  /// Maps an image; the end of the array unmaps it in the order of `stream`. @throws as map()
  OpaqueArray map_array(const Stream& stream, unsigned array_index = 0, unsigned mip_level = 0) const;
  /// Unmaps now, in the order of the stream it was mapped with, or of `stream`. A mapped Buffer then has the address
  /// and size 0; a mapped array must not be used any more. @throws StateError closed, or not mapped
  void unmap() const;
  void unmap(const Stream& stream) const;

  /// Unmaps if need be, and ends the registration (cuGraphicsUnregisterResource). Closing twice is allowed.
  /// @throws DriverError either failed; the resource is closed all the same
  void close();
  void close(const Stream& stream);

  /// Internal.
  explicit GraphicsResource(std::shared_ptr<const detail::GraphicsState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::GraphicsState>& state() const noexcept { return state_; }
  /// Another reference to the same registration.
  GraphicsResource share() const;

 private:
  std::shared_ptr<const detail::GraphicsState> state_;
};

}  // namespace cucore
