// GraphMemoryResource.
#include "cucore/graph_memory.hpp"

#include <map>
#include <mutex>
#include <string>

#include "cucore/error.hpp"
#include "src/device/context_state.hpp"
#include "src/device/stream_state.hpp"
#include "src/driver/table.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/handles/context_scope.hpp"
#include "src/memory/buffer_state.hpp"

namespace cucore {
namespace {

driver::CUdevice known_device(int ordinal) {
  if (ordinal < 0 || ordinal >= detail::device_count()) {
    driver::fail(driver::CUDA_ERROR_INVALID_DEVICE, "GraphMemoryResource", detail::describe_device(ordinal));
  }
  return detail::device_handle(ordinal);
}

// None of these calls records anything, so a capture that is going on need not forbid them.
std::uint64_t attribute(int device, int which) {
  std::uint64_t value = 0;
  const detail::RelaxedCaptureScope relaxed;
  driver::check(driver::table().cuDeviceGetGraphMemAttribute(known_device(device), which, &value),
                "cuDeviceGetGraphMemAttribute", [&] { return detail::describe_device(device); });
  return value;
}

void reset(int device, int which) {
  std::uint64_t zero = 0;
  const detail::RelaxedCaptureScope relaxed;
  driver::check(driver::table().cuDeviceSetGraphMemAttribute(known_device(device), which, &zero),
                "cuDeviceSetGraphMemAttribute", [&] { return detail::describe_device(device); });
}

void require_capture(const detail::StreamState& stream) {
  int status = driver::CU_STREAM_CAPTURE_STATUS_NONE;
  driver::check(driver::table().cuStreamIsCapturing(stream.handle, &status), "cuStreamIsCapturing",
                [&] { return describe(stream); });
  if (status == driver::CU_STREAM_CAPTURE_STATUS_NONE) {
    throw StateError({.call = "GraphMemoryResource::allocate",
                      .message = describe(stream) + " is a non-capturing stream; memory of graphs is allocated while " +
                                 "one is captured",
                      .hint = "begin a capture first, or allocate from a DeviceMemoryResource"});
  }
  if (status == driver::CU_STREAM_CAPTURE_STATUS_INVALIDATED) {
    throw StateError({.call = "GraphMemoryResource::allocate",
                      .message = "the capture in " + describe(stream) + " was invalidated by an earlier error",
                      .hint = "end the capture and start again"});
  }
}

}  // namespace

std::shared_ptr<GraphMemoryResource> GraphMemoryResource::of(int ordinal) {
  // Never destroyed: buffers in static storage may go later than anything else.
  static auto& all = *new std::map<int, std::shared_ptr<GraphMemoryResource>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& known = all[ordinal];
  if (known == nullptr) known = std::shared_ptr<GraphMemoryResource>(new GraphMemoryResource(ordinal));
  return known;
}

Buffer GraphMemoryResource::allocate(std::size_t size, const Stream& stream) {
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "allocate");
  const auto context = detail::allocation_context(stream_state, device_id_);
  detail::ContextScope scope(context->handle);
  require_capture(stream_state);
  if (context->device != device_id_) {
    throw ValueError({.call = "GraphMemoryResource::allocate",
                      .message = describe(stream_state) + " is not of " + detail::describe_device(device_id_),
                      .hint = "use the GraphMemoryResource of the stream's device"});
  }
  DevicePointer address = 0;
  if (size > 0) {
    driver::check(driver::table().cuMemAllocAsync(&address, size, stream_state.handle), "cuMemAllocAsync",
                  [&] { return std::to_string(size) + " bytes for a graph, captured in " + describe(stream_state); });
  }
  auto state = detail::own_memory(address, size, shared_from_this(), stream.state(), context);
  scope.restore();
  return Buffer(std::move(state));
}

void GraphMemoryResource::deallocate(DevicePointer address, std::size_t size, const Stream& stream) {
  if (address == 0) return;
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "deallocate");
  driver::check(
      driver::table().cuMemFreeAsync(address, stream_state.handle), "cuMemFreeAsync",
      [&] {
        return std::to_string(size) + " bytes of a graph at " + hexadecimal(address) + " in " + describe(stream_state);
      },
      "close the buffer while its graph is captured, or after the graph has been launched");
}

GraphMemoryAttributes GraphMemoryResource::attributes() const {
  return {.reserved_mem_current = attribute(device_id_, driver::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT),
          .reserved_mem_high = attribute(device_id_, driver::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH),
          .used_mem_current = attribute(device_id_, driver::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT),
          .used_mem_high = attribute(device_id_, driver::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)};
}

void GraphMemoryResource::reset_reserved_mem_high() { reset(device_id_, driver::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH); }

void GraphMemoryResource::reset_used_mem_high() { reset(device_id_, driver::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH); }

void GraphMemoryResource::trim() {
  const detail::RelaxedCaptureScope relaxed;
  driver::check(driver::table().cuDeviceGraphMemTrim(known_device(device_id_)), "cuDeviceGraphMemTrim",
                [&] { return detail::describe_device(device_id_); });
}

}  // namespace cucore
