// Virtual memory: buffers that are mapped piece by piece, and so can grow.
//
//   auto virtual_memory = cucore::VirtualMemoryResource::create(device);
//   auto list = virtual_memory->allocate(1 << 20, stream);         // rounded up to the granularity
//   virtual_memory->modify_allocation(list, 1 << 24);              // keeps what is in it; the address may change
//
// An allocation is physical memory, mapped to reserved addresses, with access rights for each device. It is usable at
// once; deallocate() waits for its stream first. Growing maps more memory behind the buffer, or where that is taken
// maps the same memory, and more, at other addresses: nothing is copied. A growth that fails leaves the buffer as it
// was. Thread-safety: as of MemoryResource; a buffer must not be used elsewhere while it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cucore/buffer.hpp"
#include "cucore/export.hpp"
#include "cucore/managed_memory.hpp"
#include "cucore/memory.hpp"

namespace cucore {

namespace detail {
struct VirtualAllocations;
}

enum class VirtualMemoryAllocation { pinned, managed };
/// How the physical memory can be given to other processes.
enum class VirtualMemoryHandle { none, posix_fd, win32_kmt, fabric };
/// What sizes round up to.
enum class VirtualMemoryGranularity { minimum, recommended };
enum class VirtualMemoryAccess { none, read, read_write };

struct VirtualMemoryResourceOptions {
  VirtualMemoryAllocation allocation_type = VirtualMemoryAllocation::pinned;
  /// Where the memory is; unset: on the device. Host::numa_current() is the node of the thread that makes the resource.
  std::optional<MemoryLocation> location = std::nullopt;
  VirtualMemoryHandle handle_type = VirtualMemoryHandle::posix_fd;
  VirtualMemoryGranularity granularity = VirtualMemoryGranularity::recommended;
  /// The memory can be reached by GPUDirect RDMA. @throws UnavailableError (at creation) the device cannot do that
  bool gpu_direct_rdma = false;
  /// Where the addresses are to be, if they are free; 0: anywhere.
  DevicePointer addr_hint = 0;
  /// What the address is a multiple of: a power of two; 0: the granularity.
  std::size_t addr_align = 0;
  /// Ordinals of further devices that access it.
  std::vector<int> peers = {};
  /// What the place that the memory is at may do with it.
  VirtualMemoryAccess self_access = VirtualMemoryAccess::read_write;
  /// What `peers` may do with it.
  VirtualMemoryAccess peer_access = VirtualMemoryAccess::read_write;
};

class CUCORE_API VirtualMemoryResource final : public MemoryResource {
 public:
  /// @throws UnavailableError the device has no virtual memory management, or not what the options ask for
  static std::shared_ptr<VirtualMemoryResource> create(const Device& device,
                                                       const VirtualMemoryResourceOptions& options = {});
  ~VirtualMemoryResource() override;

  /// The buffer's size is rounded up. @throws DriverError; nothing is left allocated
  Buffer allocate(std::size_t size, const Stream& stream) override;
  /// Waits for `stream` and takes everything of the allocation back. @throws ValueError it is not of this resource
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override;

  /// Makes `buffer`, and every other reference to it, at least `new_size` bytes long. One that is as long already stays
  /// so, and only gets the access rights anew. With `options`, those are the resource's from now on: the access rights,
  /// and the kind of the memory added. Waits for the deallocation stream before addresses are given up.
  /// @throws ValueError the buffer is not of this resource  @throws DriverError; the buffer is as it was
  void modify_allocation(Buffer& buffer, std::size_t new_size);
  void modify_allocation(Buffer& buffer, std::size_t new_size, const VirtualMemoryResourceOptions& options);

  bool is_device_accessible() const noexcept override;
  bool is_host_accessible() const noexcept override;
  bool is_managed() const noexcept override;
  /// -1 for memory of the host.
  int device_id() const noexcept override;
  /// The ordinal of the device that the resource was made for.
  int device() const noexcept { return device_; }
  VirtualMemoryResourceOptions options() const { return *policy(); }
  /// Bytes that sizes are rounded up to.
  std::size_t granularity() const;

 private:
  VirtualMemoryResource(int device, VirtualMemoryResourceOptions options);
  std::shared_ptr<const VirtualMemoryResourceOptions> policy() const noexcept;
  void grow(Buffer& buffer, std::size_t new_size, const VirtualMemoryResourceOptions& wanted);
  int device_;
  std::shared_ptr<const VirtualMemoryResourceOptions> policy_;
  std::unique_ptr<detail::VirtualAllocations> allocations_;
};

}  // namespace cucore
