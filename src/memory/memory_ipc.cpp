// Memory shared between processes: pools as file descriptors, and buffers as descriptors within a pool.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/memory.hpp"
#include "src/device/stream_state.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/memory/buffer_state.hpp"
#include "src/memory/mapped_pointers.hpp"
#include "src/memory/pool_state.hpp"

namespace cucore {
namespace {

constexpr const char* make_shareable_hint =
    "allocate from a DeviceMemoryResource or PinnedMemoryResource made with ipc_enabled";

// From `address` to the end of its allocation, as the driver says.
std::size_t bytes_from(DevicePointer address) {
  DevicePointer start = 0;
  std::size_t size = 0;
  const driver::Table& table = driver::table();
  const auto on = [&] { return "address " + hexadecimal(address); };
  driver::check(table.cuPointerGetAttribute(&start, driver::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address),
                "cuPointerGetAttribute", on);
  driver::check(table.cuPointerGetAttribute(&size, driver::CU_POINTER_ATTRIBUTE_RANGE_SIZE, address),
                "cuPointerGetAttribute", on);
  return start + size - address;
}

}  // namespace

void IpcAllocationHandle::close() noexcept {
  if (file_ >= 0) ::close(release());
}

IpcAllocationHandle PoolMemoryResource::allocation_handle() const {
  const auto pool = open_pool("allocation_handle");
  if (!is_ipc_enabled()) {
    throw StateError({.call = "MemoryResource::allocation_handle",
                      .message = describe(*pool) + " is not IPC-enabled",
                      .hint = "make the resource with ipc_enabled"});
  }
  if (is_mapped()) {
    throw StateError({.call = "MemoryResource::allocation_handle",
                      .message = describe(*pool) + " is mapped from another process, which alone exports it",
                      .hint = "pass on the file descriptor it was imported from"});
  }
  int file = -1;
  driver::check(driver::table().cuMemPoolExportToShareableHandle(&file, pool->handle,
                                                                 driver::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                "cuMemPoolExportToShareableHandle", [&] { return describe(*pool); });
  return IpcAllocationHandle(file);
}

IpcBufferDescriptor PoolMemoryResource::descriptor_of(DevicePointer address, std::size_t size) const {
  if (mapped_ != nullptr) {
    if (const auto payload = mapped_->payload(address)) return {.payload = *payload, .size = size};
  }
  // The driver exports no pointer of a pool that was never exported itself.
  if (mapped_ == nullptr && !is_exported_) {
    const IpcAllocationHandle closed_at_once = allocation_handle();
    is_exported_ = true;
  }
  driver::CUmemPoolPtrExportData data{};
  driver::check(driver::table().cuMemPoolExportPointer(&data, address), "cuMemPoolExportPointer",
                [&] { return std::to_string(size) + " bytes at " + hexadecimal(address); });
  IpcBufferDescriptor descriptor{.size = size};
  static_assert(sizeof data.reserved == sizeof descriptor.payload);
  std::memcpy(descriptor.payload.data(), data.reserved, sizeof data.reserved);
  return descriptor;
}

Buffer PoolMemoryResource::open_buffer(const IpcBufferDescriptor& descriptor, const Stream& stream) {
  const auto pool = open_pool("from_ipc_descriptor");
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "from_ipc_descriptor");
  if (!is_ipc_enabled()) {
    throw StateError({.call = "Buffer::from_ipc_descriptor",
                      .message = describe(*pool) + " is not IPC-enabled",
                      .hint = "pass the resource that was imported with from_allocation_handle()"});
  }
  const auto import = [&] {
    driver::CUmemPoolPtrExportData data{};
    std::memcpy(data.reserved, descriptor.payload.data(), sizeof data.reserved);
    DevicePointer address = 0;
    driver::check(
        driver::table().cuMemPoolImportPointer(&address, pool->handle, &data), "cuMemPoolImportPointer",
        [&] { return "a buffer of " + describe(*pool); },
        is_mapped() ? "the descriptor must be of a buffer of this very pool that is still open in the process "
                      "that allocated it"
                    : "the pool is of this process: use the buffer itself; another process imports the pool "
                      "from its allocation_handle()");
    return address;
  };
  const auto context = detail::allocation_context(stream_state, std::max(0, pool->device()));
  detail::ContextScope scope(context == nullptr ? nullptr : context->handle);
  const DevicePointer address = mapped_ == nullptr ? import() : mapped_->open(descriptor.payload, import);
  auto state = detail::own_memory(address, descriptor.size, shared_from_this(), stream.state(), context);
  if (context != nullptr) pool->used_in(context->handle);
  state->pool = pool;
  if (const std::size_t there = bytes_from(address); descriptor.size > there) {
    throw ValueError({.call = "Buffer::from_ipc_descriptor",
                      .message = "the descriptor says " + std::to_string(descriptor.size) + " bytes, but " +
                                 std::to_string(there) + " are mapped",
                      .hint = "pass on exactly what ipc_descriptor() gave"});
  }
  scope.restore();
  return Buffer(std::move(state));
}

Buffer Buffer::from_ipc_descriptor(const std::shared_ptr<PoolMemoryResource>& resource,
                                   const IpcBufferDescriptor& descriptor, const Stream& stream) {
  if (resource == nullptr) {
    throw ValueError({.call = "Buffer::from_ipc_descriptor",
                      .message = "the memory resource is null",
                      .hint = "import the pool with from_allocation_handle() first"});
  }
  return resource->open_buffer(descriptor, stream);
}

IpcBufferDescriptor Buffer::ipc_descriptor() const {
  if (state_ == nullptr) detail::refuse_closed("Buffer", "ipc_descriptor");
  const auto* pool = dynamic_cast<const PoolMemoryResource*>(state_->resource.get());
  if (pool == nullptr || !pool->is_ipc_enabled()) {
    throw StateError({.call = "Buffer::ipc_descriptor",
                      .message = "the memory resource of " + detail::describe(*state_) + " is not IPC-enabled",
                      .hint = make_shareable_hint});
  }
  if (state_->address == 0) {
    throw ValueError({.call = "Buffer::ipc_descriptor",
                      .message = detail::describe(*state_) + " has no memory to share",
                      .hint = "share buffers of at least one byte"});
  }
  const auto& context = state_->context != nullptr ? state_->context : state_->stream->context;
  detail::ContextScope scope(context == nullptr ? nullptr : context->handle);
  const IpcBufferDescriptor descriptor = pool->descriptor_of(state_->address, state_->size);
  scope.restore();
  return descriptor;
}

}  // namespace cucore
