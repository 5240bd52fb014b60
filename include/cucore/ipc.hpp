// Memory shared between processes: what the process that allocates sends to those that use it (Linux).
//
//   // exporting process
//   auto pool = cucore::DeviceMemoryResource::create(device, {.ipc_enabled = true});
//   auto buffer = pool->allocate(4096, stream);
//   send(pool->allocation_handle().file(), buffer.ipc_descriptor());        // a file descriptor, and plain bytes
//   // importing process
//   auto mapped = cucore::DeviceMemoryResource::from_allocation_handle(device, received.file);
//   auto same = cucore::Buffer::from_ipc_descriptor(mapped, received.descriptor, stream);
//
// The file descriptor goes over a Unix socket (SCM_RIGHTS) or is inherited. The exporter must keep its buffer open
// until all importers have closed theirs, and order the work of the processes (an IPC-enabled Event does); the driver
// checks neither. What another process sends is trusted: open only what comes from your own. Thread-safety: const
// members may be called concurrently.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "cucore/export.hpp"

namespace cucore {

/// What a process opens another's buffer with: plain data. Only of use together with the buffer's pool.
struct IpcBufferDescriptor {
  std::array<std::byte, 64> payload{};  ///< the driver's CUmemPoolPtrExportData
  std::size_t size = 0;                 ///< bytes of the buffer

  friend bool operator==(const IpcBufferDescriptor&, const IpcBufferDescriptor&) = default;
};

/// A file descriptor of a memory pool, closed with the object. Move-only.
class CUCORE_API IpcAllocationHandle {
 public:
  /// The closed handle.
  IpcAllocationHandle() noexcept = default;
  /// Takes over an open file descriptor; negative: closed.
  explicit IpcAllocationHandle(int file) noexcept : file_(file) {}
  IpcAllocationHandle(IpcAllocationHandle&& other) noexcept : file_(other.release()) {}
  IpcAllocationHandle& operator=(IpcAllocationHandle&& other) noexcept {
    if (this != &other) {
      close();
      file_ = other.release();
    }
    return *this;
  }
  ~IpcAllocationHandle() { close(); }

  /// The file descriptor; -1 when closed.
  int file() const noexcept { return file_; }
  explicit operator bool() const noexcept { return file_ >= 0; }
  /// Gives up ownership: whoever calls it closes the file descriptor.
  int release() noexcept { return std::exchange(file_, -1); }
  /// Pools imported from it stay. Closing twice is allowed.
  void close() noexcept;

 private:
  int file_ = -1;
};

}  // namespace cucore
