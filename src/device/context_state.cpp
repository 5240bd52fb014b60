// Primary contexts, context look-up, and the scopes that switch contexts.
#include "src/device/context_state.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

#include "src/error/hexadecimal.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/release_report.hpp"

namespace cucore::detail {
namespace {

struct Primaries {
  std::mutex mutex;
  std::vector<DeviceHandle> devices;  // by ordinal
  // Null until retained, and never destroyed: references to them have nothing to count. One whose handle is in
  // `handles` may be read without the mutex (is_retained).
  std::vector<std::shared_ptr<const ContextState>> by_ordinal;
  // The handles of by_ordinal again, to be read without the mutex; allocated with `devices`, never freed.
  std::atomic<std::atomic<ContextHandle>*> handles{nullptr};
  std::atomic<int> count{0};
};

// Never destroyed, so that the contexts outlive every object in them.
Primaries& primaries() {
  static Primaries* const instance = new Primaries;
  return *instance;
}

// With the mutex held.
void list_devices(Primaries& all) {
  if (all.handles.load(std::memory_order_relaxed) != nullptr) return;
  const driver::Table& table = driver::table();
  int count = 0;
  driver::check(table.cuDeviceGetCount(&count), "cuDeviceGetCount", "the driver");
  std::vector<DeviceHandle> devices(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    driver::check(table.cuDeviceGet(&devices[static_cast<std::size_t>(i)], i), "cuDeviceGet",
                  [&] { return describe_device(i); });
  }
  all.by_ordinal.resize(devices.size());
  all.devices = std::move(devices);
  all.count.store(count, std::memory_order_relaxed);
  all.handles.store(new std::atomic<ContextHandle>[static_cast<std::size_t>(count)] {}, std::memory_order_release);
}

// Whether the device's primary context has been retained: then `by_ordinal` has it, to be read without the mutex.
bool is_retained(const Primaries& all, int device) noexcept {
  const auto* const handles = all.handles.load(std::memory_order_acquire);
  if (handles == nullptr || device < 0 || device >= all.count.load(std::memory_order_relaxed)) return false;
  return handles[device].load(std::memory_order_acquire) != nullptr;
}

// The device of which this is the primary context; -1 if it is none that was retained.
int device_of_primary(const Primaries& all, ContextHandle handle) noexcept {
  const auto* const handles = all.handles.load(std::memory_order_acquire);
  const int count = handles == nullptr || handle == nullptr ? 0 : all.count.load(std::memory_order_relaxed);
  for (int i = 0; i < count; ++i) {
    if (handles[i].load(std::memory_order_acquire) == handle) return i;
  }
  return -1;
}

// The green context that is current; null if the current one is none, or the driver knows none.
GreenContextHandle current_green_context() {
  GreenContextHandle green = nullptr;
  const driver::CUresult code = driver::table().cuStreamGetGreenCtx(driver::CU_STREAM_LEGACY, &green);
  return code == driver::CUDA_SUCCESS ? green : nullptr;
}

}  // namespace

ContextState::~ContextState() {
  if (owned.get() != nullptr && driver::table_for_release() != nullptr) {
    HandleRegistry<ContextState>::instance().remove(this);
  }
}

std::string describe(const ContextState& context) {
  return (context.green == nullptr ? "Context " : "green Context ") + hexadecimal(context.handle) + " of " +
         describe_device(context.device);
}

std::string describe_device(int ordinal) { return "Device " + std::to_string(ordinal); }

int device_count() {
  Primaries& all = primaries();
  if (all.handles.load(std::memory_order_acquire) != nullptr) return all.count.load(std::memory_order_relaxed);
  const std::scoped_lock lock(all.mutex);
  list_devices(all);
  return static_cast<int>(all.devices.size());
}

DeviceHandle device_handle(int ordinal) {
  Primaries& all = primaries();
  const std::scoped_lock lock(all.mutex);
  list_devices(all);
  return all.devices.at(static_cast<std::size_t>(ordinal));
}

int device_ordinal(DeviceHandle handle) {
  Primaries& all = primaries();
  const std::scoped_lock lock(all.mutex);
  list_devices(all);
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    if (all.devices[i] == handle) return static_cast<int>(i);
  }
  return handle;
}

std::shared_ptr<const ContextState> primary_context(int device) {
  Primaries& all = primaries();
  if (is_retained(all, device)) return all.by_ordinal[static_cast<std::size_t>(device)];
  const DeviceHandle handle = device_handle(device);
  const std::scoped_lock lock(all.mutex);
  auto& slot = all.by_ordinal.at(static_cast<std::size_t>(device));
  if (slot == nullptr) {
    const RelaxedCaptureScope relaxed;
    auto state = std::make_unique<ContextState>();
    state->device = device;
    state->is_primary = true;
    driver::check(driver::table().cuDevicePrimaryCtxRetain(&state->handle, handle), "cuDevicePrimaryCtxRetain",
                  [&] { return describe_device(device); });
    slot = std::shared_ptr<const ContextState>(std::shared_ptr<void>(), state.release());
    all.handles.load(std::memory_order_relaxed)[device].store(slot->handle, std::memory_order_release);
  }
  return slot;
}

std::shared_ptr<const ContextState> context_of(ContextHandle handle) {
  const Primaries& all = primaries();
  if (const int device = device_of_primary(all, handle); device >= 0) {
    return all.by_ordinal[static_cast<std::size_t>(device)];
  }
  if (auto known = HandleRegistry<ContextState>::instance().find(handle)) return known;
  DeviceHandle device = 0;
  GreenContextHandle green = nullptr;
  {
    ContextScope scope(handle);
    driver::check(driver::table().cuCtxGetDevice(&device), "cuCtxGetDevice",
                  [&] { return "Context " + hexadecimal(handle); });
    green = current_green_context();
    scope.restore();
  }
  const int ordinal = device_ordinal(device);
  // A primary context that someone else retained is the one that cucore would retain.
  if (auto primary = primary_context(ordinal); primary->handle == handle) return primary;
  auto state = std::make_shared<ContextState>();
  state->handle = handle;
  state->device = ordinal;
  state->green = green;
  return state;
}

int current_device() {
  const ContextHandle current = current_handle();
  if (current == nullptr) return 0;
  const int device = device_of_primary(primaries(), current);
  return device >= 0 ? device : context_of(current)->device;
}

std::shared_ptr<const ContextState> current_context() {
  const ContextHandle current = current_handle();
  return current == nullptr ? nullptr : context_of(current);
}

}  // namespace cucore::detail
