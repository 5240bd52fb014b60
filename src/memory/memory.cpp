// Memory resources without a pool: the base class and the synchronous ones.
#include "cucore/memory.hpp"

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/device/stream_state.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/memory/buffer_state.hpp"

namespace cucore {

using detail::ContextScope;
using detail::open_stream;

MemoryResource::~MemoryResource() = default;

namespace {

// Wait: when memory is freed synchronously, nothing may still use it.
void wait_for(const detail::StreamState& stream) {
  driver::check(driver::table().cuStreamSynchronize(stream.handle), "cuStreamSynchronize",
                [&] { return describe(stream); });
}

std::string bytes_of(std::size_t size, const char* resource) {
  return std::to_string(size) + " bytes from a " + resource;
}

}  // namespace

std::shared_ptr<LegacyPinnedMemoryResource> LegacyPinnedMemoryResource::create() {
  return std::make_shared<LegacyPinnedMemoryResource>();
}

Buffer LegacyPinnedMemoryResource::allocate(std::size_t size, const Stream& stream) {
  const detail::StreamState& stream_state = open_stream(stream.state(), "allocate");
  void* address = nullptr;
  const auto context = detail::allocation_context(stream_state, 0);
  ContextScope scope(context->handle);
  if (size > 0) {
    driver::check(driver::table().cuMemAllocHost(&address, size), "cuMemAllocHost",
                  [&] { return bytes_of(size, "LegacyPinnedMemoryResource"); });
  }
  Buffer buffer(
      detail::own_memory(reinterpret_cast<DevicePointer>(address), size, shared_from_this(), stream.state(), context));
  scope.restore();
  return buffer;
}

void LegacyPinnedMemoryResource::deallocate(DevicePointer address, std::size_t size, const Stream& stream) {
  if (address == 0) return;
  const detail::StreamState& stream_state = open_stream(stream.state(), "deallocate");
  wait_for(stream_state);
  driver::check(driver::table().cuMemFreeHost(reinterpret_cast<void*>(address)), "cuMemFreeHost",
                [&] { return bytes_of(size, "LegacyPinnedMemoryResource") + " at " + hexadecimal(address); });
}

std::shared_ptr<SynchronousMemoryResource> SynchronousMemoryResource::create(const Device& device) {
  return std::shared_ptr<SynchronousMemoryResource>(new SynchronousMemoryResource(device.ordinal()));
}

Buffer SynchronousMemoryResource::allocate(std::size_t size, const Stream& stream) {
  const detail::StreamState& stream_state = open_stream(stream.state(), "allocate");
  DevicePointer address = 0;
  {
    // In this device's context, so that the memory is on this device whatever the stream's is.
    ContextScope scope(detail::primary_context(device_id_)->handle);
    if (size > 0) {
      driver::check(driver::table().cuMemAlloc(&address, size), "cuMemAlloc",
                    [&] { return bytes_of(size, "SynchronousMemoryResource"); });
    }
    scope.restore();
  }
  return Buffer(detail::own_memory(address, size, shared_from_this(), stream.state(),
                                   detail::allocation_context(stream_state, device_id_)));
}

void SynchronousMemoryResource::deallocate(DevicePointer address, std::size_t size, const Stream& stream) {
  if (address == 0) return;
  const detail::StreamState& stream_state = open_stream(stream.state(), "deallocate");
  wait_for(stream_state);
  ContextScope scope(detail::primary_context(device_id_)->handle);
  driver::check(driver::table().cuMemFree(address), "cuMemFree",
                [&] { return bytes_of(size, "SynchronousMemoryResource") + " at " + hexadecimal(address); });
  scope.restore();
}

}  // namespace cucore
