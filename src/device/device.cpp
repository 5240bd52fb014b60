// Device and its properties.
#include "cucore/device.hpp"

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "cucore/error.hpp"
#include "src/device/context_state.hpp"
#include "src/device/create.hpp"
#include "src/driver/table.hpp"
#include "src/handles/context_scope.hpp"
#include "src/settings/settings.hpp"

namespace cucore {
namespace {

struct EventPools {
  std::mutex mutex;
  std::map<int, std::shared_ptr<EventPool>> by_ordinal;
};

// Never destroyed: timers in static objects may refer to them at the process's end.
EventPools& event_pools() {
  static EventPools* const instance = new EventPools;
  return *instance;
}

// Registered after the driver was opened, so it runs before the table is closed. Nobody uses idle events; those that
// come back later are destroyed then.
void drop_events() {
  std::map<int, std::shared_ptr<EventPool>> pools;
  {
    const std::scoped_lock lock(event_pools().mutex);
    pools = event_pools().by_ordinal;
  }
  for (const auto& [ordinal, pool] : pools) pool->set_capacity(0);
}

struct MemoryResources {
  std::mutex mutex;
  std::map<int, std::shared_ptr<MemoryResource>> by_ordinal;
};

// Never destroyed: pools live as long as the process, and buffers in static objects may refer to them at its end.
MemoryResources& memory_resources() {
  static MemoryResources* const instance = new MemoryResources;
  return *instance;
}

driver::CUresult query(int ordinal, int attribute, int& value) {
  return driver::table().cuDeviceGetAttribute(&value, attribute, detail::device_handle(ordinal));
}

}  // namespace

int DeviceProperties::value(int number, int default_value) const {
  int value = 0;
  const driver::CUresult code = query(ordinal_, number, value);
  if (code == driver::CUDA_ERROR_INVALID_VALUE || code == driver::CUDA_ERROR_NOT_SUPPORTED) return default_value;
  driver::check(code, "cuDeviceGetAttribute",
                [&] { return "attribute " + std::to_string(number) + " of " + detail::describe_device(ordinal_); });
  return value;
}

Device::Device(int ordinal) : ordinal_(ordinal) {
  const int devices = detail::device_count();
  if (ordinal < 0 || ordinal >= devices) {
    std::string message = "there is no Device " + std::to_string(ordinal) + ": ";
    message += devices == 0   ? "the driver has none"
               : devices == 1 ? "the only one is Device 0"
                              : "they are numbered 0 to " + std::to_string(devices - 1);
    throw ValueError(
        {.call = "Device", .message = std::move(message), .hint = "Device::count() tells how many there are"});
  }
}

Device Device::from_uuid(std::string_view uuid) {
  const auto digits = [](std::string_view text) {
    std::string kept;
    for (const char c : text) {
      if (c != '-') kept += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return kept;
  };
  const std::string wanted = digits(uuid);
  for (const Device& device : all()) {
    if (digits(device.uuid()) == wanted) return device;
  }
  throw ValueError({.call = "Device::from_uuid",
                    .message = "no device has the UUID " + std::string(uuid),
                    .hint = "Device::all() lists the devices that this process can see"});
}

Device Device::from_pci_bus_id(const std::string& id) {
  DeviceHandle handle = 0;
  const driver::CUresult code = driver::table().cuDeviceGetByPCIBusId(&handle, id.c_str());
  if (code == driver::CUDA_ERROR_INVALID_VALUE || code == driver::CUDA_ERROR_INVALID_DEVICE) {
    throw ValueError({.call = "Device::from_pci_bus_id",
                      .message = "no device has the bus address '" + id + "'",
                      .hint = "write it as Device::pci_bus_id() does: 0000:3b:00.0"});
  }
  driver::check(code, "cuDeviceGetByPCIBusId", [&] { return "the bus address '" + id + "'"; });
  return Device(detail::device_ordinal(handle));
}

Device Device::current() { return Device(detail::current_device()); }

int Device::count() { return detail::device_count(); }

std::vector<Device> Device::all() {
  std::vector<Device> devices;
  for (int i = 0; i < count(); ++i) devices.emplace_back(i);
  return devices;
}

DeviceHandle Device::handle() const { return detail::device_handle(ordinal_); }

std::string Device::name() const {
  std::array<char, 256> name{};
  driver::check(driver::table().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, handle()),
                "cuDeviceGetName", [&] { return detail::describe_device(ordinal_); });
  return name.data();
}

std::string Device::uuid() const {
  driver::CUuuid uuid{};
  driver::check(driver::table().cuDeviceGetUuid(&uuid, handle()), "cuDeviceGetUuid",
                [&] { return detail::describe_device(ordinal_); });
  std::string text;
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(uuid.bytes[i]));
    text += digits;
  }
  return text;
}

