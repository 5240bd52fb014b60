// CUDA's device runtime, as device code calls it (cpu/abi/device_calls.hpp): one function for each call, on the fiber
// of the calling device thread. A fault in one, at an address that the program gave, ends the fiber: no lock is held
// and nothing is owned where they read and write such memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/runtime/execution/launch_tree.hpp"

namespace cucore::cpu::runtime {

/// cudaError_t, as far as device code meets it.
enum class DeviceError : std::int32_t {
  Success = 0,
  InvalidValue = 1,
  MemoryAllocation = 2,
  InvalidConfiguration = 9,
  InvalidMemcpyDirection = 21,
  LaunchMaxDepthExceeded = 65,
  LaunchPendingCountExceeded = 69,
  InvalidDeviceFunction = 98,
  InvalidDevice = 101,
  UnsupportedLimit = 215,
  InvalidResourceHandle = 400,
  LaunchOutOfResources = 701,
  NotSupported = 801,
  InvalidClusterSize = 912,
};

/// The device thread that calls.
class DeviceCaller {
 public:
  DeviceCaller(ThreadState* thread, bool has_own_stream);

  ThreadState* thread() const { return thread_; }
  Grid& grid() const { return grid_; }
  bool has_own_stream() const { return has_own_stream_; }  ///< of a call with `_ptsz`
  std::uint64_t block_number() const;
  std::uint64_t number() const;  ///< in the grid
  const std::shared_ptr<LaunchedItem>& item() const { return item_of(grid_); }

  /// The thread's last error.
  void set_error(DeviceError error);
  DeviceError error(bool forget);

  /// Memory at an address that the program gave.
  template <class T>
  void write(T* where, const T& value) const {
    if (may_access(where, sizeof(T), check_access::writes_memory)) *where = value;
  }
  template <class T>
  T read(const T* where) const {
    return may_access(where, sizeof(T), check_access::reads_memory) ? *where : T{};
  }

 private:
  bool may_access(const void* where, std::size_t bytes, std::uint32_t access) const;

  ThreadState* const thread_;
  Grid& grid_;
  const bool has_own_stream_;
};

/// How an item is ordered that the thread puts into the stream with this handle; nothing if there is no such stream.
struct StreamPlace {
  LaunchTree::Order order;
  std::uint64_t key;  ///< of LaunchedItem::Made::streams
};
std::optional<StreamPlace> find_stream(const DeviceCaller& caller, std::uint64_t handle);

/// Puts work into a stream.
DeviceError launch_into(const DeviceCaller& caller, std::uint64_t stream, LaunchTree::Run run);

/// Parameters that are passed by value.
struct DeviceShape {
  std::uint32_t x, y, z;
};
struct DeviceExtent {
  std::uint64_t width, height, depth;
};
struct PitchedPointer {
  std::uint64_t pointer, pitch, width, height;
};
/// cudaGraphKernelNodeUpdate
struct NodeUpdate {
  enum class Field : std::uint32_t { Invalid, Grid, Parameter, Enabled };

