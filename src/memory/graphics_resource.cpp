// GraphicsResource.
#include "cucore/graphics_resource.hpp"

#include <string>
#include <utility>

#include "cucore/context.hpp"
#include "cucore/error.hpp"
#include "cucore/memory.hpp"
#include "cucore/opaque_array.hpp"
#include "cucore/stream.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/last_reference.hpp"
#include "src/handles/owning_handle.hpp"
#include "src/handles/release_report.hpp"
#include "src/memory/buffer_state.hpp"

namespace cucore {
namespace detail {

struct GraphicsTraits : ReleasedBy<&driver::Table::cuGraphicsUnregisterResource> {
  static constexpr const char* call = "cuGraphicsUnregisterResource";
};

class GraphicsMapping;

struct GraphicsState {
  std::shared_ptr<const ContextState> context;  ///< null: none was current
  driver::CUgraphicsResource handle = nullptr;
  bool is_image = false;
  OwningHandle<GraphicsTraits> owned;
  mutable std::weak_ptr<GraphicsMapping> mapping;
};

static std::string describe(const GraphicsState& resource) {
  return std::string("GraphicsResource ") + hexadecimal(resource.handle) +
         (resource.is_image ? " of a GL image" : " of a GL buffer");
}

/// One mapping, from map() until the first of: the end of what was mapped, unmap(), close().
class GraphicsMapping {
 public:
  GraphicsMapping(std::shared_ptr<const GraphicsState> resource, const Stream& stream,
                  std::shared_ptr<const ContextState> context)
      : resource_(std::move(resource)), stream_(stream.share()), context_(std::move(context)) {}
  GraphicsMapping(const GraphicsMapping&) = delete;
  GraphicsMapping& operator=(const GraphicsMapping&) = delete;
  ~GraphicsMapping() {
    if (!is_mapped_) return;
    const driver::Table* const table = driver::table_for_release();
    if (table == nullptr) return;
    const ReleaseScope scope(*table, context_ == nullptr ? nullptr : context_->handle);
    const driver::CUresult code = unmap_in(*table, stream_);
    if (code != driver::CUDA_SUCCESS && code != driver::CUDA_ERROR_DEINITIALIZED) {
      report_release_failure(code, "cuGraphicsUnmapResources", resource_->handle);
    }
  }

  bool is_mapped() const noexcept { return is_mapped_; }
  const Stream& stream() const noexcept { return stream_; }
  void is_seen_through(const std::shared_ptr<BufferState>& buffer) noexcept { buffer_ = buffer; }

  /// Does nothing the second time. @throws DriverError; it counts as unmapped all the same
  void unmap(const Stream& stream) {
    if (!is_mapped_) return;
    if (const auto buffer = buffer_.lock()) {
      buffer->address = 0;
      buffer->size = 0;
    }
    const ContextHandle own = stream.state()->follows_current_context()
                                  ? (context_ == nullptr ? nullptr : context_->handle)
                                  : context_handle(*stream.state());
    ContextScope scope(own);
    driver::check(unmap_in(driver::table(), stream), "cuGraphicsUnmapResources",
                  [&] { return describe(*resource_) + " in " + detail::describe(*stream.state()); });
    scope.restore();
  }

 private:
  driver::CUresult unmap_in(const driver::Table& table, const Stream& stream) noexcept {
    is_mapped_ = false;
    driver::CUgraphicsResource handle = resource_->handle;
    return table.cuGraphicsUnmapResources(1, &handle, stream.handle());
  }

  std::shared_ptr<const GraphicsState> resource_;
  Stream stream_;
  std::shared_ptr<const ContextState> context_;
  std::weak_ptr<BufferState> buffer_;
  bool is_mapped_ = true;
};

namespace {

/// What a mapped Buffer is freed through.
class MappedMemory final : public MemoryResource {
 public:
  MappedMemory(std::shared_ptr<GraphicsMapping> mapping, int device) : mapping_(std::move(mapping)), device_(device) {}
  Buffer allocate(std::size_t, const Stream&) override {
    throw StateError({.call = "MemoryResource::allocate",
                      .message = "a GraphicsResource maps memory of OpenGL's: nothing can be allocated from it"});
  }
  void deallocate(DevicePointer, std::size_t, const Stream& stream) override { mapping_->unmap(stream); }
  bool is_device_accessible() const noexcept override { return true; }
  bool is_host_accessible() const noexcept override { return false; }
  int device_id() const noexcept override { return device_; }

