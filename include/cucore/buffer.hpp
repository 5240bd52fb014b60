// Buffer: a range of memory and what keeps it alive.
//
//   auto a = device.allocate(n * sizeof(float), stream);
//   a.fill(0.0f, stream);
//   a.copy_from(staging, stream);
//   cucore::launch(stream, config, kernel, n, a);      // passes the address
//   a.close(other);                                    // free in the order of another stream than it was made on
//
// Three kinds: owning (has a memory resource, freed through it), owner-held (keeps an owner alive, frees nothing), and
// reference (neither). An owning buffer captures at creation the stream it is freed on, and that stream's context, so
// it may be dropped in any thread, whatever context is current there. Closed: after close(), and when moved from,
// handle() and size() are 0 and active uses throw StateError. A buffer of size 0 has address 0 and is open. Ownership:
// move-only; share() makes another reference to the same memory, freed with the last. Thread-safety: const members may
// be called concurrently; close(), release(), set_deallocation_stream() and moves need exclusion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"

namespace cucore {

namespace detail {
struct BufferState;
}
struct IpcBufferDescriptor;
class MemoryResource;
class PoolMemoryResource;
class Stream;

/// One fill element: 1, 2 or 4 bytes, repeated.
template <class T>
concept FillValue =
    std::is_trivially_copyable_v<T> && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4) && !std::is_pointer_v<T>;

class CUCORE_API Buffer {
 public:
  /// The closed buffer.
  Buffer() noexcept = default;
  Buffer(Buffer&&) noexcept = default;
  Buffer& operator=(Buffer&&) noexcept = default;

  /// Refers to memory that someone else frees. `owner` is kept alive as long as the memory is referred to. Makes no
  /// driver call.
  static Buffer from_handle(DevicePointer address, std::size_t size, std::shared_ptr<const void> owner = nullptr);
  /// Takes over memory that `resource` will take back with deallocate(address, size, stream).
  /// @throws ValueError `resource` is null  @throws StateError `stream` is closed, or it is a default stream and no
  ///   context is current (not checked for a resource that is not device-accessible)
  static Buffer adopt(DevicePointer address, std::size_t size, std::shared_ptr<MemoryResource> resource,
                      const Stream& stream);
  /// The same, to be freed on the default stream of the current context.
  static Buffer adopt(DevicePointer address, std::size_t size, std::shared_ptr<MemoryResource> resource);

  /// Opens a buffer of another process, which `resource` must have the pool of (cuMemPoolImportPointer); freeing it, in
  /// the order of `stream`, ends only the use of this process. A buffer that is opened twice is mapped once, and
  /// unmapped in the order of the stream that the last of the two is freed on.
  /// @throws StateError `resource` is not IPC-enabled, or closed  @throws ValueError the descriptor claims more bytes
  ///   than there are  @throws DriverError it is of another pool, of this process, or of a buffer that is gone
  static Buffer from_ipc_descriptor(const std::shared_ptr<PoolMemoryResource>& resource,
                                    const IpcBufferDescriptor& descriptor, const Stream& stream);

  /// The address; 0 when closed and for size 0.
  DevicePointer handle() const noexcept;
  /// Bytes asked for; 0 when closed.
  std::size_t size() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// The resource that takes the memory back; null for other kinds and when closed.
  std::shared_ptr<MemoryResource> memory_resource() const noexcept;
  /// What is kept alive; null for other kinds and when closed.
  std::shared_ptr<const void> owner() const noexcept;
  /// The resource's device, else what the driver says about the address: -1 for host memory it does not know.
  int device_id() const;
  bool is_device_accessible() const;
  bool is_host_accessible() const;
  bool is_managed() const;
  /// Whether another process allocated it. False when closed.
  bool is_mapped() const noexcept;
  /// What other processes open it with (cuMemPoolExportPointer); of a mapped buffer, what it was opened with.
  /// @throws StateError its resource is not IPC-enabled  @throws ValueError it has no memory
  IpcBufferDescriptor ipc_descriptor() const;

  /// Copies all of it into `destination`, in the order of `stream` (cuMemcpyAsync). The two may be any mix of device,
  /// page-locked, managed and pageable memory. @throws ValueError the sizes differ
  void copy_to(const Buffer& destination, const Stream& stream) const;
  /// The same into a new buffer from this one's resource. @throws ValueError it has none
  Buffer copy_to(const Stream& stream) const;
  /// Copies all of `source` into it. @throws ValueError the sizes differ
  void copy_from(const Buffer& source, const Stream& stream) const;
  /// Fills it with copies of `value`. @throws ValueError the size is not a multiple of the value's
  template <FillValue T>
  void fill(const T& value, const Stream& stream) const {
    fill_bytes(std::as_bytes(std::span(&value, 1)), stream);
  }
  /// The same with an element of 1, 2 or 4 bytes (cuMemsetD8Async, D16, D32). @throws ValueError another width
  void fill_bytes(std::span<const std::byte> element, const Stream& stream) const;

  /// The stream the memory will be freed on; closed if nothing will be freed.
  Stream deallocation_stream() const;
  /// Frees on `stream` instead of the recorded one; the caller orders the two. @throws StateError closed
  void set_deallocation_stream(const Stream& stream);

  /// Another reference to the same memory.
  Buffer share() const;
  /// Drops this reference; the last one to an owning buffer frees, on the recorded stream or on `stream`. Closing twice
  /// is allowed. @throws what the resource's deallocate() throws; the buffer is closed all the same
  void close();
  void close(const Stream& stream);
  /// Gives up ownership: returns the address, which is then the caller's to free, and closes this object.
  /// @throws StateError closed, or other references exist
  DevicePointer release();

  /// Same address and size.
  friend bool operator==(const Buffer& a, const Buffer& b) noexcept {
    return a.handle() == b.handle() && a.size() == b.size();
  }

  /// Internal.
  explicit Buffer(std::shared_ptr<detail::BufferState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<detail::BufferState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::BufferState> state_;
};

}  // namespace cucore
