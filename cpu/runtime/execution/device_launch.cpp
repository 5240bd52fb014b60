// Launches by device code, and the streams and events that order them. See device_runtime.hpp.
#include <algorithm>
#include <atomic>
#include <utility>

#include "cpu/runtime/execution/device_runtime.hpp"
#include "cpu/runtime/execution/launch.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/objects/context.hpp"

namespace cucore::cpu::runtime {

namespace {

/// How deep launches may nest below one of the host.
constexpr std::uint64_t buffer_alignment = 64;
constexpr std::uint64_t most_parameter_bytes = 4096;

/// Handles that mean a stream of their own kind.
namespace stream_handle {
constexpr std::uint64_t block_bytes = 0;
constexpr std::uint64_t legacy = 1;
constexpr std::uint64_t thread_place = 2;
constexpr std::uint64_t tail = 3;
constexpr std::uint64_t forgotten = 4;
// of graphs
constexpr std::uint64_t tail_of_graph = std::uint64_t{1} << 56;
constexpr std::uint64_t forgotten_graph = std::uint64_t{2} << 56;
constexpr std::uint64_t sibling_of_graph = std::uint64_t{3} << 56;
}  // namespace stream_handle

/// What tells the keys of streams apart, whose lower bits are a block, a thread, or a count.
constexpr std::uint64_t streams_of_blocks = std::uint64_t{1} << 62;
constexpr std::uint64_t streams_of_threads = std::uint64_t{1} << 63;
constexpr std::uint64_t created = std::uint64_t{0x5354} << 40;  ///< streams and events

constexpr std::uint32_t non_blocking = 1;    // cudaStreamNonBlocking
constexpr std::uint32_t disable_timing = 2;  // cudaEventDisableTiming

std::uint64_t next_handle() {
  static std::atomic<std::uint64_t> count{0};
  return created + ++count;
}

void assign(std::uint32_t (&to)[3], DeviceShape shape) {
  to[0] = shape.x;
  to[1] = shape.y;
  to[2] = shape.z;
}

std::shared_ptr<Function> find_kernel(const DeviceCaller& caller, std::uint64_t address) {
  auto function = find_kernel_at(address);
  return function && &function->module().context() == caller.grid().context ? function : nullptr;
}

DeviceError check_request(Function& function, const LaunchRequest& request) {
  for (int axis = 0; axis < 3; ++axis)
    if (request.grid[axis] == 0 || request.block[axis] == 0) return DeviceError::InvalidConfiguration;
  if (!check_launch(function, request)) return DeviceError::InvalidConfiguration;
  return check_cluster(function, request) ? DeviceError::Success : DeviceError::InvalidClusterSize;
}

/// Makes the parameter buffer of a launch. Returns its address, by which the launch is found again once it is filled.
std::uint64_t make_buffer(DeviceCaller& caller, std::uint64_t bytes, ParameterBuffer buffer) {
  if (!caller.item()->tree->has_room()) {
    caller.set_error(DeviceError::LaunchPendingCountExceeded);
    return 0;
  }
  bytes += buffer_alignment;
  if (const CheckTable* const checks = caller.grid().state.checks) {
    buffer.address = checks->allocate(caller.thread(), bytes, caller.thread()->place & ~aligned_place);
    if (buffer.address == 0) return 0;
  } else {
    buffer.memory.resize(bytes / sizeof(std::max_align_t) + 1);
    buffer.address = reinterpret_cast<std::uintptr_t>(buffer.memory.data());
  }
  const std::uint64_t aligned = (buffer.address + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
  const std::lock_guard lock(caller.item()->tree->mutex());
  caller.item()->made.buffers[aligned] = std::move(buffer);
  return aligned;
}

std::optional<ParameterBuffer> take_buffer(const DeviceCaller& caller, std::uint64_t address) {
  const std::lock_guard lock(caller.item()->tree->mutex());
  auto taken = caller.item()->made.buffers.extract(address);
  if (!taken) return std::nullopt;
  return std::move(taken.mapped());
}

void run_child(const std::shared_ptr<LaunchedItem>& item, const std::shared_ptr<Function>& function,
               LaunchRequest request, const std::vector<std::max_align_t>& parameters) {
  request.packed = reinterpret_cast<const std::byte*>(parameters.data());
  Grid grid;
  grid.item = item;
  grid.launches.store(item->tree.get(), std::memory_order_release);
  grid.resources.epoch = item->tree->epoch();
  if (const CUresult result = prepare(function, request, grid); result != CUDA_SUCCESS)
    item->tree->context().set_error(static_cast<ErrorCode>(result));
  else
    run_with_launches(grid);
}

/// Launches with the parameters in the buffer at `address`, which ends with that.
DeviceError launch_with(DeviceCaller& caller, const std::shared_ptr<Function>& function, const LaunchRequest& request,
                        std::uint64_t address, const ParameterBuffer* buffer, std::uint64_t stream) {
  if (!function) return DeviceError::InvalidDeviceFunction;
  if (const DeviceError error = check_request(*function, request); error != DeviceError::Success) return error;
  const std::size_t bytes = function->description().parameter_bytes;
  if (bytes != 0 && !buffer) return DeviceError::InvalidValue;
  std::vector<std::max_align_t> parameters(bytes / sizeof(std::max_align_t) + 1);
  std::copy_n(reinterpret_cast<const std::byte*>(address), bytes, reinterpret_cast<std::byte*>(parameters.data()));
  if (const CheckTable* const checks = caller.grid().state.checks; buffer && checks)
    checks->release(caller.thread(), buffer->address, caller.thread()->place & ~aligned_place);
  return launch_into(
      caller, stream,
      [function, request, parameters = std::move(parameters)](const std::shared_ptr<LaunchedItem>& item) {
        run_child(item, function, request, parameters);
      });
}

}  // namespace

std::optional<StreamPlace> find_stream(const DeviceCaller& caller, std::uint64_t handle) {
  const auto of_block = [&] { return streams_of_blocks | caller.block_number(); };
  const auto of_thread = [&] { return streams_of_threads | caller.number(); };
  switch (handle) {
    case stream_handle::block_bytes:
      return StreamPlace{LaunchTree::Order::InStream, caller.has_own_stream() ? of_thread() : of_block()};
    case stream_handle::legacy:
      return StreamPlace{LaunchTree::Order::InStream, of_block()};
    case stream_handle::thread_place:
      return StreamPlace{LaunchTree::Order::InStream, of_thread()};
    case stream_handle::tail:
      return StreamPlace{LaunchTree::Order::Tail, handle};
    case stream_handle::forgotten:
      return StreamPlace{LaunchTree::Order::Forgotten, handle};
    default:
      break;
  }
  const std::lock_guard lock(caller.item()->tree->mutex());
  if (handle < created || !caller.item()->made.streams.contains(handle)) return std::nullopt;
  return StreamPlace{LaunchTree::Order::InStream, handle};
}

DeviceError launch_into(const DeviceCaller& caller, std::uint64_t stream, LaunchTree::Run run) {
  const auto place = find_stream(caller, stream);
  if (!place) return DeviceError::InvalidValue;
  return caller.item()->tree->launch(caller.item(), place->order, place->key, std::move(run))
             ? DeviceError::Success
             : DeviceError::LaunchPendingCountExceeded;
}

namespace device_runtime {

std::uint64_t GetParameterBuffer(DeviceCaller& caller, std::uint64_t alignment, std::uint64_t bytes) {
  if (alignment > buffer_alignment || bytes > most_parameter_bytes) {
    caller.set_error(DeviceError::InvalidValue);
    return 0;
  }
  return make_buffer(caller, bytes, {});
}

std::uint64_t GetParameterBufferV2(DeviceCaller& caller, std::uint64_t function, DeviceShape grid, DeviceShape block,
                                   std::uint32_t shared) {
  const auto kernel = find_kernel(caller, function);
  LaunchRequest request;
  assign(request.grid, grid);
  assign(request.block, block);
  request.dynamic_shared = shared;
  const DeviceError error = kernel ? check_request(*kernel, request) : DeviceError::InvalidDeviceFunction;
  if (error != DeviceError::Success) {
    caller.set_error(error);
    return 0;
  }
  ParameterBuffer buffer;
  buffer.function = function;
  buffer.grid = {grid.x, grid.y, grid.z};
  buffer.block = {block.x, block.y, block.z};
  buffer.dynamic_shared = shared;
  return make_buffer(caller, kernel->description().parameter_bytes, std::move(buffer));
}

DeviceError LaunchDevice(DeviceCaller& caller, std::uint64_t function, std::uint64_t buffer, DeviceShape grid,
                         DeviceShape block, std::uint32_t shared, std::uint64_t stream) {
  const std::optional<ParameterBuffer> taken = take_buffer(caller, buffer);
  LaunchRequest request;
  assign(request.grid, grid);
  assign(request.block, block);
  request.dynamic_shared = shared;
  return launch_with(caller, find_kernel(caller, function), request, buffer, taken ? &*taken : nullptr, stream);
}

DeviceError LaunchDeviceV2(DeviceCaller& caller, std::uint64_t buffer, std::uint64_t stream) {
  const std::optional<ParameterBuffer> taken = take_buffer(caller, buffer);
  if (!taken) return DeviceError::InvalidValue;
  LaunchRequest request;
  std::copy_n(taken->grid.data(), 3, request.grid);
  std::copy_n(taken->block.data(), 3, request.block);
  request.dynamic_shared = taken->dynamic_shared;
  return launch_with(caller, find_kernel(caller, taken->function), request, buffer, &*taken, stream);
}

DeviceError GraphLaunch(DeviceCaller& caller, std::uint64_t exec, std::uint64_t stream) {
  RunningGraph* const graph = caller.grid().graph;
  const bool has_place = stream == stream_handle::tail_of_graph || stream == stream_handle::forgotten_graph ||
                         stream == stream_handle::sibling_of_graph;
  if (!graph || !has_place) return DeviceError::InvalidValue;
  const CUresult result =
      graph->launch(exec, stream == stream_handle::tail_of_graph     ? RunningGraph::Place::Tail
                          : stream == stream_handle::forgotten_graph ? RunningGraph::Place::Forgotten
                                                                     : RunningGraph::Place::Sibling);
  return static_cast<DeviceError>(result);  // these are numbered alike
}

DeviceError StreamCreateWithFlags(DeviceCaller& caller, std::uint64_t* stream, std::uint32_t flags) {
  if ((flags & ~non_blocking) != 0 || !stream) return DeviceError::InvalidValue;
  const std::uint64_t handle = next_handle();
  {
    const std::lock_guard lock(caller.item()->tree->mutex());
    caller.item()->made.streams[handle];
  }
  caller.write(stream, handle);
  return DeviceError::Success;
}

DeviceError StreamDestroy(DeviceCaller& caller, std::uint64_t stream) {
  const std::lock_guard lock(caller.item()->tree->mutex());
  const bool was_there = stream >= created && caller.item()->made.streams.erase(stream) != 0;
  return was_there ? DeviceError::Success : DeviceError::InvalidValue;
}

DeviceError StreamWaitEvent(DeviceCaller& caller, std::uint64_t stream, std::uint64_t event, std::uint32_t flags) {
  if (flags != 0) return DeviceError::InvalidValue;
  const auto place = find_stream(caller, stream);
  if (!place || place->order != LaunchTree::Order::InStream) return DeviceError::InvalidValue;
  const std::lock_guard lock(caller.item()->tree->mutex());
  LaunchedItem::Made& made = caller.item()->made;
  const auto found = made.events.find(event);
  if (found == made.events.end()) return DeviceError::InvalidValue;
  Frontier& frontier = made.streams[place->key];
  frontier.insert(frontier.end(), found->second.begin(), found->second.end());
  std::erase_if(frontier, [](const auto& item) { return item->is_complete; });
  return DeviceError::Success;
}

DeviceError EventCreateWithFlags(DeviceCaller& caller, std::uint64_t* event, std::uint32_t flags) {
  if (flags != disable_timing || !event) return DeviceError::InvalidValue;
  const std::uint64_t handle = next_handle();
  {
    const std::lock_guard lock(caller.item()->tree->mutex());
    caller.item()->made.events[handle];
  }
  caller.write(event, handle);
  return DeviceError::Success;
}

DeviceError EventRecord(DeviceCaller& caller, std::uint64_t event, std::uint64_t stream) {
  const auto place = find_stream(caller, stream);
  if (!place || place->order != LaunchTree::Order::InStream) return DeviceError::InvalidValue;
  const std::lock_guard lock(caller.item()->tree->mutex());
  LaunchedItem::Made& made = caller.item()->made;
  const auto found = made.events.find(event);
  if (found == made.events.end()) return DeviceError::InvalidValue;
  found->second = made.streams[place->key];
  return DeviceError::Success;
}

DeviceError EventRecordWithFlags(DeviceCaller& caller, std::uint64_t event, std::uint64_t stream, std::uint32_t flags) {
  return flags == 0 ? EventRecord(caller, event, stream) : DeviceError::InvalidValue;
}

DeviceError EventDestroy(DeviceCaller& caller, std::uint64_t event) {
  const std::lock_guard lock(caller.item()->tree->mutex());
  return caller.item()->made.events.erase(event) != 0 ? DeviceError::Success : DeviceError::InvalidValue;
}

}  // namespace device_runtime
}  // namespace cucore::cpu::runtime
