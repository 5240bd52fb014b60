// Context: where a device's streams, events and memory belong.
//
// cucore works with each device's primary context, the one that CUDA's runtime library and the frameworks share. It is
// retained once per process at first need and kept until the process ends. Device::create_context() makes green
// contexts, which run on a part of the device; they share the primary context's memory and code, and are destroyed with
// the last reference (streams and events made in one hold it). Objects remember their context, so calls on them work
// whatever context is current in the calling thread, and leave the current context as it was; only
// Device::set_current() and Context::set_current() change it.
//
//   cucore::Context context = cucore::Device(0).context();
//   auto stream = context.create_stream();
//
// Ownership: a Context is a reference to a context; streams and events hold one too. Move-only; share() makes another
// reference. Thread-safety: const members may be called concurrently; close() and moves need exclusion.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"

namespace cucore {

namespace detail {
struct ContextState;
}
class Device;
class DeviceResources;
class Event;
class MipmappedArray;
class OpaqueArray;
class ResourceDescriptor;
class Stream;
class SurfaceObject;
class TextureObject;
struct EventOptions;
struct MipmappedArrayOptions;
struct OpaqueArrayOptions;
struct StreamOptions;
struct TextureObjectOptions;

/// What kernels may use of a context's resources (CUlimit); sizes in bytes.
enum class Limit {
  stack_size = 0,                        ///< of each thread
  printf_fifo_size = 1,                  ///< what kernels may print between two synchronisations
  malloc_heap_size = 2,                  ///< of malloc() in kernels
  dev_runtime_sync_depth = 3,            ///< nested launches that wait
  dev_runtime_pending_launch_count = 4,  ///< launches by kernels that have not begun
  max_l2_fetch_granularity = 5,          ///< 0 to 128; a hint
  persisting_l2_cache_size = 6,
};

class CUCORE_API Context {
 public:
  /// The closed context: refers to nothing.
  Context() noexcept = default;
  Context(Context&&) noexcept = default;
  Context& operator=(Context&&) noexcept = default;

  /// The calling thread's current context, borrowed if it is not one of cucore's own; closed if there is none.
  /// @throws DriverError cuCtxGetCurrent failed
  static Context current();
  /// Leaves the calling thread without a current context. @throws DriverError cuCtxSetCurrent failed
  static void set_none_current();
  /// Refers to a context someone else owns and keeps alive. A device's primary context is recognised as such.
  /// @throws ValueError `handle` is null  @throws DriverError the handle is not a context
  static Context from_handle(ContextHandle handle);

  /// The driver's handle; null when closed.
  ContextHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Whether this is its device's primary context.
  bool is_primary() const;
  /// Whether it was made from a part of a device's resources (Device::create_context()). False when closed.
  bool is_green() const noexcept;
  /// The driver's handle of a green context (CUgreenCtx); null for any other.
  GreenContextHandle green_handle() const noexcept;
  /// What the context was provisioned with: all of the device, unless it is green.
  DeviceResources resources() const;
  /// The device the context is on. @throws StateError closed
  Device device() const;

  /// Makes this the calling thread's current context (cuCtxSetCurrent).
  void set_current() const;
  /// Whether it is the calling thread's current context. False when closed.
  bool is_current() const;
  /// Creates a stream here. @throws ValueError the priority is outside the device's range, or a stream of a green
  /// context is to synchronise with the legacy default stream  @throws DriverError
  Stream create_stream(const StreamOptions& options) const;
  Stream create_stream() const;
  /// Creates an event here, not recorded on any stream.
  /// @throws TypeError IPC-enabled: those are made by Stream::record()  @throws DriverError
  Event create_event(const EventOptions& options) const;
  Event create_event() const;
  /// Memory for textures and surfaces (opaque_array.hpp, texture.hpp). @throws ValueError options out of their ranges
  /// @throws DriverError CUDA_ERROR_OUT_OF_MEMORY, ...
  OpaqueArray create_opaque_array(const OpaqueArrayOptions& options) const;
  MipmappedArray create_mipmapped_array(const MipmappedArrayOptions& options) const;
  /// Lets kernels read memory as a texture. @throws ValueError options that contradict each other, or memory of another
  /// device
  /// @throws DriverError addresses or pitches that the device does not take
  TextureObject create_texture_object(const ResourceDescriptor& resource, const TextureObjectOptions& options) const;
  TextureObject create_texture_object(const ResourceDescriptor& resource) const;
  /// Lets kernels write an array. @throws ValueError not an array made with is_surface_load_store
  SurfaceObject create_surface_object(const ResourceDescriptor& resource) const;
  /// Waits until all work submitted to the context has completed (cuCtxSynchronize).
  void sync() const;

  /// cuCtxGetLimit. @throws DriverError CUDA_ERROR_UNSUPPORTED_LIMIT: the device has no such limit
  std::size_t limit(Limit limit) const;
  /// cuCtxSetLimit. The driver may round up: limit() tells. @throws DriverError
  void set_limit(Limit limit, std::size_t value) const;
  /// Lets kernels of this context access memory of `peer`, a context of another device (cuCtxEnablePeerAccess). Calling
  /// it twice is allowed. Access to memory pools is granted apart: DeviceMemoryResource. @throws DriverError the
  /// devices are not peers
  void enable_peer_access(const Context& peer) const;
  /// Revokes that access (cuCtxDisablePeerAccess). Calling it twice is allowed.
  void disable_peer_access(const Context& peer) const;

  /// Another reference to the same context.
  Context share() const;
  /// Drops this reference. Closing twice is allowed.
  void close() noexcept { state_.reset(); }

  /// By handle; needs no driver call.
  friend bool operator==(const Context& a, const Context& b) noexcept { return a.handle() == b.handle(); }

  /// Internal.
  explicit Context(std::shared_ptr<const detail::ContextState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::ContextState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::ContextState> state_;
};

/// Makes a context current for the life of the scope.
///
///   { const cucore::ScopedCurrent scope(context); ... }   // afterwards the thread has the context it had
///
/// A failure to restore it is reported to the release failure handler. For use in one thread.
class CUCORE_API ScopedCurrent {
 public:
  /// @throws StateError closed  @throws DriverError cuCtxSetCurrent failed
  explicit ScopedCurrent(const Context& context);
  ~ScopedCurrent();
  ScopedCurrent(const ScopedCurrent&) = delete;
  ScopedCurrent& operator=(const ScopedCurrent&) = delete;

 private:
  Context context_;
  ContextHandle previous_ = nullptr;
};

}  // namespace cucore
