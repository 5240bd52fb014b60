// ResourceDescriptor, TextureObject and SurfaceObject.
#include "cucore/texture.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cucore/buffer.hpp"
#include "cucore/context.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/error/closed.hpp"
#include "src/error/refuse.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/last_reference.hpp"
#include "src/memory/array_state.hpp"
#include "src/memory/buffer_state.hpp"

namespace cucore {
namespace detail {

struct ResourceState {
  ResourceKind kind = ResourceKind::array;
  OpaqueArray array;
  MipmappedArray mipmapped_array;
  Buffer buffer;
  ArrayFormat format = ArrayFormat::float32;  // of all kinds
  unsigned num_channels = 1;
  std::size_t size_bytes = 0;  // of linear
  std::size_t width = 0;       // of pitch2d, as what follows
  std::size_t height = 0;
  std::size_t pitch_bytes = 0;
};

struct TextureState {
  ResourceDescriptor resource;
  TextureObjectOptions options;
  std::shared_ptr<const ContextState> context;
  TextureHandle handle = 0;
  OwningHandle<TextureTraits> owned = {};  // goes before what it reads
};

struct SurfaceState {
  ResourceDescriptor resource;
  std::shared_ptr<const ContextState> context;
  SurfaceHandle handle = 0;
  OwningHandle<SurfaceTraits> owned = {};  // goes before what it reads
};

static std::string describe(const ResourceState& resource) {
  switch (resource.kind) {
    case ResourceKind::array:
      return describe(*resource.array.state());
    case ResourceKind::mipmapped_array:
      return describe(*resource.mipmapped_array.state());
    default:
      return describe(*resource.buffer.state());
  }
}

static std::string describe(const TextureState& texture) {
  return "TextureObject " + std::to_string(texture.handle) + " of " + describe(*texture.resource.state());
}

static std::string describe(const SurfaceState& surface) {
  return "SurfaceObject " + std::to_string(surface.handle) + " of " + describe(*surface.resource.state());
}

namespace {

template <class State>
const State& open_object(const std::shared_ptr<const State>& state, const char* type, const char* call) {
  if (state == nullptr) refuse_closed(type, call);
  return *state;
}

const TextureState& open_texture(const std::shared_ptr<const TextureState>& state, const char* call) {
  return open_object(state, "TextureObject", call);
}

const SurfaceState& open_surface(const std::shared_ptr<const SurfaceState>& state, const char* call) {
  return open_object(state, "SurfaceObject", call);
}

// The buffer's part of a descriptor, as far as linear and pitched ones share it.
std::shared_ptr<ResourceState> of_buffer(const char* call, const Buffer& buffer, ResourceKind kind, ArrayFormat format,
                                         unsigned num_channels) {
  if (buffer.state() == nullptr) refuse_closed("Buffer", call);
  check_element(call, format, num_channels);
  auto state = std::make_shared<ResourceState>();
  state->kind = kind;
  state->buffer = buffer.share();
  state->format = format;
  state->num_channels = num_channels;
  return state;
}

driver::CUDA_RESOURCE_DESC native(const ResourceState& resource) {
  driver::CUDA_RESOURCE_DESC native{};
  native.resType = static_cast<int>(resource.kind);
  switch (resource.kind) {
    case ResourceKind::array:
      native.res.array.hArray = resource.array.handle();
      break;
    case ResourceKind::mipmapped_array:
      native.res.mipmap.hMipmappedArray = resource.mipmapped_array.handle();
      break;
    case ResourceKind::linear:
      native.res.linear = {.devPtr = resource.buffer.handle(),
                           .format = static_cast<int>(resource.format),
                           .numChannels = resource.num_channels,
                           .sizeInBytes = resource.size_bytes};
      break;
    case ResourceKind::pitch2d:
      native.res.pitch2D = {.devPtr = resource.buffer.handle(),
                            .format = static_cast<int>(resource.format),
                            .numChannels = resource.num_channels,
                            .width = resource.width,
                            .height = resource.height,
                            .pitchInBytes = resource.pitch_bytes};
      break;
  }
  return native;
}

driver::CUDA_TEXTURE_DESC native(const TextureObjectOptions& options) {
  driver::CUDA_TEXTURE_DESC native{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    native.addressMode[axis] = static_cast<int>(options.address_mode[std::min(axis, options.address_mode.size() - 1)]);
  }
  native.filterMode = static_cast<int>(options.filter_mode);
  if (options.read_mode == ReadMode::element_type) native.flags |= driver::CU_TRSF_READ_AS_INTEGER;
  if (options.normalized_coords) native.flags |= driver::CU_TRSF_NORMALIZED_COORDINATES;
  if (options.srgb) native.flags |= driver::CU_TRSF_SRGB;
  if (options.disable_trilinear_optimization) native.flags |= driver::CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (options.seamless_cubemap) native.flags |= driver::CU_TRSF_SEAMLESS_CUBEMAP;
  native.maxAnisotropy = options.max_anisotropy;
  native.mipmapFilterMode = static_cast<int>(options.mipmap_filter_mode);
  native.mipmapLevelBias = options.mipmap_level_bias;
  native.minMipmapLevelClamp = options.min_mipmap_level_clamp;
  native.maxMipmapLevelClamp = options.max_mipmap_level_clamp;
  std::ranges::copy(options.border_color, native.borderColor);
  return native;
}

// An array belongs to one device; a buffer's memory may be any that the device can reach.
void check_device(const char* call, const ResourceState& resource, const ContextState& context) {
  const int own = resource.kind == ResourceKind::array             ? resource.array.state()->context->device
                  : resource.kind == ResourceKind::mipmapped_array ? resource.mipmapped_array.state()->context->device
                                                                   : context.device;
  if (own == context.device) return;
  refuse(call, describe(resource) + " cannot be used on " + describe_device(context.device),
         "make the array and what reads it on one device");
}

void check_texture(const ResourceState& resource, const TextureObjectOptions& options) {
  constexpr const char* call = "create_texture_object";
  if (options.address_mode.empty() || options.address_mode.size() > 3) {
    refuse(call,
           "address_mode has 1 to 3 modes, one for each axis, not " + std::to_string(options.address_mode.size()));
  }
  if (options.seamless_cubemap) {
    refuse_as_driver(call, "seamless_cubemap is for cubemaps, and " + describe(resource) + " is none");
  }
}

constexpr const char* texture_hint =
    "memory of a buffer must be aligned to DeviceProperties::texture_alignment, a pitch be a multiple of "
    "texture_pitch_alignment, and linear memory have at most maximum_texture1d_linear_width elements";

}  // namespace
}  // namespace detail

using detail::ContextScope;
using detail::describe;
using detail::open_surface;
using detail::open_texture;
using detail::refuse;
using detail::ResourceState;
using detail::SurfaceState;
using detail::TextureState;

ResourceDescriptor ResourceDescriptor::from_opaque_array(const OpaqueArray& array) {
  const detail::ArrayState& source = detail::open_array(array.state(), "from_opaque_array");
  auto state = std::make_shared<ResourceState>();
  state->kind = ResourceKind::array;
  state->array = array.share();
  state->format = source.made_with.format;
  state->num_channels = source.made_with.num_channels;
  return ResourceDescriptor(std::move(state));
}

ResourceDescriptor ResourceDescriptor::from_mipmapped_array(const MipmappedArray& array) {
  const detail::MipmappedArrayState& source = detail::open_array(array.state(), "from_mipmapped_array");
  auto state = std::make_shared<ResourceState>();
  state->kind = ResourceKind::mipmapped_array;
  state->mipmapped_array = array.share();
  state->format = source.made_with.format;
  state->num_channels = source.made_with.num_channels;
  return ResourceDescriptor(std::move(state));
}

ResourceDescriptor ResourceDescriptor::from_linear(const Buffer& buffer, const LinearLayout& layout) {
  constexpr const char* call = "ResourceDescriptor::from_linear";
  auto state = detail::of_buffer(call, buffer, ResourceKind::linear, layout.format, layout.num_channels);
  const std::size_t element = format_bytes(layout.format) * layout.num_channels;
  const std::size_t size = layout.size_bytes.value_or(buffer.size());
  const std::string given = "size_bytes is " + std::to_string(size) + ", ";
  if (size < element) refuse(call, given + "less than an element of " + std::to_string(element) + " bytes");
  if (size % element != 0) {
    refuse(call, given + "not a multiple of an element of " + std::to_string(element) + " bytes");
  }
  if (size > buffer.size()) refuse(call, given + "more than " + describe(*buffer.state()) + " has");
  state->size_bytes = size;
  return ResourceDescriptor(std::move(state));
}

ResourceDescriptor ResourceDescriptor::from_pitch2d(const Buffer& buffer, const Pitch2dLayout& layout) {
  constexpr const char* call = "ResourceDescriptor::from_pitch2d";
  auto state = detail::of_buffer(call, buffer, ResourceKind::pitch2d, layout.format, layout.num_channels);
  const std::size_t element = format_bytes(layout.format) * layout.num_channels;
  if (layout.width == 0 || layout.height == 0) {
    refuse(call, "width and height must be at least 1; they are " + std::to_string(layout.width) + " and " +
                     std::to_string(layout.height));
  }
  const std::string pitch = "a pitch of " + std::to_string(layout.pitch_bytes) + " bytes ";
  if (layout.width > layout.pitch_bytes / element) {
    refuse(call, pitch + "is less than a row of " + std::to_string(layout.width) + " elements of " +
                     std::to_string(element) + " bytes");
  }
  if (layout.height > buffer.size() / layout.pitch_bytes) {
    refuse(call, std::to_string(layout.height) + " rows with " + pitch + "are more than " + describe(*buffer.state()) +
                     " has");
  }
  state->width = layout.width;
  state->height = layout.height;
  state->pitch_bytes = layout.pitch_bytes;
  return ResourceDescriptor(std::move(state));
}

ResourceKind ResourceDescriptor::kind() const noexcept { return state_->kind; }
OpaqueArray ResourceDescriptor::opaque_array() const { return state_->array.share(); }
MipmappedArray ResourceDescriptor::mipmapped_array() const { return state_->mipmapped_array.share(); }
Buffer ResourceDescriptor::buffer() const { return state_->buffer.share(); }

namespace {

bool has_layout(const ResourceState& resource) {
  return resource.kind == ResourceKind::linear || resource.kind == ResourceKind::pitch2d;
}

std::optional<std::size_t> pitched(const ResourceState& resource, std::size_t value) {
  return resource.kind == ResourceKind::pitch2d ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<ArrayFormat> ResourceDescriptor::format() const noexcept {
  return has_layout(*state_) ? std::optional(state_->format) : std::nullopt;
}
std::optional<unsigned> ResourceDescriptor::num_channels() const noexcept {
  return has_layout(*state_) ? std::optional(state_->num_channels) : std::nullopt;
}
std::optional<std::size_t> ResourceDescriptor::size_bytes() const noexcept {
  return kind() == ResourceKind::linear ? std::optional(state_->size_bytes) : std::nullopt;
}
std::optional<std::size_t> ResourceDescriptor::width() const noexcept { return pitched(*state_, state_->width); }
std::optional<std::size_t> ResourceDescriptor::height() const noexcept { return pitched(*state_, state_->height); }
std::optional<std::size_t> ResourceDescriptor::pitch_bytes() const noexcept {
  return pitched(*state_, state_->pitch_bytes);
}

TextureHandle TextureObject::handle() const noexcept { return state_ == nullptr ? 0 : state_->handle; }
ResourceDescriptor TextureObject::resource() const { return open_texture(state_, "resource").resource; }
const TextureObjectOptions& TextureObject::options() const { return open_texture(state_, "options").options; }
Device TextureObject::device() const { return Device(open_texture(state_, "device").context->device); }
TextureHandle TextureObject::kernel_argument() const { return open_texture(state_, "kernel_argument").handle; }
TextureObject TextureObject::share() const { return TextureObject(state_); }

void TextureObject::close() {
  if (const auto last = detail::take_if_last(state_))
    driver::check(last->owned.close(), detail::TextureTraits::call, [&] { return describe(*last); });
}

SurfaceHandle SurfaceObject::handle() const noexcept { return state_ == nullptr ? 0 : state_->handle; }
ResourceDescriptor SurfaceObject::resource() const { return open_surface(state_, "resource").resource; }
Device SurfaceObject::device() const { return Device(open_surface(state_, "device").context->device); }
SurfaceHandle SurfaceObject::kernel_argument() const { return open_surface(state_, "kernel_argument").handle; }
SurfaceObject SurfaceObject::share() const { return SurfaceObject(state_); }

void SurfaceObject::close() {
  if (const auto last = detail::take_if_last(state_))
    driver::check(last->owned.close(), detail::SurfaceTraits::call, [&] { return describe(*last); });
}

TextureObject Context::create_texture_object(const ResourceDescriptor& resource,
                                             const TextureObjectOptions& options) const {
  if (state_ == nullptr) detail::refuse_closed("Context", "create_texture_object");
  const ResourceState& memory = *resource.state();
  detail::check_texture(memory, options);
  detail::check_device("create_texture_object", memory, *state_);
  const driver::CUDA_RESOURCE_DESC what = detail::native(memory);
  const driver::CUDA_TEXTURE_DESC how = detail::native(options);
  auto state =
      std::make_shared<TextureState>(TextureState{.resource = resource, .options = options, .context = state_});
  ContextScope scope(state_->handle);
  driver::check(
      driver::table().cuTexObjectCreate(&state->handle, &what, &how, nullptr), "cuTexObjectCreate",
      [&] { return describe(memory); }, detail::texture_hint);
  state->owned = detail::OwningHandle<detail::TextureTraits>(state->handle, state_->handle);
  scope.restore();
  return TextureObject(std::move(state));
}

TextureObject Context::create_texture_object(const ResourceDescriptor& resource) const {
  return create_texture_object(resource, TextureObjectOptions{});
}

SurfaceObject Context::create_surface_object(const ResourceDescriptor& resource) const {
  constexpr const char* call = "create_surface_object";
  if (state_ == nullptr) detail::refuse_closed("Context", call);
  const ResourceState& memory = *resource.state();
  if (memory.kind != ResourceKind::array) {
    refuse(call, "a surface is of an OpaqueArray, which " + describe(memory) + " is not",
           "a level of a MipmappedArray is one: get_level()");
  }
  if (!memory.array.is_surface_load_store()) {
    refuse(call, describe(memory) + " was made without is_surface_load_store",
           "set it in the options of create_opaque_array()");
  }
  detail::check_device(call, memory, *state_);
  const driver::CUDA_RESOURCE_DESC what = detail::native(memory);
  auto state = std::make_shared<SurfaceState>(SurfaceState{.resource = resource, .context = state_});
  ContextScope scope(state_->handle);
  driver::check(driver::table().cuSurfObjectCreate(&state->handle, &what), "cuSurfObjectCreate",
                [&] { return describe(memory); });
  state->owned = detail::OwningHandle<detail::SurfaceTraits>(state->handle, state_->handle);
  scope.restore();
  return SurfaceObject(std::move(state));
}

TextureObject Device::create_texture_object(const ResourceDescriptor& resource,
                                            const TextureObjectOptions& options) const {
  return context().create_texture_object(resource, options);
}

TextureObject Device::create_texture_object(const ResourceDescriptor& resource) const {
  return context().create_texture_object(resource);
}

SurfaceObject Device::create_surface_object(const ResourceDescriptor& resource) const {
  return context().create_surface_object(resource);
}

}  // namespace cucore
