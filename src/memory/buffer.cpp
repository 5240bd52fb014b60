// Buffer.
#include "cucore/buffer.hpp"

#include <cstring>
#include <utility>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/memory.hpp"
#include "cucore/stream.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/handles/last_reference.hpp"
#include "src/handles/release_report.hpp"
#include "src/memory/buffer_state.hpp"

namespace cucore {
namespace detail {
std::string describe(const BufferState& buffer) {
  return "Buffer " + hexadecimal(buffer.address) + " of " + std::to_string(buffer.size) + " bytes";
}

namespace {

BufferState& open_buffer(const std::shared_ptr<BufferState>& state, const char* call) {
  if (state == nullptr) refuse_closed("Buffer", call);
  return *state;
}

}  // namespace

void BufferState::free() {
  const auto taker = std::exchange(resource, nullptr);
  if (taker == nullptr) return;
  live_buffers.fetch_sub(1, std::memory_order_relaxed);
  const auto last = std::exchange(pool, nullptr);
  const driver::Table* table = driver::table_for_release();
  if (table == nullptr) {
    // There is no driver to call. Memory that needs none is still freed.
    if (!taker->is_device_accessible()) taker->deallocate(address, size, Stream(stream));
    return;
  }
  const ContextHandle where = context != nullptr           ? context->handle
                              : stream->context != nullptr ? stream->context->handle
                                                           : nullptr;
  const ReleaseScope scope(*table, where);
  taker->deallocate(address, size, Stream(stream));
}

BufferState::~BufferState() {
  if (resource == nullptr) return;
  try {
    free();
  } catch (const Error& error) {
    if (error.code() != driver::CUDA_ERROR_DEINITIALIZED) report_release_failure(error);
  } catch (const std::exception& error) {
    try {
      report_release_failure(StateError(
          {.call = "MemoryResource::deallocate", .message = describe(*this) + " was not freed: " + error.what()}));
    } catch (...) {
    }
  } catch (...) {
    try {
      report_release_failure(StateError(
          {.call = "MemoryResource::deallocate", .message = describe(*this) + " was not freed: unknown exception"}));
    } catch (...) {
    }
  }
}

std::shared_ptr<BufferState> own_memory(DevicePointer address, std::size_t size,
                                        std::shared_ptr<MemoryResource> resource,
                                        std::shared_ptr<const StreamState> stream,
                                        std::shared_ptr<const ContextState> context) {
  if (stream->follows_current_context() && resource->is_device_accessible()) {
    if (context == nullptr) context = current_context();
    if (context == nullptr) {
      throw StateError({.call = "Buffer::adopt",
                        .message = "the buffer would be freed on " + describe(*stream) +
                                   ", but no context is current in the calling thread to say of which device",
                        .hint = "call set_current() of a Device first, or pass a stream made by create_stream()"});
    }
  } else {
    context = nullptr;
  }
  auto state = std::make_shared<BufferState>();
  state->address = address;
  state->size = size;
  state->stream = std::move(stream);
  state->context = std::move(context);
  state->resource = std::move(resource);  // last: from here on the state frees
  live_buffers.fetch_add(1, std::memory_order_relaxed);
  return state;
}

std::shared_ptr<const ContextState> allocation_context(const StreamState& stream, int device) {
  if (stream.context != nullptr) return stream.context;
  if (!stream.follows_current_context()) return context_of(context_handle(stream));
  if (auto current = current_context()) return current;
  return device < 0 ? nullptr : primary_context(device);
}

namespace {

// One answer of cuPointerGetAttribute. False: the driver does not know the address.
bool pointer_attribute(const BufferState& buffer, int attribute, void* answer) {
  driver::CUcontext current = nullptr;
  driver::check(driver::table().cuCtxGetCurrent(&current), "cuCtxGetCurrent", "the calling thread");
  ContextScope scope(current == nullptr ? primary_context(0)->handle : nullptr);
  const driver::CUresult code = driver::table().cuPointerGetAttribute(answer, attribute, buffer.address);
  scope.restore();
  if (code == driver::CUDA_ERROR_INVALID_VALUE) return false;
  driver::check(code, "cuPointerGetAttribute", [&] { return describe(buffer); });
  return true;
}

// 0: host memory the driver does not know.
unsigned memory_type(const BufferState& buffer) {
  unsigned type = 0;
  if (!pointer_attribute(buffer, driver::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, &type)) return 0;
  return type;
}

bool is_managed_pointer(const BufferState& buffer) {
  int managed = 0;
  return pointer_attribute(buffer, driver::CU_POINTER_ATTRIBUTE_IS_MANAGED, &managed) && managed != 0;
}

// The device whose memory it is; -1 for host memory.
int device_of(const BufferState& buffer) {
  if (buffer.resource != nullptr) return buffer.resource->device_id();
  int ordinal = -1;
  if (memory_type(buffer) != driver::CU_MEMORYTYPE_DEVICE) return -1;
  return pointer_attribute(buffer, driver::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, &ordinal) ? ordinal : -1;
}

void copy(const BufferState& destination, const BufferState& source, const StreamState& stream) {
  if (destination.size != source.size) {
    throw ValueError(
        {.call = "Buffer::copy_to",
         .message = "the sizes differ: " + describe(source) + " cannot be copied to " + describe(destination),
         .hint = "allocate both with the same size"});
  }
  if (source.size == 0) return;
  const driver::Table& table = driver::table();
  ContextScope scope(context_handle(stream));
  driver::CUresult code = table.cuMemcpyAsync(destination.address, source.address, source.size, stream.handle);
  const char* call = "cuMemcpyAsync";
  if (code == driver::CUDA_ERROR_INVALID_VALUE) {
    // Pool memory of two devices without access to each other: an explicit peer copy needs none.
    const int from = device_of(source);
    const int to = device_of(destination);
    if (from >= 0 && to >= 0 && from != to) {
      call = "cuMemcpyPeerAsync";
      code = table.cuMemcpyPeerAsync(destination.address, primary_context(to)->handle, source.address,
                                     primary_context(from)->handle, source.size, stream.handle);
    }
  }
  driver::check(code, call,
                [&] { return describe(source) + " to " + describe(destination) + " in " + describe(stream); });
  scope.restore();
}

}  // namespace
}  // namespace detail

using detail::BufferState;
using detail::open_buffer;
using detail::open_stream;

Buffer Buffer::from_handle(DevicePointer address, std::size_t size, std::shared_ptr<const void> owner) {
  auto state = std::make_shared<BufferState>();
  state->address = address;
  state->size = size;
  state->owner = std::move(owner);
  return Buffer(std::move(state));
}

Buffer Buffer::adopt(DevicePointer address, std::size_t size, std::shared_ptr<MemoryResource> resource,
                     const Stream& stream) {
  open_stream(stream.state(), "adopt");
  if (resource == nullptr) {
    throw ValueError({.call = "Buffer::adopt",
                      .message = "a buffer that is to be freed needs a memory resource, and it is null",
                      .hint = "use Buffer::from_handle for memory that is freed elsewhere"});
  }
  return Buffer(detail::own_memory(address, size, std::move(resource), stream.state()));
}

Buffer Buffer::adopt(DevicePointer address, std::size_t size, std::shared_ptr<MemoryResource> resource) {
  return adopt(address, size, std::move(resource), Device::default_stream());
}

DevicePointer Buffer::handle() const noexcept { return state_ == nullptr ? 0 : state_->address; }
std::size_t Buffer::size() const noexcept { return state_ == nullptr ? 0 : state_->size; }

std::shared_ptr<MemoryResource> Buffer::memory_resource() const noexcept {
  return state_ == nullptr ? nullptr : state_->resource;
}

std::shared_ptr<const void> Buffer::owner() const noexcept { return state_ == nullptr ? nullptr : state_->owner; }

int Buffer::device_id() const {
  const BufferState& state = open_buffer(state_, "device_id");
  if (state.resource != nullptr) return state.resource->device_id();
  int ordinal = -1;
  if (!detail::pointer_attribute(state, driver::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, &ordinal)) return -1;
  // Drivers may answer for an address they do not know with an ordinal that means nothing.
  return detail::memory_type(state) == 0 ? -1 : ordinal;
}

bool Buffer::is_device_accessible() const {
  const BufferState& state = open_buffer(state_, "is_device_accessible");
  if (state.resource != nullptr) return state.resource->is_device_accessible();
  return detail::memory_type(state) != 0;
}

bool Buffer::is_host_accessible() const {
  const BufferState& state = open_buffer(state_, "is_host_accessible");
  if (state.resource != nullptr) return state.resource->is_host_accessible();
  return detail::memory_type(state) != driver::CU_MEMORYTYPE_DEVICE || detail::is_managed_pointer(state);
}

bool Buffer::is_managed() const {
  const BufferState& state = open_buffer(state_, "is_managed");
  if (state.resource != nullptr && state.resource->is_managed()) return true;
  if (state.resource != nullptr && !state.resource->is_device_accessible()) return false;
  return detail::is_managed_pointer(state);
}

bool Buffer::is_mapped() const noexcept {
  const auto* pool = state_ == nullptr ? nullptr : dynamic_cast<const PoolMemoryResource*>(state_->resource.get());
  return pool != nullptr && pool->is_mapped();
}

void Buffer::copy_to(const Buffer& destination, const Stream& stream) const {
  const BufferState& source = open_buffer(state_, "copy_to");
  detail::copy(open_buffer(destination.state(), "copy_to"), source, open_stream(stream.state(), "copy_to"));
}

Buffer Buffer::copy_to(const Stream& stream) const {
  const BufferState& source = open_buffer(state_, "copy_to");
  const detail::StreamState& stream_state = open_stream(stream.state(), "copy_to");
  if (source.resource == nullptr) {
    throw ValueError({.call = "Buffer::copy_to",
                      .message = detail::describe(source) + " has no memory resource to allocate a copy from",
                      .hint = "pass the destination"});
  }
  Buffer destination = source.resource->allocate(source.size, stream);
  detail::copy(open_buffer(destination.state(), "copy_to"), source, stream_state);
  return destination;
}

void Buffer::copy_from(const Buffer& source, const Stream& stream) const {
  const BufferState& destination = open_buffer(state_, "copy_from");
  detail::copy(destination, open_buffer(source.state(), "copy_from"), open_stream(stream.state(), "copy_from"));
}

void Buffer::fill_bytes(std::span<const std::byte> element, const Stream& stream) const {
  const BufferState& state = open_buffer(state_, "fill");
  const detail::StreamState& stream_state = open_stream(stream.state(), "fill");
  const std::size_t width = element.size();
  if (width != 1 && width != 2 && width != 4) {
    throw ValueError({.call = "Buffer::fill",
                      .message = "a fill value has 1, 2 or 4 bytes; this one has " + std::to_string(width),
                      .hint = "fill wider elements with a kernel"});
  }
  if (state.size % width != 0) {
    throw ValueError({.call = "Buffer::fill",
                      .message = detail::describe(state) + " cannot be filled with values of " + std::to_string(width) +
                                 " bytes: its size is not divisible by that"});
  }
  if (state.size == 0) return;
  const driver::Table& table = driver::table();
  detail::ContextScope scope(detail::context_handle(stream_state));
  const auto on = [&] { return detail::describe(state) + " in " + describe(stream_state); };
  const std::string_view hint =
      "host memory must be page-locked and granted to the device; the address must be aligned to the value";
  if (width == 1) {
    const auto value = static_cast<unsigned char>(element[0]);
    driver::check(table.cuMemsetD8Async(state.address, value, state.size, stream_state.handle), "cuMemsetD8Async", on,
                  hint);
  } else if (width == 2) {
    std::uint16_t value = 0;
    std::memcpy(&value, element.data(), sizeof value);
    driver::check(table.cuMemsetD16Async(state.address, value, state.size / 2, stream_state.handle), "cuMemsetD16Async",
                  on, hint);
  } else {
    std::uint32_t value = 0;
    std::memcpy(&value, element.data(), sizeof value);
    driver::check(table.cuMemsetD32Async(state.address, value, state.size / 4, stream_state.handle), "cuMemsetD32Async",
                  on, hint);
  }
  scope.restore();
}

Stream Buffer::deallocation_stream() const {
  const BufferState& state = open_buffer(state_, "deallocation_stream");
  return state.resource == nullptr ? Stream() : Stream(state.stream);
}

void Buffer::set_deallocation_stream(const Stream& stream) {
  BufferState& state = open_buffer(state_, "set_deallocation_stream");
  open_stream(stream.state(), "set_deallocation_stream");
  if (state.resource == nullptr) return;
  if (stream.state()->follows_current_context()) {
    // A default stream belongs to a context: the current one, else the one where the memory was to be freed so far.
    auto context = detail::current_context();
    if (context == nullptr) context = state.context != nullptr ? state.context : state.stream->context;
    state.context = std::move(context);
  } else {
    state.context = nullptr;
  }
  state.stream = stream.state();
}

Buffer Buffer::share() const { return Buffer(state_); }

void Buffer::close() {
  if (const auto last = detail::take_if_last(state_)) last->free();
}

void Buffer::close(const Stream& stream) {
  if (state_ == nullptr) return;
  set_deallocation_stream(stream);
  close();
}

DevicePointer Buffer::release() {
  BufferState& state = open_buffer(state_, "release");
  if (state_.use_count() > 1) {
    throw StateError({.call = "Buffer::release",
                      .message = detail::describe(state) + " cannot be released: it is referred to elsewhere",
                      .hint = "close what was made with share() first"});
  }
  const DevicePointer address = state.address;
  if (state.resource != nullptr) detail::live_buffers.fetch_sub(1, std::memory_order_relaxed);
  state.resource = nullptr;
  state_ = nullptr;
  return address;
}

}  // namespace cucore
