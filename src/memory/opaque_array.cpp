// OpaqueArray and MipmappedArray.
#include "cucore/opaque_array.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "cucore/buffer.hpp"
#include "cucore/context.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/stream.hpp"
#include "src/device/stream_state.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/last_reference.hpp"
#include "src/memory/array_state.hpp"
#include "src/memory/buffer_state.hpp"

namespace cucore {

std::size_t format_bytes(ArrayFormat format) noexcept {
  switch (format) {
    case ArrayFormat::uint8:
    case ArrayFormat::int8:
      return 1;
    case ArrayFormat::uint16:
    case ArrayFormat::int16:
    case ArrayFormat::float16:
      return 2;
    case ArrayFormat::uint32:
    case ArrayFormat::int32:
    case ArrayFormat::float32:
      return 4;
  }
  return 0;
}

namespace detail {

std::size_t ArrayState::size_bytes() const noexcept {
  std::size_t size = element_bytes();
  for (const std::size_t extent : made_with.shape) size *= extent;
  return size;
}

std::string describe(const ArrayState& array) {
  return "OpaqueArray " + hexadecimal(array.handle) + " of " + describe_device(array.context->device);
}

std::string describe(const MipmappedArrayState& array) {
  return "MipmappedArray " + hexadecimal(array.handle) + " of " + describe_device(array.context->device);
}

const ArrayState& open_array(const std::shared_ptr<const ArrayState>& state, const char* call) {
  if (state == nullptr) refuse_closed("OpaqueArray", call);
  return *state;
}

const MipmappedArrayState& open_array(const std::shared_ptr<const MipmappedArrayState>& state, const char* call) {
  if (state == nullptr) refuse_closed("MipmappedArray", call);
  return *state;
}

void check_element(const char* call, ArrayFormat format, unsigned num_channels) {
  if (format_bytes(format) == 0) {
    throw ValueError({.call = call,
                      .message = "there is no array format " + std::to_string(static_cast<int>(format)),
                      .hint = "use a member of ArrayFormat"});
  }
  if (num_channels != 1 && num_channels != 2 && num_channels != 4) {
    throw ValueError({.call = call, .message = "num_channels must be 1, 2 or 4, not " + std::to_string(num_channels)});
  }
}

namespace {

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (const std::size_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

driver::CUDA_ARRAY3D_DESCRIPTOR checked_descriptor(const char* call, const std::vector<std::size_t>& shape,
                                                   ArrayFormat format, unsigned num_channels, bool is_surface) {
  if (shape.empty() || shape.size() > 3) {
    throw ValueError({.call = call,
                      .message = "the shape of an array has 1 to 3 extents (width, height, depth), not " +
                                 std::to_string(shape.size())});
  }
  if (std::ranges::find(shape, std::size_t{0}) != shape.end()) {
    throw ValueError(
        {.call = call, .message = "every extent of an array must be at least 1; its shape is " + shape_text(shape)});
  }
  check_element(call, format, num_channels);
  // A height or depth of 0 is how the driver is told that there is no such axis.
  return {.Width = shape[0],
          .Height = shape.size() > 1 ? shape[1] : 0,
          .Depth = shape.size() > 2 ? shape[2] : 0,
          .Format = static_cast<int>(format),
          .NumChannels = num_channels,
          .Flags = is_surface ? driver::CUDA_ARRAY3D_SURFACE_LDST : 0};
}

std::string asked_for(const ContextState& context, const std::vector<std::size_t>& shape) {
  return "an array of shape " + shape_text(shape) + " on " + describe_device(context.device);
}

constexpr const char* extents_hint =
    "the largest extents are Device::properties().maximum_texture2d_width and the like, those of arrays for surfaces "
    "maximum_surface2d_width and the like";

// A default stream is that of the current context, or, when there is none, of the array's.
ContextHandle copying_context(const StreamState& stream, const ArrayState& array) {
  if (!stream.follows_current_context()) return context_handle(stream);
  return current_context() == nullptr ? array.context->handle : nullptr;
}

// The memory at the other side of a copy.
struct Linear {
  const void* host = nullptr;  ///< else an address that the driver knows
  DevicePointer address = 0;
  std::size_t size = 0;
  std::string what;
};

Linear side_of(const Buffer& buffer, const char* call) {
  if (buffer.state() == nullptr) refuse_closed("Buffer", call);
  Linear side{.size = buffer.size(), .what = describe(*buffer.state())};
  if (buffer.is_device_accessible()) {
    side.address = buffer.handle();
  } else {
    side.host = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(buffer.handle()));
  }
  return side;
}

Linear side_of(std::span<const std::byte> memory) {
  return {.host = memory.data(), .size = memory.size(), .what = "host memory"};
}

void check_size(const ArrayState& array, const Linear& linear, const char* call) {
  if (linear.size >= array.size_bytes()) return;
  throw ValueError({.call = std::string("OpaqueArray::") + call,
                    .message = linear.what + " has " + std::to_string(linear.size) + " bytes, which is smaller than " +
                               describe(array) + " with its " + std::to_string(array.size_bytes())});
}

// Kept until the copy is done. A graph copies whenever it runs: there the caller keeps the memory.
void keep_until_passed(const Stream& stream, const std::shared_ptr<const void>& owner) {
  if (owner == nullptr || stream.capture_status() != CaptureStatus::none) return;
  try {
    stream.callback([kept = owner] {});
  } catch (...) {
    stream.sync();  // while `owner` is here
    throw;
  }
}

enum class Direction { into_array, out_of_array };

void copy(const ArrayState& array, const Linear& linear, const Stream& stream, Direction direction, const char* call,
          const std::shared_ptr<const void>& owner = nullptr) {
  const StreamState& stream_state = open_stream(stream.state(), call);
  check_size(array, linear, call);
  const std::vector<std::size_t>& shape = array.made_with.shape;
  driver::CUDA_MEMCPY3D request{};
  request.WidthInBytes = shape[0] * array.element_bytes();
  request.Height = shape.size() > 1 ? shape[1] : 1;
  request.Depth = shape.size() > 2 ? shape[2] : 1;
  const int kind =
      static_cast<int>(linear.host != nullptr ? driver::CU_MEMORYTYPE_HOST : driver::CU_MEMORYTYPE_UNIFIED);
  if (direction == Direction::into_array) {
    request.srcMemoryType = kind;
    request.srcHost = linear.host;
    request.srcDevice = linear.address;
    request.srcPitch = request.WidthInBytes;
    request.srcHeight = request.Height;
    request.dstMemoryType = static_cast<int>(driver::CU_MEMORYTYPE_ARRAY);
    request.dstArray = array.handle;
  } else {
    request.srcMemoryType = static_cast<int>(driver::CU_MEMORYTYPE_ARRAY);
    request.srcArray = array.handle;
    request.dstMemoryType = kind;
    request.dstHost = const_cast<void*>(linear.host);
    request.dstDevice = linear.address;
    request.dstPitch = request.WidthInBytes;
    request.dstHeight = request.Height;
  }
  ContextScope scope(copying_context(stream_state, array));
  driver::check(driver::table().cuMemcpy3DAsync(&request, stream_state.handle), "cuMemcpy3DAsync", [&] {
    return describe(array) + (direction == Direction::into_array ? " from " : " to ") + linear.what + " in " +
           describe(stream_state);
  });
  keep_until_passed(stream, owner);
  scope.restore();
}

}  // namespace

OpaqueArray create_opaque_array(const std::shared_ptr<const ContextState>& context, const OpaqueArrayOptions& options) {
  const driver::CUDA_ARRAY3D_DESCRIPTOR descriptor = checked_descriptor(
      "create_opaque_array", options.shape, options.format, options.num_channels, options.is_surface_load_store);
  auto state = std::make_shared<ArrayState>();
  state->made_with = options;
  state->context = context;
  ContextScope scope(context->handle);
  driver::check(
      driver::table().cuArray3DCreate(&state->handle, &descriptor), "cuArray3DCreate",
      [&] { return asked_for(*context, options.shape); }, extents_hint);
  state->owned = OwningHandle<ArrayTraits>(state->handle, context->handle);
  scope.restore();
  return OpaqueArray(std::move(state));
}

MipmappedArray create_mipmapped_array(const std::shared_ptr<const ContextState>& context,
                                      const MipmappedArrayOptions& options) {
  const driver::CUDA_ARRAY3D_DESCRIPTOR descriptor = checked_descriptor(
      "create_mipmapped_array", options.shape, options.format, options.num_channels, options.is_surface_load_store);
  if (options.num_levels < 1) {
    throw ValueError({.call = "create_mipmapped_array", .message = "an array has at least 1 level, not 0"});
  }
  auto state = std::make_shared<MipmappedArrayState>();
  state->made_with = options;
  state->context = context;
  ContextScope scope(context->handle);
  driver::check(
      driver::table().cuMipmappedArrayCreate(&state->handle, &descriptor, options.num_levels), "cuMipmappedArrayCreate",
      [&] { return asked_for(*context, options.shape); }, extents_hint);
  state->owned = OwningHandle<MipmappedArrayTraits>(state->handle, context->handle);
  scope.restore();
  return MipmappedArray(std::move(state));
}

}  // namespace detail

using detail::ArrayState;
using detail::Direction;
using detail::MipmappedArrayState;
using detail::open_array;

OpaqueArray OpaqueArray::from_handle(ArrayHandle handle, std::shared_ptr<const void> owner) {
  constexpr const char* call = "OpaqueArray::from_handle";
  if (handle == nullptr) throw ValueError({.call = call, .message = "a null handle is not an array"});
  auto state = std::make_shared<ArrayState>();
  state->handle = handle;
  state->owner = std::move(owner);
  state->context = detail::current_context();
  if (state->context == nullptr) {
    throw StateError(
        {.call = call,
         .message = "no context is current in the calling thread, so it is not known which device the array belongs to",
         .hint = "call set_current() of its Device first"});
  }
  driver::CUDA_ARRAY3D_DESCRIPTOR found{};
  driver::check(driver::table().cuArray3DGetDescriptor(&found, handle), "cuArray3DGetDescriptor",
                [&] { return describe(*state); });
  if ((found.Flags & (driver::CUDA_ARRAY3D_LAYERED | driver::CUDA_ARRAY3D_CUBEMAP)) != 0) {
    throw ValueError({.call = call, .message = describe(*state) + " has layers, which OpaqueArray does not describe"});
  }
  detail::check_element(call, static_cast<ArrayFormat>(found.Format), found.NumChannels);
  OpaqueArrayOptions& made = state->made_with;
  made.shape = {found.Width};
  if (found.Height > 0) made.shape.push_back(found.Height);
  if (found.Depth > 0) made.shape.push_back(found.Depth);
  made.format = static_cast<ArrayFormat>(found.Format);
  made.num_channels = found.NumChannels;
  made.is_surface_load_store = (found.Flags & driver::CUDA_ARRAY3D_SURFACE_LDST) != 0;
  return OpaqueArray(std::move(state));
}

ArrayHandle OpaqueArray::handle() const noexcept { return state_ == nullptr ? nullptr : state_->handle; }
const std::vector<std::size_t>& OpaqueArray::shape() const { return open_array(state_, "shape").made_with.shape; }
ArrayFormat OpaqueArray::format() const { return open_array(state_, "format").made_with.format; }
unsigned OpaqueArray::num_channels() const { return open_array(state_, "num_channels").made_with.num_channels; }
bool OpaqueArray::is_surface_load_store() const {
  return open_array(state_, "is_surface_load_store").made_with.is_surface_load_store;
}
std::size_t OpaqueArray::element_bytes() const { return open_array(state_, "element_bytes").element_bytes(); }
std::size_t OpaqueArray::size_bytes() const { return open_array(state_, "size_bytes").size_bytes(); }
Device OpaqueArray::device() const { return Device(open_array(state_, "device").context->device); }

void OpaqueArray::copy_from(const Buffer& source, const Stream& stream) const {
  const ArrayState& array = open_array(state_, "copy_from");
  detail::copy(array, detail::side_of(source, "copy_from"), stream, Direction::into_array, "copy_from");
}

void OpaqueArray::copy_from(std::span<const std::byte> source, const Stream& stream,
                            const std::shared_ptr<const void>& owner) const {
  const ArrayState& array = open_array(state_, "copy_from");
  detail::copy(array, detail::side_of(source), stream, Direction::into_array, "copy_from", owner);
}

void OpaqueArray::copy_to(const Buffer& destination, const Stream& stream) const {
  const ArrayState& array = open_array(state_, "copy_to");
  detail::copy(array, detail::side_of(destination, "copy_to"), stream, Direction::out_of_array, "copy_to");
}

void OpaqueArray::copy_to(std::span<std::byte> destination, const Stream& stream,
                          const std::shared_ptr<const void>& owner) const {
  const ArrayState& array = open_array(state_, "copy_to");
  detail::copy(array, detail::side_of(destination), stream, Direction::out_of_array, "copy_to", owner);
}

OpaqueArray OpaqueArray::share() const { return OpaqueArray(state_); }

void OpaqueArray::close() {
  if (const auto last = detail::take_if_last(state_))
    driver::check(last->owned.close(), detail::ArrayTraits::call, [&] { return describe(*last); });
}

MipmappedArrayHandle MipmappedArray::handle() const noexcept { return state_ == nullptr ? nullptr : state_->handle; }
const std::vector<std::size_t>& MipmappedArray::shape() const { return open_array(state_, "shape").made_with.shape; }
ArrayFormat MipmappedArray::format() const { return open_array(state_, "format").made_with.format; }
unsigned MipmappedArray::num_channels() const { return open_array(state_, "num_channels").made_with.num_channels; }
unsigned MipmappedArray::num_levels() const { return open_array(state_, "num_levels").made_with.num_levels; }
bool MipmappedArray::is_surface_load_store() const {
  return open_array(state_, "is_surface_load_store").made_with.is_surface_load_store;
}
Device MipmappedArray::device() const { return Device(open_array(state_, "device").context->device); }

OpaqueArray MipmappedArray::get_level(unsigned level) const {
  const MipmappedArrayState& array = open_array(state_, "get_level");
  const MipmappedArrayOptions& all = array.made_with;
  if (level >= all.num_levels) {
    throw ValueError({.call = "MipmappedArray::get_level",
                      .message = describe(array) + " has no level " + std::to_string(level) + ": they are 0 to " +
                                 std::to_string(all.num_levels - 1)});
  }
  auto state = std::make_shared<ArrayState>();
  state->made_with = {.shape = all.shape,
                      .format = all.format,
                      .num_channels = all.num_channels,
                      .is_surface_load_store = all.is_surface_load_store};
  for (std::size_t& extent : state->made_with.shape) extent = std::max<std::size_t>(extent >> level, 1);
  state->context = array.context;
  state->owner = state_;
  detail::ContextScope scope(array.context->handle);
  driver::check(driver::table().cuMipmappedArrayGetLevel(&state->handle, array.handle, level),
                "cuMipmappedArrayGetLevel",
                [&] { return "level " + std::to_string(level) + " of " + describe(array); });
  scope.restore();
  return OpaqueArray(std::move(state));
}

MipmappedArray MipmappedArray::share() const { return MipmappedArray(state_); }

void MipmappedArray::close() {
  if (const auto last = detail::take_if_last(state_))
    driver::check(last->owned.close(), detail::MipmappedArrayTraits::call, [&] { return describe(*last); });
}

OpaqueArray Context::create_opaque_array(const OpaqueArrayOptions& options) const {
  if (state_ == nullptr) detail::refuse_closed("Context", "create_opaque_array");
  return detail::create_opaque_array(state_, options);
}

MipmappedArray Context::create_mipmapped_array(const MipmappedArrayOptions& options) const {
  if (state_ == nullptr) detail::refuse_closed("Context", "create_mipmapped_array");
  return detail::create_mipmapped_array(state_, options);
}

OpaqueArray Device::create_opaque_array(const OpaqueArrayOptions& options) const {
  return context().create_opaque_array(options);
}

MipmappedArray Device::create_mipmapped_array(const MipmappedArrayOptions& options) const {
  return context().create_mipmapped_array(options);
}

}  // namespace cucore