 private:
  std::shared_ptr<GraphicsMapping> mapping_;
  int device_;
};

const GraphicsState& open_resource(const std::shared_ptr<const GraphicsState>& state, const char* call) {
  if (state == nullptr) refuse_closed("GraphicsResource", call);
  return *state;
}

template <class Register>
std::shared_ptr<const GraphicsState> registered(const char* call, bool is_image, unsigned name, Register&& add) {
  auto state = std::make_shared<GraphicsState>();
  const driver::Table& table = driver::table();
  state->context = current_context();
  state->is_image = is_image;
  driver::check(
      add(table, &state->handle), call,
      [&] { return std::string(is_image ? "GL image " : "GL buffer ") + std::to_string(name); },
      "an OpenGL context must be current in this thread, on the GPU of the current CUDA context; the CPU device has no "
      "OpenGL");
  state->owned =
      OwningHandle<GraphicsTraits>(state->handle, state->context == nullptr ? nullptr : state->context->handle);
  return state;
}

// Maps it; dropping the mapping unmaps it.
std::shared_ptr<GraphicsMapping> mapped(const std::shared_ptr<const GraphicsState>& state, const Stream& stream,
                                        const char* call) {
  const GraphicsState& resource = open_resource(state, call);
  const StreamState& stream_state = open_stream(stream.state(), call);
  if (const auto mapping = resource.mapping.lock(); mapping != nullptr && mapping->is_mapped()) {
    throw StateError({.call = std::string("GraphicsResource::") + call,
                      .message = describe(resource) + " is already mapped",
                      .hint = "close what was mapped, or call unmap(), first"});
  }
  auto context = stream_state.follows_current_context() ? current_context() : stream_state.context;
  driver::CUgraphicsResource handle = resource.handle;
  driver::check(driver::table().cuGraphicsMapResources(1, &handle, stream_state.handle), "cuGraphicsMapResources",
                [&] { return describe(resource) + " in " + detail::describe(stream_state); });
  return std::make_shared<GraphicsMapping>(state, stream, std::move(context));
}

}  // namespace
}  // namespace detail

using detail::ContextScope;
using detail::describe;
using detail::GraphicsMapping;
using detail::GraphicsState;
using detail::open_resource;

GraphicsResource GraphicsResource::from_gl_buffer(unsigned buffer, GraphicsRegisterFlags flags) {
  return GraphicsResource(detail::registered(
      "cuGraphicsGLRegisterBuffer", false, buffer, [&](const driver::Table& table, GraphicsResourceHandle* handle) {
        return table.cuGraphicsGLRegisterBuffer(handle, buffer, static_cast<unsigned>(flags));
      }));
}

GraphicsResource GraphicsResource::from_gl_image(unsigned image, unsigned target, GraphicsRegisterFlags flags) {
  return GraphicsResource(detail::registered(
      "cuGraphicsGLRegisterImage", true, image, [&](const driver::Table& table, GraphicsResourceHandle* handle) {
        return table.cuGraphicsGLRegisterImage(handle, image, target, static_cast<unsigned>(flags));
      }));
}

GraphicsResourceHandle GraphicsResource::handle() const noexcept {
  return state_ == nullptr ? nullptr : state_->handle;
}
bool GraphicsResource::is_image() const { return open_resource(state_, "is_image").is_image; }

bool GraphicsResource::is_mapped() const noexcept {
  if (state_ == nullptr) return false;
  const auto mapping = state_->mapping.lock();
  return mapping != nullptr && mapping->is_mapped();
}

Buffer GraphicsResource::map(const Stream& stream) const {
  const GraphicsState& resource = open_resource(state_, "map");
  ContextScope scope(stream.state() == nullptr ? nullptr : detail::context_handle(*stream.state()));
  auto mapping = detail::mapped(state_, stream, "map");
  DevicePointer address = 0;
  std::size_t size = 0;
  driver::check(
      driver::table().cuGraphicsResourceGetMappedPointer(&address, &size, resource.handle),
      "cuGraphicsResourceGetMappedPointer", [&] { return describe(resource); }, "an image is mapped by map_array()");
  const int device = detail::stream_device(*stream.state());
  auto buffer =
      detail::own_memory(address, size, std::make_shared<detail::MappedMemory>(mapping, device), stream.state());
  mapping->is_seen_through(buffer);
  state_->mapping = mapping;
  scope.restore();
  return Buffer(std::move(buffer));
}

OpaqueArray GraphicsResource::map_array(const Stream& stream, unsigned array_index, unsigned mip_level) const {
  const GraphicsState& resource = open_resource(state_, "map_array");
  ContextScope scope(stream.state() == nullptr ? nullptr : detail::context_handle(*stream.state()));
  auto mapping = detail::mapped(state_, stream, "map_array");
  ArrayHandle handle = nullptr;
  driver::check(
      driver::table().cuGraphicsSubResourceGetMappedArray(&handle, resource.handle, array_index, mip_level),
      "cuGraphicsSubResourceGetMappedArray", [&] { return describe(resource); }, "a buffer is mapped by map()");
  OpaqueArray array = OpaqueArray::from_handle(handle, mapping);
  state_->mapping = mapping;
  scope.restore();
  return array;
}

namespace {

std::shared_ptr<GraphicsMapping> present_mapping(const GraphicsState& resource) {
  auto mapping = resource.mapping.lock();
  if (mapping == nullptr || !mapping->is_mapped()) {
    throw StateError({.call = "GraphicsResource::unmap", .message = describe(resource) + " is not mapped"});
  }
  return mapping;
}

}  // namespace

void GraphicsResource::unmap() const {
  const auto mapping = present_mapping(open_resource(state_, "unmap"));
  mapping->unmap(mapping->stream());
}

void GraphicsResource::unmap(const Stream& stream) const {
  const auto mapping = present_mapping(open_resource(state_, "unmap"));
  detail::open_stream(stream.state(), "unmap");
  mapping->unmap(stream);
}

GraphicsResource GraphicsResource::share() const { return GraphicsResource(state_); }

void GraphicsResource::close() {
  GraphicsResource closed(std::exchange(state_, nullptr));
  if (closed.is_mapped()) closed.unmap();
  if (const auto last = detail::take_if_last(closed.state_))
    driver::check(last->owned.close(), detail::GraphicsTraits::call, [&] { return describe(*last); });
}

void GraphicsResource::close(const Stream& stream) {
  if (is_mapped()) unmap(stream);
  close();
}

}  // namespace cucore
