// GraphMemoryResource: memory that a graph allocates each time it runs, for use in that graph.
//
//   auto memory = cucore::GraphMemoryResource::of(device);
//   auto buffer = memory->allocate(4096, stream);          // `stream` is capturing: an allocation node
//   cucore::launch(stream, config, kernel, buffer);
//   buffer.close();                                        // still capturing: a free node
//
// The address is known at once, and is the same in every launch; the memory is there from the allocation node on. A
// buffer that is closed or destroyed after the capture frees what the last launch of the graph left allocated: a graph
// that leaves memory must have been launched by then. Thread-safety: all members may be called concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cucore/buffer.hpp"
#include "cucore/device.hpp"
#include "cucore/export.hpp"
#include "cucore/memory.hpp"

namespace cucore {

/// What the graphs of a device hold at one moment (cuDeviceGetGraphMemAttribute), in bytes.
struct GraphMemoryAttributes {
  std::uint64_t reserved_mem_current = 0;  ///< taken from the system
  std::uint64_t reserved_mem_high = 0;     ///< the most since it was reset
  std::uint64_t used_mem_current = 0;      ///< allocated by graphs
  std::uint64_t used_mem_high = 0;
};

class CUCORE_API GraphMemoryResource final : public MemoryResource {
 public:
  /// The device's: one for all who ask.
  static std::shared_ptr<GraphMemoryResource> of(const Device& device) { return of(device.ordinal()); }
  /// The same by its ordinal. Where there is no such device, whatever the resource is asked throws.
  static std::shared_ptr<GraphMemoryResource> of(int ordinal);

  /// A node of the graph that is being captured in `stream`. @throws StateError nothing is captured there, or the
  /// capture was invalidated  @throws ValueError `stream` is of another device  @throws DriverError
  Buffer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override;
  bool is_device_accessible() const noexcept override { return true; }
  bool is_host_accessible() const noexcept override { return false; }
  int device_id() const noexcept override { return device_id_; }

  GraphMemoryAttributes attributes() const;
  /// Resets the high-water marks to the current values.
  void reset_reserved_mem_high();
  void reset_used_mem_high();
  /// Returns memory that no graph uses at the moment to the system (cuDeviceGraphMemTrim).
  void trim();

 private:
  explicit GraphMemoryResource(int device_id) noexcept : device_id_(device_id) {}
  int device_id_;
};

}  // namespace cucore
