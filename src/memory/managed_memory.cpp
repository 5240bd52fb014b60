// Managed memory: the resource, and advice on its buffers.
#include "cucore/managed_memory.hpp"

#include <algorithm>
#include <utility>

#include "cucore/batch.hpp"
#include "cucore/device.hpp"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "cucore/stream.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/memory/buffer_state.hpp"
#include "src/memory/memory_location.hpp"
#include "src/memory/pool_state.hpp"

namespace cucore {
namespace detail {

driver::CUmemLocation location_of(const MemoryLocation& location) noexcept {
  if (const auto device = location.device_id()) return {driver::CU_MEM_LOCATION_TYPE_DEVICE, *device};
  const Host host = *location.host();
  if (host.is_numa_current()) return {driver::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
  if (const auto node = host.numa_id()) return {driver::CU_MEM_LOCATION_TYPE_HOST_NUMA, *node};
  return {driver::CU_MEM_LOCATION_TYPE_HOST, 0};
}

std::optional<MemoryLocation> location_named(int type, int id) {
  switch (type) {
    case driver::CU_MEM_LOCATION_TYPE_DEVICE:
      return Device(id);
    case driver::CU_MEM_LOCATION_TYPE_HOST:
      return Host();
    case driver::CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return Host::numa(id);
    case driver::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return Host::numa_current();
    default:
      return std::nullopt;
  }
}

std::string describe(const MemoryLocation& location) {
  if (const auto device = location.device_id()) return describe_device(*device);
  if (const auto node = location.host()->numa_id()) return "NUMA node " + std::to_string(*node) + " of the host";
  return location.host()->is_numa_current() ? "the calling thread's NUMA node" : "the host";
}

void require_managed(const Buffer& buffer, const char* call) {
  if (buffer.is_managed()) return;
  throw ValueError({.call = call,
                    .message = describe(*buffer.state()) + " is not managed memory",
                    .hint = "allocate it from a ManagedMemoryResource"});
}

namespace {

constexpr int no_device = -2;  // CU_DEVICE_INVALID, where an ordinal is asked for; the host is -1

// For calls that need any context.
class AnyContext {
 public:
  AnyContext() : scope_(needed()) {}
  void restore() { scope_.restore(); }

 private:
  static ContextHandle needed() {
    driver::CUcontext current = nullptr;
    driver::check(driver::table().cuCtxGetCurrent(&current), "cuCtxGetCurrent", "the calling thread");
    return current == nullptr ? primary_context(0)->handle : nullptr;
  }
  ContextScope scope_;
};

const BufferState& open_managed(const Buffer& buffer, const char* call) {
  if (buffer.state() == nullptr) refuse_closed("ManagedBuffer", call);
  require_managed(buffer, call);
  return *buffer.state();
}

// Ordinals of what advice of the earlier kind names, for attributes that have no newer form.
std::vector<int> ordinals(const BufferState& buffer, int attribute, std::size_t count) {
  std::vector<int> found(count, no_device);
  if (buffer.size == 0) return found;
  AnyContext context;
  driver::check(
      driver::table().cuMemRangeGetAttribute(found.data(), count * sizeof(int), attribute, buffer.address, buffer.size),
      "cuMemRangeGetAttribute", [&] { return describe(buffer); });
  context.restore();
  return found;
}

// A location that the driver keeps as a type and an id; drivers before CUDA 12.2 as an ordinal.
std::optional<MemoryLocation> location_attribute(const BufferState& buffer, int type_attribute, int id_attribute,
                                                 int ordinal_attribute) {
  if (buffer.size == 0) return std::nullopt;
  if (driver_info().version >= 12020) {
    const int type = ordinals(buffer, type_attribute, 1)[0];
    return type < 0 ? std::nullopt : location_named(type, ordinals(buffer, id_attribute, 1)[0]);
  }
  const int ordinal = ordinals(buffer, ordinal_attribute, 1)[0];
  if (ordinal == no_device) return std::nullopt;
  return ordinal < 0 ? MemoryLocation(Host()) : MemoryLocation(Device(ordinal));
}

void advise(const BufferState& buffer, int advice, const driver::CUmemLocation& location) {
  if (buffer.size == 0) return;
  AnyContext context;
  const driver::CUresult code = driver::table().cuMemAdvise(buffer.address, buffer.size, advice, location);
  driver::check(
      code, "cuMemAdvise", [&] { return describe(buffer); },
      code == driver::CUDA_ERROR_NOT_SUPPORTED
          ? "drivers do not support advice on memory of a managed pool: allocate it from a ManagedMemoryResource "
            "made with pooled = false"
          : "");
  context.restore();
}

constexpr driver::CUmemLocation ignored{driver::CU_MEM_LOCATION_TYPE_HOST, 0};

void refuse_node(const MemoryLocation& location, const char* call) {
  const auto host = location.host();
  if (!host || host->is_any()) return;
  throw ValueError({.call = call,
                    .message = "accessed_by takes the host, but not a NUMA node of it: " + describe(location),
                    .hint = "use Host()"});
}

}  // namespace
}  // namespace detail

using detail::open_managed;
using detail::PoolState;

Host Host::numa(int node) {
  if (node < 0) {
    throw ValueError({.call = "Host::numa", .message = "a NUMA node is 0 or more, not " + std::to_string(node)});
  }
  return Host(node);
}

MemoryLocation::MemoryLocation(const Device& device) noexcept : device_(device.ordinal()) {}

ManagedMemoryResource::ManagedMemoryResource(std::shared_ptr<const PoolState> pool,
                                             std::optional<MemoryLocation> preferred, bool pooled)
    : PoolMemoryResource(std::move(pool)), preferred_(preferred), pooled_(pooled) {}

namespace {

template <class Make>
std::shared_ptr<const PoolState> managed_pool(Make&& make, const char* hint) {
  try {
    return make();
  } catch (const DriverError& error) {
    if (error.code() != driver::CUDA_ERROR_NOT_SUPPORTED) throw;
    throw UnavailableError({.call = error.call(),
                            .code = error.code(),
                            .code_name = error.code_name(),
                            .message = "there is no such pool of managed memory: the driver or the platform has none",
                            .hint = hint});
  }
}

}  // namespace

std::shared_ptr<ManagedMemoryResource> ManagedMemoryResource::create() {
  const auto current = [] {
    return detail::current_pool({driver::CU_MEM_LOCATION_TYPE_NONE, 0}, driver::CU_MEM_ALLOCATION_TYPE_MANAGED,
                                "pass options: pooled = false needs no pool");
  };
  return std::shared_ptr<ManagedMemoryResource>(new ManagedMemoryResource(
      managed_pool(current, "pass options: pooled = false needs no pool"), std::nullopt, true));
}

std::shared_ptr<ManagedMemoryResource> ManagedMemoryResource::create(const ManagedMemoryResourceOptions& options) {
  const std::optional<MemoryLocation>& preferred = options.preferred_location;
  if (preferred && preferred->host() && preferred->host()->is_numa_current()) {
    throw ValueError({.call = "ManagedMemoryResource",
                      .message = "a resource prefers one place, whichever thread allocates: not the current NUMA node",
                      .hint = "use Host::numa() with a node"});
  }
  driver::CUmemPoolProps properties{};
  properties.allocType = driver::CU_MEM_ALLOCATION_TYPE_MANAGED;
  properties.handleTypes = driver::CU_MEM_HANDLE_TYPE_NONE;
  if (preferred) properties.location = detail::location_of(*preferred);
  std::shared_ptr<const PoolState> pool;
  if (options.pooled) {
    pool = managed_pool([&] { return detail::create_pool(properties, options.release_threshold); },
                        "pooled = false needs no pool");
  } else {
    driver::table();
    auto none = std::make_shared<PoolState>();
    none->location = properties.location;
    pool = std::move(none);
  }
  return std::shared_ptr<ManagedMemoryResource>(new ManagedMemoryResource(std::move(pool), preferred, options.pooled));
}

Buffer ManagedMemoryResource::allocate(std::size_t size, const Stream& stream) {
  if (pooled_) return PoolMemoryResource::allocate(size, stream);
  if (is_closed()) detail::refuse_closed("memory resource", "allocate");
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "allocate");
  const auto context = detail::allocation_context(stream_state, std::max(device_id(), 0));
  detail::ContextScope scope(context->handle);
  DevicePointer address = 0;
  if (size > 0) {
    driver::check(driver::table().cuMemAllocManaged(&address, size, driver::CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged",
                  [&] { return std::to_string(size) + " bytes of managed memory"; });
  }
  ManagedBuffer buffer{Buffer(detail::own_memory(address, size, shared_from_this(), stream.state(), context))};
  if (preferred_) buffer.set_preferred_location(preferred_);
  scope.restore();
  return buffer;
}

void ManagedMemoryResource::deallocate(DevicePointer address, std::size_t size, const Stream& stream) {
  if (pooled_) return PoolMemoryResource::deallocate(address, size, stream);
  if (address == 0) return;
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "deallocate");
  driver::check(driver::table().cuStreamSynchronize(stream_state.handle), "cuStreamSynchronize",
                [&] { return describe(stream_state); });
  driver::check(driver::table().cuMemFree(address), "cuMemFree",
                [&] { return std::to_string(size) + " bytes of managed memory at " + hexadecimal(address); });
}

bool ManagedBuffer::read_mostly() const {
  const auto& state = open_managed(*this, "read_mostly");
  return detail::ordinals(state, driver::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1)[0] > 0;
}

void ManagedBuffer::set_read_mostly(bool advised) const {
  detail::advise(open_managed(*this, "set_read_mostly"),
                 advised ? driver::CU_MEM_ADVISE_SET_READ_MOSTLY : driver::CU_MEM_ADVISE_UNSET_READ_MOSTLY,
                 detail::ignored);
}

std::optional<MemoryLocation> ManagedBuffer::preferred_location() const {
  return detail::location_attribute(
      open_managed(*this, "preferred_location"), driver::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
      driver::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, driver::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION);
}

void ManagedBuffer::set_preferred_location(std::optional<MemoryLocation> location) const {
  detail::advise(
      open_managed(*this, "set_preferred_location"),
      location ? driver::CU_MEM_ADVISE_SET_PREFERRED_LOCATION : driver::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
      location ? detail::location_of(*location) : detail::ignored);
}

std::vector<MemoryLocation> ManagedBuffer::accessed_by() const {
  const auto& state = open_managed(*this, "accessed_by");
  const auto places = static_cast<std::size_t>(detail::device_count()) + 1;
  std::vector<MemoryLocation> found;
  for (const int ordinal : detail::ordinals(state, driver::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, places)) {
    if (ordinal == -1) found.emplace_back(Host());
    if (ordinal >= 0) found.emplace_back(Device(ordinal));
  }
  return found;
}

void ManagedBuffer::add_accessed_by(const MemoryLocation& location) const {
  const auto& state = open_managed(*this, "add_accessed_by");
  detail::refuse_node(location, "ManagedBuffer::add_accessed_by");
  detail::advise(state, driver::CU_MEM_ADVISE_SET_ACCESSED_BY, detail::location_of(location));
}

void ManagedBuffer::remove_accessed_by(const MemoryLocation& location) const {
  const auto& state = open_managed(*this, "remove_accessed_by");
  detail::refuse_node(location, "ManagedBuffer::remove_accessed_by");
  detail::advise(state, driver::CU_MEM_ADVISE_UNSET_ACCESSED_BY, detail::location_of(location));
}

void ManagedBuffer::set_accessed_by(const std::vector<MemoryLocation>& locations) const {
  open_managed(*this, "set_accessed_by");
  for (const MemoryLocation& location : locations) detail::refuse_node(location, "ManagedBuffer::set_accessed_by");
  const std::vector<MemoryLocation> before = accessed_by();
  const auto in = [](const std::vector<MemoryLocation>& all, const MemoryLocation& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const MemoryLocation& location : before) {
    if (!in(locations, location)) remove_accessed_by(location);
  }
  for (const MemoryLocation& location : locations) {
    if (!in(before, location)) add_accessed_by(location);
  }
}

std::optional<MemoryLocation> ManagedBuffer::last_prefetch_location() const {
  return detail::location_attribute(
      open_managed(*this, "last_prefetch_location"), driver::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
      driver::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, driver::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
}

void ManagedBuffer::prefetch(const MemoryLocation& location, const Stream& stream) const {
  const auto& state = open_managed(*this, "prefetch");
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "prefetch");
  if (state.size == 0) return;
  detail::ContextScope scope(context_handle(stream_state));
  driver::check(driver::table().cuMemPrefetchAsync(state.address, state.size, detail::location_of(location), 0,
                                                   stream_state.handle),
                "cuMemPrefetchAsync", [&] {
                  return describe(state) + " to " + detail::describe(location) + " in " + describe(stream_state);
                });
  scope.restore();
}

void ManagedBuffer::discard(const Stream& stream) const {
  open_managed(*this, "discard");
  const Buffer* one = this;
  discard_batch(stream, {&one, 1});
}

void ManagedBuffer::discard_prefetch(const MemoryLocation& location, const Stream& stream) const {
  open_managed(*this, "discard_prefetch");
  const Buffer* one = this;
  discard_prefetch_batch(stream, {&one, 1}, {&location, 1});
}

}  // namespace cucore
