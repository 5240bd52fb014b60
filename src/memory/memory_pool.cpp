// Memory resources over the driver's stream-ordered pools.
#include <algorithm>
#include <utility>
#include <vector>

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
using detail::open_stream;
using detail::PoolState;

namespace {

driver::CUmemPoolProps pinned_properties(const driver::CUmemLocation& location, std::size_t max_size,
                                         bool ipc_enabled) {
  driver::CUmemPoolProps properties{};
  properties.allocType = driver::CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes =
      ipc_enabled ? driver::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : driver::CU_MEM_HANDLE_TYPE_NONE;
  properties.location = location;
  properties.maxSize = max_size;
  return properties;
}

int node_of_current_device() {
  const int node = Device::current().properties().host_numa_id();
  if (node >= 0) return node;
  throw StateError({.call = "PinnedMemoryResource",
                    .message = "the driver does not know the NUMA node of " +
                               detail::describe_device(Device::current().ordinal()) +
                               ", and shares only pools of a NUMA node between processes",
                    .hint = "give numa_id"});
}

}  // namespace

PoolMemoryResource::PoolMemoryResource(std::shared_ptr<const PoolState> pool)
    : pool_(std::move(pool)), is_ipc_enabled_(pool_->is_ipc_enabled()), mapped_(pool_->mapped) {}
PoolMemoryResource::~PoolMemoryResource() = default;

std::shared_ptr<const PoolState> PoolMemoryResource::open_pool(const char* call) const {
  if (pool_ == nullptr) detail::refuse_closed("memory resource", call);
  if (pool_->handle == nullptr) {
    throw StateError({.call = call,
                      .message = "the memory resource allocates each buffer separately and has no pool",
                      .hint = "make it with a pool"});
  }
  return pool_;
}

Buffer PoolMemoryResource::allocate(std::size_t size, const Stream& stream) {
  const auto pool = open_pool("allocate");
  if (is_mapped()) {
    throw TypeError({.call = "MemoryResource::allocate",
                     .message = describe(*pool) + " is mapped from another process, which alone allocates from it",
                     .hint = "allocate there and send the buffer, or make a memory resource of your own"});
  }
  const detail::StreamState& stream_state = open_stream(stream.state(), "allocate");
  const auto context = detail::allocation_context(stream_state, pool->device());
  const driver::Table& table = driver::table();
  detail::ContextScope scope(context == nullptr ? nullptr : context->handle);
  int capture = driver::CU_STREAM_CAPTURE_STATUS_NONE;
  driver::check(table.cuStreamIsCapturing(stream_state.handle, &capture), "cuStreamIsCapturing",
                [&] { return describe(stream_state); });
  if (capture != driver::CU_STREAM_CAPTURE_STATUS_NONE) {
    throw StateError({.call = "MemoryResource::allocate",
                      .message = describe(stream_state) + " is capturing into a graph; a pool cannot allocate there",
                      .hint = "allocate before the capture begins, or use a GraphMemoryResource"});
  }
  DevicePointer address = 0;
  if (size > 0) {
    driver::check(
        table.cuMemAllocFromPoolAsync(&address, size, pool->handle, stream_state.handle), "cuMemAllocFromPoolAsync",
        [&] { return std::to_string(size) + " bytes from " + describe(*pool) + " in " + describe(stream_state); });
  }
  auto state = detail::own_memory(address, size, shared_from_this(), stream.state(), context);
  if (address != 0 && pool->is_owned()) {
    if (context != nullptr) pool->used_in(context->handle);
    state->pool = pool;
  }
  scope.restore();
  return Buffer(std::move(state));
}

void PoolMemoryResource::deallocate(DevicePointer address, std::size_t size, const Stream& stream) {
  if (address == 0) return;
  const detail::StreamState& stream_state = open_stream(stream.state(), "deallocate");
  const auto free = [&] {
    driver::check(driver::table().cuMemFreeAsync(address, stream_state.handle), "cuMemFreeAsync", [&] {
      return std::to_string(size) + " bytes at " + hexadecimal(address) + " in " + describe(stream_state);
    });
  };
  return mapped_ == nullptr ? free() : mapped_->close(address, free);
}

MemoryPoolHandle PoolMemoryResource::handle() const noexcept { return pool_ == nullptr ? nullptr : pool_->handle; }

