// Memory resources: where buffers come from and go back to.
//
//   auto pool = cucore::DeviceMemoryResource::create(device);             // the device's current pool
//   auto mine = cucore::DeviceMemoryResource::create(device, {.max_size = 1 << 30});   // a pool of our own
//   auto buffer = mine->allocate(4096, stream);                           // usable in stream order
//   auto staging = cucore::PinnedMemoryResource::create()->allocate(4096, stream);     // host and device
//
// Stream order: memory of a pool is valid for work submitted to the same stream after the allocation. Use on another
// stream needs an event between; the free is ordered on the buffer's deallocation stream.
// Ownership: resources are shared; every buffer holds its resource. close() of a pool resource drops the resource's own
// reference; buffers already handed out stay valid.
// Thread-safety: all members may be called concurrently, except close().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cucore/buffer.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"
#include "cucore/ipc.hpp"

namespace cucore {

namespace detail {
class MappedPointers;
struct PoolState;
}  // namespace detail
class Device;
class Stream;

/// Base class. To make your own: override the pure members; end allocate() with `Buffer::adopt(address, size,
/// shared_from_this(), stream)`, which has deallocate() called at the buffer's end.
/// Instances must be owned by a shared_ptr.
class CUCORE_API MemoryResource : public std::enable_shared_from_this<MemoryResource> {
 public:
  MemoryResource() = default;
  MemoryResource(const MemoryResource&) = delete;
  MemoryResource& operator=(const MemoryResource&) = delete;
  virtual ~MemoryResource();

  /// At least `size` bytes. Size 0 gives a buffer with address 0.
  virtual Buffer allocate(std::size_t size, const Stream& stream) = 0;
  /// Takes back what allocate() gave, in the order of `stream`. Buffers call it with their context current; what it
  /// throws is rethrown by Buffer::close() and reported to the release failure handler from destructors.
  virtual void deallocate(DevicePointer address, std::size_t size, const Stream& stream) = 0;
  virtual bool is_device_accessible() const noexcept = 0;
  virtual bool is_host_accessible() const noexcept = 0;
  /// The device whose memory it is, or -1.
  virtual int device_id() const noexcept { return -1; }
  virtual bool is_managed() const noexcept { return false; }
};

/// A pool's state at one moment (cuMemPoolGetAttribute).
struct PoolAttributes {
  bool reuse_follow_event_dependencies = false;
  bool reuse_allow_opportunistic = false;
  bool reuse_allow_internal_dependencies = false;
  std::uint64_t release_threshold = 0;     ///< bytes kept from the operating system when idle
  std::uint64_t reserved_mem_current = 0;  ///< bytes the pool holds
  std::uint64_t reserved_mem_high = 0;
  std::uint64_t used_mem_current = 0;  ///< bytes handed out
  std::uint64_t used_mem_high = 0;
};

/// Asks the driver for a pool's attributes at each call (cuMemPoolGetAttribute), from any thread. It keeps the pool
/// alive, and still answers when its resource has been closed or destroyed.
class CUCORE_API PoolAttributesReader {
 public:
  explicit PoolAttributesReader(std::shared_ptr<const detail::PoolState> pool) noexcept : pool_(std::move(pool)) {}
  /// @throws DriverError CUDA_ERROR_INVALID_VALUE: the pool is of another process
  PoolAttributes operator()() const;
  /// One of them alone, as reader(&PoolAttributes::used_mem_high). @throws DriverError as above
  bool operator()(bool PoolAttributes::* which) const;
  std::uint64_t operator()(std::uint64_t PoolAttributes::* which) const;

 private:
  std::shared_ptr<const detail::PoolState> pool_;
};

/// What DeviceMemoryResource and PinnedMemoryResource share: allocation from a driver pool in stream order.
class CUCORE_API PoolMemoryResource : public MemoryResource {
 public:
  ~PoolMemoryResource() override;

  /// @throws StateError the resource is closed, or `stream` is capturing into a graph
  /// @throws TypeError the pool is mapped: only its own process allocates
  /// @throws DriverError CUDA_ERROR_OUT_OF_MEMORY, ...
  Buffer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override;

  /// The driver's pool; null when closed.
  MemoryPoolHandle handle() const noexcept;
  /// False for the driver's own current pool.
  bool is_handle_owned() const noexcept;
  /// Whether other processes can import the pool, or it is imported itself.
  bool is_ipc_enabled() const noexcept { return is_ipc_enabled_; }
  /// Whether it is imported from another process. Then it allocates nothing, but opens that process's buffers.
  bool is_mapped() const noexcept { return mapped_ != nullptr; }
  /// A new file descriptor that other processes import the pool from (cuMemPoolExportToShareableHandle).
  /// @throws StateError closed, not IPC-enabled, or mapped: pass on the handle it was imported from
  IpcAllocationHandle allocation_handle() const;
  /// @throws StateError closed
  PoolAttributes attributes() const { return attributes_reader()(); }
  /// For asking again later. @throws StateError closed
  PoolAttributesReader attributes_reader() const { return PoolAttributesReader(open_pool("attributes")); }
  /// How many idle bytes the pool keeps instead of returning them to the operating system at each synchronisation.
  void set_release_threshold(std::uint64_t bytes);
  /// Returns idle memory above `min_bytes_to_keep` to the operating system (cuMemPoolTrimTo).
  void trim_to(std::size_t min_bytes_to_keep);
  bool is_closed() const noexcept { return pool_ == nullptr; }
  /// Detaches from the pool; an owned pool is destroyed after its last buffer. Closing twice is allowed. On a GPU,
  /// destroying an owned pool that was used first waits for the work of the contexts that used it: NVIDIA's driver
  /// crashes otherwise.
  void close();