std::string Device::pci_bus_id() const {
  // 12 characters "dddd:bb:dd.f", and the terminator.
  std::array<char, 13> id{};
  driver::check(driver::table().cuDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), handle()),
                "cuDeviceGetPCIBusId", [&] { return detail::describe_device(ordinal_); });
  return id.data();
}

ComputeCapability Device::compute_capability() const {
  return {attribute(driver::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
          attribute(driver::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
}

std::string Device::arch() const {
  const ComputeCapability capability = compute_capability();
  return std::to_string(capability.major) + std::to_string(capability.minor);
}

std::size_t Device::total_memory() const {
  std::size_t bytes = 0;
  driver::check(driver::table().cuDeviceTotalMem(&bytes, handle()), "cuDeviceTotalMem",
                [&] { return detail::describe_device(ordinal_); });
  return bytes;
}

int Device::attribute(int number) const {
  int value = 0;
  driver::check(query(ordinal_, number, value), "cuDeviceGetAttribute",
                [&] { return "attribute " + std::to_string(number) + " of " + detail::describe_device(ordinal_); });
  return value;
}

bool Device::can_access_peer(const Device& peer) const {
  if (peer == *this) return true;
  int can = 0;
  driver::check(driver::table().cuDeviceCanAccessPeer(&can, handle(), peer.handle()), "cuDeviceCanAccessPeer",
                [&] { return detail::describe_device(ordinal_) + " and " + detail::describe_device(peer.ordinal_); });
  return can != 0;
}

void Device::set_current() const { context().set_current(); }

Context Device::context() const { return Context(detail::primary_context(ordinal_)); }

Stream Device::create_stream(const StreamOptions& options) const { return context().create_stream(options); }

Event Device::create_event(const EventOptions& options) const { return context().create_event(options); }

std::shared_ptr<EventPool> Device::event_pool() const {
  const std::scoped_lock lock(event_pools().mutex);
  auto& pool = event_pools().by_ordinal[ordinal_];
  if (pool == nullptr) {
    pool = EventPool::create(context());
    static const int registered = std::atexit(&drop_events);
    static_cast<void>(registered);
  }
  return pool;
}

MemoryInfo Device::memory_info() const {
  MemoryInfo info;
  detail::ContextScope scope(context().handle());
  driver::check(driver::table().cuMemGetInfo(&info.free, &info.total), "cuMemGetInfo",
                [&] { return detail::describe_device(ordinal_); });
  scope.restore();
  return info;
}

PriorityRange Device::priority_range() const {
  PriorityRange range;
  detail::ContextScope scope(context().handle());
  driver::check(driver::table().cuCtxGetStreamPriorityRange(&range.lowest, &range.highest),
                "cuCtxGetStreamPriorityRange", [&] { return detail::describe_device(ordinal_); });
  scope.restore();
  return range;
}

void Device::sync() const { context().sync(); }

Buffer Device::allocate(std::size_t size, const Stream& stream) const {
  return memory_resource()->allocate(size, stream);
}

std::shared_ptr<MemoryResource> Device::memory_resource() const {
  {
    const std::scoped_lock lock(memory_resources().mutex);
    if (const auto found = memory_resources().by_ordinal.find(ordinal_); found != memory_resources().by_ordinal.end()) {
      return found->second;
    }
  }
  // Made without the lock, since it calls the driver; of two made at once the first stays.
  std::shared_ptr<MemoryResource> resource;
  if (properties().memory_pools_supported()) {
    resource = DeviceMemoryResource::create(*this);
  } else {
    resource = SynchronousMemoryResource::create(*this);
  }
  const std::scoped_lock lock(memory_resources().mutex);
  return memory_resources().by_ordinal.try_emplace(ordinal_, std::move(resource)).first->second;
}

void Device::set_memory_resource(std::shared_ptr<MemoryResource> resource) const {
  if (resource == nullptr) {
    throw ValueError({.call = "Device::set_memory_resource", .message = "the memory resource is null"});
  }
  std::shared_ptr<MemoryResource> before;  // destroyed after the lock is released
  const std::scoped_lock lock(memory_resources().mutex);
  auto& slot = memory_resources().by_ordinal[ordinal_];
  before = std::exchange(slot, std::move(resource));
}

const Stream& Device::default_stream() {
  const std::string number = setting(Setting::per_thread_default_stream);
  const bool per_thread = std::strtol(number.c_str(), nullptr, 10) != 0;
  return per_thread ? Stream::per_thread_default() : Stream::legacy_default();
}

}  // namespace cucore