bool PoolMemoryResource::is_handle_owned() const noexcept { return pool_ != nullptr && pool_->is_owned(); }

namespace {

// Which attribute of the driver's a field is.
template <class Value>
struct PoolField {
  Value PoolAttributes::* field;
  int attribute;
};
constexpr PoolField<bool> pool_rules[] = {
    {&PoolAttributes::reuse_follow_event_dependencies, driver::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES},
    {&PoolAttributes::reuse_allow_opportunistic, driver::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC},
    {&PoolAttributes::reuse_allow_internal_dependencies, driver::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES},
};
constexpr PoolField<std::uint64_t> pool_sizes[] = {
    {&PoolAttributes::release_threshold, driver::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD},
    {&PoolAttributes::reserved_mem_current, driver::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT},
    {&PoolAttributes::reserved_mem_high, driver::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH},
    {&PoolAttributes::used_mem_current, driver::CU_MEMPOOL_ATTR_USED_MEM_CURRENT},
    {&PoolAttributes::used_mem_high, driver::CU_MEMPOOL_ATTR_USED_MEM_HIGH},
};

template <class Value, std::size_t count>
int attribute_of(const PoolField<Value> (&fields)[count], Value PoolAttributes::* field) {
  return std::ranges::find(fields, field, &PoolField<Value>::field)->attribute;
}

}  // namespace

bool PoolAttributesReader::operator()(bool PoolAttributes::* which) const {
  return detail::get_attribute<int>(*pool_, attribute_of(pool_rules, which)) != 0;
}

std::uint64_t PoolAttributesReader::operator()(std::uint64_t PoolAttributes::* which) const {
  return detail::get_attribute<std::uint64_t>(*pool_, attribute_of(pool_sizes, which));
}

PoolAttributes PoolAttributesReader::operator()() const {
  PoolAttributes all;
  for (const auto& [field, attribute] : pool_rules) all.*field = (*this)(field);
  for (const auto& [field, attribute] : pool_sizes) all.*field = (*this)(field);
  return all;
}

void PoolMemoryResource::set_release_threshold(std::uint64_t bytes) {
  detail::set_release_threshold(*open_pool("set_release_threshold"), bytes);
}

void PoolMemoryResource::trim_to(std::size_t min_bytes_to_keep) {
  const auto pool = open_pool("trim_to");
  driver::check(driver::table().cuMemPoolTrimTo(pool->handle, min_bytes_to_keep), "cuMemPoolTrimTo",
                [&] { return describe(*pool); });
}

void PoolMemoryResource::close() { pool_ = nullptr; }

DeviceMemoryResource::DeviceMemoryResource(std::shared_ptr<const PoolState> pool, int device_id)
    : PoolMemoryResource(std::move(pool)), device_id_(device_id) {}

std::shared_ptr<DeviceMemoryResource> DeviceMemoryResource::create(const Device& device) {
  auto pool = std::make_shared<PoolState>();
  pool->location = {driver::CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()};
  const detail::RelaxedCaptureScope relaxed;
  driver::check(driver::table().cuDeviceGetMemPool(&pool->handle, device.handle()), "cuDeviceGetMemPool",
                [&] { return detail::describe_device(device.ordinal()); });
  detail::keep_idle_memory(*pool);
  return std::shared_ptr<DeviceMemoryResource>(new DeviceMemoryResource(std::move(pool), device.ordinal()));
}

std::shared_ptr<DeviceMemoryResource> DeviceMemoryResource::create(const Device& device,
                                                                   const DeviceMemoryResourceOptions& options) {
  auto pool = detail::create_pool(
      pinned_properties({driver::CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()}, options.max_size, options.ipc_enabled),
      options.release_threshold);
  return std::shared_ptr<DeviceMemoryResource>(new DeviceMemoryResource(std::move(pool), device.ordinal()));
}

std::shared_ptr<DeviceMemoryResource> DeviceMemoryResource::from_allocation_handle(const Device& device, int file) {
  auto pool = detail::import_pool(file, {driver::CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()});
  return std::shared_ptr<DeviceMemoryResource>(new DeviceMemoryResource(std::move(pool), device.ordinal()));
}