  std::uint64_t node;
  Field field;
  std::uint32_t padding;
  union {
    DeviceShape grid;
    struct {
      const std::byte* value;
      std::uint64_t offset, bytes;
    } parameter;
    std::uint32_t is_enabled;
  };
};
static_assert(sizeof(NodeUpdate) == 40);
struct DeviceCopy;      // cudaMemcpy3DParms
struct DeviceFunction;  // cudaFuncAttributes

/// The calls, with the names that they have in device_calls.def.
namespace device_runtime {

std::uint64_t GetParameterBuffer(DeviceCaller&, std::uint64_t alignment, std::uint64_t bytes);
std::uint64_t GetParameterBufferV2(DeviceCaller&, std::uint64_t function, DeviceShape grid, DeviceShape block,
                                   std::uint32_t shared);
DeviceError LaunchDevice(DeviceCaller&, std::uint64_t function, std::uint64_t buffer, DeviceShape grid,
                         DeviceShape block, std::uint32_t shared, std::uint64_t stream);
DeviceError LaunchDeviceV2(DeviceCaller&, std::uint64_t buffer, std::uint64_t stream);
DeviceError GraphLaunch(DeviceCaller&, std::uint64_t exec, std::uint64_t stream);
DeviceError GraphKernelNodeSetParam(DeviceCaller&, std::uint64_t node, std::uint64_t offset, const std::byte* value,
                                    std::uint64_t bytes);
DeviceError GraphKernelNodeSetEnabled(DeviceCaller&, std::uint64_t node, std::uint32_t is_enabled);
DeviceError GraphKernelNodeSetGridDim(DeviceCaller&, std::uint64_t node, DeviceShape grid);
DeviceError GraphKernelNodeUpdatesApply(DeviceCaller&, const NodeUpdate* updates, std::uint64_t count);

DeviceError StreamCreateWithFlags(DeviceCaller&, std::uint64_t* stream, std::uint32_t flags);
DeviceError StreamDestroy(DeviceCaller&, std::uint64_t stream);
DeviceError StreamWaitEvent(DeviceCaller&, std::uint64_t stream, std::uint64_t event, std::uint32_t flags);
DeviceError EventCreateWithFlags(DeviceCaller&, std::uint64_t* event, std::uint32_t flags);
DeviceError EventRecord(DeviceCaller&, std::uint64_t event, std::uint64_t stream);
DeviceError EventRecordWithFlags(DeviceCaller&, std::uint64_t event, std::uint64_t stream, std::uint32_t flags);
DeviceError EventDestroy(DeviceCaller&, std::uint64_t event);

DeviceError Malloc(DeviceCaller&, std::uint64_t* block, std::uint64_t bytes);
DeviceError Free(DeviceCaller&, std::uint64_t block);
DeviceError MemcpyAsync(DeviceCaller&, std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint32_t kind,
                        std::uint64_t stream);
DeviceError Memcpy2DAsync(DeviceCaller&, std::uint64_t to, std::uint64_t to_pitch, std::uint64_t from,
                          std::uint64_t from_pitch, std::uint64_t width, std::uint64_t height, std::uint32_t kind,
                          std::uint64_t stream);
DeviceError Memcpy3DAsync(DeviceCaller&, const DeviceCopy* copy, std::uint64_t stream);
DeviceError MemsetAsync(DeviceCaller&, std::uint64_t to, std::uint32_t value, std::uint64_t bytes,
                        std::uint64_t stream);
DeviceError Memset2DAsync(DeviceCaller&, std::uint64_t to, std::uint64_t pitch, std::uint32_t value,
                          std::uint64_t width, std::uint64_t height, std::uint64_t stream);
DeviceError Memset3DAsync(DeviceCaller&, PitchedPointer to, std::uint32_t value, DeviceExtent extent,
                          std::uint64_t stream);

/// These two do not set it.
std::int32_t GetLastError(DeviceCaller&);
std::int32_t PeekAtLastError(DeviceCaller&);
const char* GetErrorName(DeviceCaller&, std::int32_t error);
const char* GetErrorString(DeviceCaller&, std::int32_t error);

DeviceError GetDevice(DeviceCaller&, std::int32_t* device);
DeviceError GetDeviceCount(DeviceCaller&, std::int32_t* count);
DeviceError DeviceGetAttribute(DeviceCaller&, std::int32_t* value, std::uint32_t attribute, std::int32_t device);
DeviceError DeviceGetLimit(DeviceCaller&, std::uint64_t* value, std::uint32_t limit);
DeviceError DeviceGetCacheConfig(DeviceCaller&, std::uint32_t* config);
DeviceError DeviceGetSharedMemConfig(DeviceCaller&, std::uint32_t* config);
DeviceError RuntimeGetVersion(DeviceCaller&, std::int32_t* version);
DeviceError FuncGetAttributes(DeviceCaller&, DeviceFunction* attributes, std::uint64_t function);
DeviceError OccupancyMaxActiveBlocksPerMultiprocessor(DeviceCaller&, std::int32_t* blocks, std::uint64_t function,
                                                      std::int32_t threads, std::uint64_t shared);
DeviceError OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(DeviceCaller&, std::int32_t* blocks,
                                                               std::uint64_t function, std::int32_t threads,
                                                               std::uint64_t shared, std::uint32_t flags);

}  // namespace device_runtime
}  // namespace cucore::cpu::runtime