 protected:
  explicit PoolMemoryResource(std::shared_ptr<const detail::PoolState> pool);
  std::shared_ptr<const detail::PoolState> open_pool(const char* call) const;

 private:
  friend class Buffer;
  Buffer open_buffer(const IpcBufferDescriptor& descriptor, const Stream& stream);
  IpcBufferDescriptor descriptor_of(DevicePointer address, std::size_t size) const;

  std::shared_ptr<const detail::PoolState> pool_;
  bool is_ipc_enabled_;
  mutable std::atomic<bool> is_exported_ = false;
  std::shared_ptr<detail::MappedPointers> mapped_;  // of a mapped pool; outlives close(), for buffers still open
};

struct DeviceMemoryResourceOptions {
  /// Most bytes the pool may hold; 0: the driver's limit.
  std::size_t max_size = 0;
  /// Idle bytes to keep; the default keeps everything.
  std::uint64_t release_threshold = UINT64_MAX;
  /// Other processes may import the pool. @throws DriverError (at creation) the device cannot share pools
  bool ipc_enabled = false;
};

/// Device memory from a stream-ordered pool.
class CUCORE_API DeviceMemoryResource final : public PoolMemoryResource {
 public:
  /// The device's current pool. Its release threshold is raised to the maximum if it is 0, so that idle memory is kept.
  /// @throws DriverError CUDA_ERROR_NOT_SUPPORTED: the device has no pools
  static std::shared_ptr<DeviceMemoryResource> create(const Device& device);
  /// A pool of its own. On a GPU it may be one that an earlier resource used. After the resource and its last buffer,
  /// the pool's memory is given back at the next wait for the device (Device::sync); until then it can be used again.
  static std::shared_ptr<DeviceMemoryResource> create(const Device& device, const DeviceMemoryResourceOptions& options);
  /// Imports a pool of another process from its file descriptor, which stays the caller's
  /// (cuMemPoolImportFromShareableHandle). `device` is the pool's; its ordinal may differ between the processes.
  static std::shared_ptr<DeviceMemoryResource> from_allocation_handle(const Device& device, int file);

  bool is_device_accessible() const noexcept override { return true; }
  bool is_host_accessible() const noexcept override { return false; }
  int device_id() const noexcept override { return device_id_; }

  /// Ordinals of the other devices whose kernels may read and write the pool's memory (asks the driver).
  std::vector<int> peer_accessible_by() const;
  /// Makes that set exactly `devices` (the own device is ignored), with one driver call, or none if nothing changes.
  /// @throws ValueError a device cannot reach this one
  void set_peer_accessible_by(const std::vector<int>& devices);

 private:
  DeviceMemoryResource(std::shared_ptr<const detail::PoolState> pool, int device_id);
  int device_id_;
};

struct PinnedMemoryResourceOptions {
  std::size_t max_size = 0;  ///< most bytes the pool may hold; 0: the driver's limit
  /// NUMA node to place the memory on; unset: anywhere on the host. @throws ValueError (at creation) negative
  std::optional<int> numa_id = std::nullopt;
  std::uint64_t release_threshold = UINT64_MAX;
  /// Other processes may import the pool. Drivers share only pools of a NUMA node: without `numa_id`, that of the
  /// current device. @throws StateError (at creation) the driver does not know that node
  bool ipc_enabled = false;
};

/// Page-locked host memory from a stream-ordered pool. Every visible device is granted access at creation.
class CUCORE_API PinnedMemoryResource final : public PoolMemoryResource {
 public:
  /// The driver's current host pool. @throws DriverError the driver has none (before CUDA 13): use
  /// LegacyPinnedMemoryResource
  static std::shared_ptr<PinnedMemoryResource> create();
  /// A new pool.
  static std::shared_ptr<PinnedMemoryResource> create(const PinnedMemoryResourceOptions& options);
  /// Imports a pool of another process from its file descriptor, which stays the caller's.
  static std::shared_ptr<PinnedMemoryResource> from_allocation_handle(int file);

  bool is_device_accessible() const noexcept override { return true; }
  bool is_host_accessible() const noexcept override { return true; }
  /// The node it was made for, or -1.
  int numa_id() const noexcept { return numa_id_; }

 private:
  PinnedMemoryResource(std::shared_ptr<const detail::PoolState> pool, int numa_id);
  int numa_id_;
};

/// Page-locked host memory, allocated and freed synchronously (cuMemAllocHost, cuMemFreeHost). deallocate() waits for
/// `stream` first.
class CUCORE_API LegacyPinnedMemoryResource final : public MemoryResource {
 public:
  static std::shared_ptr<LegacyPinnedMemoryResource> create();
  Buffer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override;
  bool is_device_accessible() const noexcept override { return true; }
  bool is_host_accessible() const noexcept override { return true; }
};

/// Device memory, allocated and freed synchronously (cuMemAlloc, cuMemFree): for devices without pools. deallocate()
/// waits for `stream` first.
class CUCORE_API SynchronousMemoryResource final : public MemoryResource {
 public:
  static std::shared_ptr<SynchronousMemoryResource> create(const Device& device);
  Buffer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override;
  bool is_device_accessible() const noexcept override { return true; }
  bool is_host_accessible() const noexcept override { return false; }
  int device_id() const noexcept override { return device_id_; }

 private:
  explicit SynchronousMemoryResource(int device_id) noexcept : device_id_(device_id) {}
  int device_id_;
};

}  // namespace cucore