std::vector<int> DeviceMemoryResource::peer_accessible_by() const {
  const auto pool = open_pool("peer_accessible_by");
  std::vector<int> peers;
  for (int peer = 0; peer < Device::count(); ++peer) {
    if (peer == device_id_) continue;
    driver::CUmemLocation location{driver::CU_MEM_LOCATION_TYPE_DEVICE, peer};
    int flags = driver::CU_MEM_ACCESS_FLAGS_PROT_NONE;
    driver::check(driver::table().cuMemPoolGetAccess(&flags, pool->handle, &location), "cuMemPoolGetAccess",
                  [&] { return describe(*pool); });
    if (flags == driver::CU_MEM_ACCESS_FLAGS_PROT_READWRITE) peers.push_back(peer);
  }
  return peers;
}

void DeviceMemoryResource::set_peer_accessible_by(const std::vector<int>& devices) {
  const auto pool = open_pool("set_peer_accessible_by");
  const std::vector<int> before = peer_accessible_by();
  const auto in = [](const std::vector<int>& set, int device) {
    return std::find(set.begin(), set.end(), device) != set.end();
  };
  std::vector<driver::CUmemAccessDesc> changes;
  for (const int device : devices) {
    if (device == device_id_ || in(before, device)) continue;
    if (!Device(device_id_).can_access_peer(Device(device))) {
      throw ValueError({.call = "set_peer_accessible_by",
                        .message = detail::describe_device(device) + " cannot access the memory of " +
                                   detail::describe_device(device_id_),
                        .hint = "Device::can_access_peer tells which devices can"});
    }
    changes.push_back({{driver::CU_MEM_LOCATION_TYPE_DEVICE, device}, driver::CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  for (const int device : before) {
    if (in(devices, device)) continue;
    changes.push_back({{driver::CU_MEM_LOCATION_TYPE_DEVICE, device}, driver::CU_MEM_ACCESS_FLAGS_PROT_NONE});
  }
  if (changes.empty()) return;
  pool->peers_granted = true;
  driver::check(driver::table().cuMemPoolSetAccess(pool->handle, changes.data(), changes.size()), "cuMemPoolSetAccess",
                [&] { return describe(*pool); });
}

PinnedMemoryResource::PinnedMemoryResource(std::shared_ptr<const PoolState> pool, int numa_id)
    : PoolMemoryResource(std::move(pool)), numa_id_(numa_id) {}

std::shared_ptr<PinnedMemoryResource> PinnedMemoryResource::create() {
  auto pool = detail::current_pool({driver::CU_MEM_LOCATION_TYPE_HOST, 0}, driver::CU_MEM_ALLOCATION_TYPE_PINNED,
                                   "use LegacyPinnedMemoryResource, which needs no pool");
  detail::grant_every_device(*pool);
  return std::shared_ptr<PinnedMemoryResource>(new PinnedMemoryResource(std::move(pool), -1));
}

std::shared_ptr<PinnedMemoryResource> PinnedMemoryResource::create(const PinnedMemoryResourceOptions& options) {
  if (options.numa_id && *options.numa_id < 0) {
    throw ValueError({.call = "PinnedMemoryResource",
                      .message = "numa_id is " + std::to_string(*options.numa_id) + "; a NUMA node is 0 or more",
                      .hint = "leave numa_id unset for memory anywhere on the host"});
  }
  const std::optional<int> node = options.numa_id || !options.ipc_enabled ? options.numa_id : node_of_current_device();
  const driver::CUmemLocation location = node ? driver::CUmemLocation{driver::CU_MEM_LOCATION_TYPE_HOST_NUMA, *node}
                                              : driver::CUmemLocation{driver::CU_MEM_LOCATION_TYPE_HOST, 0};
  auto pool = detail::create_pool(pinned_properties(location, options.max_size, options.ipc_enabled),
                                  options.release_threshold);
  detail::grant_every_device(*pool);
  return std::shared_ptr<PinnedMemoryResource>(new PinnedMemoryResource(std::move(pool), node.value_or(-1)));
}

std::shared_ptr<PinnedMemoryResource> PinnedMemoryResource::from_allocation_handle(int file) {
  auto pool = detail::import_pool(file, {driver::CU_MEM_LOCATION_TYPE_HOST, 0});
  detail::grant_every_device(*pool);
  return std::shared_ptr<PinnedMemoryResource>(new PinnedMemoryResource(std::move(pool), -1));
}

}  // namespace cucore
