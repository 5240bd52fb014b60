// Memory by device code: the heap, and copies and fills in streams. See device_runtime.hpp.
#include <cstring>
#include <optional>

#include "cpu/runtime/execution/device_runtime.hpp"
#include "cpu/runtime/execution/kernel_heap.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime {

struct DeviceCopy {
  std::uint64_t from_array;
  std::uint64_t from_x, from_y, from_z;
  PitchedPointer from;
  std::uint64_t to_array;
  std::uint64_t to_x, to_y, to_z;
  PitchedPointer to;
  DeviceExtent extent;
  std::uint32_t kind;
};

namespace {

// cudaMemcpyKind
constexpr std::uint32_t device_to_device = 3;
constexpr std::uint32_t default_mxcsr = 4;

/// Rows of bytes, from one place to another or, without `from`, of one value.
struct Rows {
  std::uint64_t to = 0, to_pitch = 0, to_slice = 0;
  std::uint64_t from = 0, from_pitch = 0, from_slice = 0;
  DeviceExtent extent{};
  int value = 0;

  void run() const {
    for (std::uint64_t z = 0; z < extent.depth; ++z)
      for (std::uint64_t y = 0; y < extent.height; ++y) {
        auto* const target = reinterpret_cast<void*>(to + z * to_slice + y * to_pitch);
        if (from != 0)
          std::memmove(target, reinterpret_cast<const void*>(from + z * from_slice + y * from_pitch), extent.width);
        else
          std::memset(target, value, extent.width);
      }
  }
};

void run_rows(LaunchTree& tree, const Rows& rows) {
  const Fault fault = call_guarded([](void* it) { static_cast<const Rows*>(it)->run(); }, const_cast<Rows*>(&rows));
  if (fault.signal == 0) return;
  report(std::string("a ") + (rows.from != 0 ? "copy" : "fill") + " that a kernel launched: no memory at " +
         hexadecimal(fault.address));
  tree.context().set_error(ErrorCode::IllegalAddress);
}

DeviceError launch_rows(const DeviceCaller& caller, const Rows& rows, std::uint64_t stream) {
  const bool is_empty = rows.extent.width == 0 || rows.extent.height == 0 || rows.extent.depth == 0;
  if (is_empty) return find_stream(caller, stream) ? DeviceError::Success : DeviceError::InvalidValue;
  return launch_into(caller, stream,
                     [rows](const std::shared_ptr<LaunchedItem>& item) { run_rows(*item->tree, rows); });
}

DeviceError launch_copy(const DeviceCaller& caller, const Rows& rows, std::uint32_t kind, std::uint64_t stream) {
  if (kind != device_to_device && kind != default_mxcsr) return DeviceError::InvalidMemcpyDirection;
  return launch_rows(caller, rows, stream);
}

}  // namespace

namespace device_runtime {

DeviceError Malloc(DeviceCaller& caller, std::uint64_t* block, std::uint64_t bytes) {
  const CheckTable* const checks = caller.grid().state.checks;
  const std::uint32_t line = caller.thread()->place & ~aligned_place;
  const std::uint64_t made = bytes == 0 ? 0
                             : checks   ? checks->allocate(caller.thread(), bytes, line)
                                        : kernel_heap::allocate(bytes);
  caller.write(block, made);
  return made != 0 || bytes == 0 ? DeviceError::Success : DeviceError::MemoryAllocation;
}

DeviceError Free(DeviceCaller& caller, std::uint64_t block) {
  if (const CheckTable* const checks = caller.grid().state.checks) {
    checks->release(caller.thread(), block, caller.thread()->place & ~aligned_place);
    return DeviceError::Success;
  }
  {
    const ThreadState& thread = *caller.thread();
    const std::optional<kernel_heap::Misuse> misuse = kernel_heap::release(thread, block);
    if (!misuse) return DeviceError::Success;
    caller.grid().fail(misuse->error, whereabouts(caller.grid(), *thread.block, &thread) + ": " + misuse->what);
  }
  Fiber::finish();
}

DeviceError MemcpyAsync(DeviceCaller& caller, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                        std::uint32_t kind, std::uint64_t stream) {
  return launch_copy(caller, {.to = to, .from = from, .extent = {bytes, 1, 1}}, kind, stream);
}

DeviceError Memcpy2DAsync(DeviceCaller& caller, std::uint64_t to, std::uint64_t to_pitch, std::uint64_t from,
                          std::uint64_t from_pitch, std::uint64_t width, std::uint64_t height, std::uint32_t kind,
                          std::uint64_t stream) {
  if (width > to_pitch || width > from_pitch) return DeviceError::InvalidValue;
  return launch_copy(
      caller, {.to = to, .to_pitch = to_pitch, .from = from, .from_pitch = from_pitch, .extent = {width, height, 1}},
      kind, stream);
}

DeviceError Memcpy3DAsync(DeviceCaller& caller, const DeviceCopy* given, std::uint64_t stream) {
  const DeviceCopy copy = caller.read(given);
  if (copy.from_array != 0 || copy.to_array != 0) return DeviceError::InvalidValue;  // there are none on the device
  if (copy.from_x + copy.extent.width > copy.from.pitch || copy.to_x + copy.extent.width > copy.to.pitch)
    return DeviceError::InvalidValue;
  Rows rows;
  rows.to_pitch = copy.to.pitch;
  rows.to_slice = copy.to.pitch * copy.to.height;
  rows.to = copy.to.pointer + copy.to_z * rows.to_slice + copy.to_y * rows.to_pitch + copy.to_x;
  rows.from_pitch = copy.from.pitch;
  rows.from_slice = copy.from.pitch * copy.from.height;
  rows.from = copy.from.pointer + copy.from_z * rows.from_slice + copy.from_y * rows.from_pitch + copy.from_x;
  rows.extent = copy.extent;
  return launch_copy(caller, rows, copy.kind, stream);
}

DeviceError MemsetAsync(DeviceCaller& caller, std::uint64_t to, std::uint32_t value, std::uint64_t bytes,
                        std::uint64_t stream) {
  return launch_rows(caller, {.to = to, .extent = {bytes, 1, 1}, .value = static_cast<int>(value)}, stream);
}

DeviceError Memset2DAsync(DeviceCaller& caller, std::uint64_t to, std::uint64_t pitch, std::uint32_t value,
                          std::uint64_t width, std::uint64_t height, std::uint64_t stream) {
  if (width > pitch) return DeviceError::InvalidValue;
  return launch_rows(
      caller, {.to = to, .to_pitch = pitch, .extent = {width, height, 1}, .value = static_cast<int>(value)}, stream);
}

DeviceError Memset3DAsync(DeviceCaller& caller, PitchedPointer to, std::uint32_t value, DeviceExtent extent,
                          std::uint64_t stream) {
  if (extent.width > to.pitch) return DeviceError::InvalidValue;
  return launch_rows(caller,
                     {.to = to.pointer,
                      .to_pitch = to.pitch,
                      .to_slice = to.pitch * to.height,
                      .extent = extent,
                      .value = static_cast<int>(value)},
                     stream);
}

}  // namespace device_runtime
}  // namespace cucore::cpu::runtime
