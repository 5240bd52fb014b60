// Sets of events, of devices and of the system. A CPU device has no events that NVML would report: no error codes of a
// board, no driver that is loaded or unloaded. So sets are made, waited for until the time is up, and freed.
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "cpu/nvml/entry.hpp"

namespace nvml = cucore::cpu::nvml;
using nvml::initialised, nvml::of_device, nvml::put;

/// Of devices, or of the system.
struct nvmlEventSet_st {
  bool is_of_system = false;
};

namespace {

/// Every nvmlEventType: as on a board that supports them all and reports none.
constexpr unsigned long long device_events = 0xff9f;

/// The sets that exist, so that other handles are refused. Never destroyed: threads may wait while the process exits.
class Sets {
 public:
  nvmlEventSet_t make(bool is_of_system) {
    const std::lock_guard lock(mutex_);
    auto* const set = new nvmlEventSet_st{is_of_system};
    alive_.insert(set);
    return set;
  }
  bool has(nvmlEventSet_t set, bool is_of_system) {
    const std::lock_guard lock(mutex_);
    return alive_.contains(set) && set->is_of_system == is_of_system;
  }
  nvmlReturn_t free(nvmlEventSet_t set, bool is_of_system) {
    const std::lock_guard lock(mutex_);
    if (!alive_.contains(set) || set->is_of_system != is_of_system) return NVML_ERROR_INVALID_ARGUMENT;
    alive_.erase(set);
    delete set;
    return NVML_SUCCESS;
  }

 private:
  std::mutex mutex_;
  std::set<nvmlEventSet_t> alive_;
};

Sets& sets() {
  static auto* const made = new Sets;
  return *made;
}

nvmlReturn_t wait_in_vain(nvmlEventSet_t set, bool is_of_system, unsigned int milliseconds) {
  if (!sets().has(set, is_of_system)) return NVML_ERROR_INVALID_ARGUMENT;
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return NVML_ERROR_TIMEOUT;
}

/// For calls that take a request with a version.
template <class Request, class Call>
nvmlReturn_t of_request(Request* request, Call call) {
  return initialised([&] {
    if (!request) return NVML_ERROR_INVALID_ARGUMENT;
    return request->version == version_of<Request>(1) ? call() : NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  });
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* types) {
  return put(device, types, device_events);
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  return initialised([&] {
    if (!set) return NVML_ERROR_INVALID_ARGUMENT;
    *set = sets().make(false);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  return initialised([&] { return sets().free(set, false); });
}
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
  return of_device(device, set, [&] {
    if (!sets().has(set, false)) return NVML_ERROR_INVALID_ARGUMENT;
    return (types & ~device_events) == 0 ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  });
}
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, void* data, unsigned int milliseconds) {
  return initialised([&] { return data ? wait_in_vain(set, false, milliseconds) : NVML_ERROR_INVALID_ARGUMENT; });
}
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, void* data, unsigned int milliseconds) {
  return nvmlEventSetWait_v2(set, data, milliseconds);
}

nvmlReturn_t nvmlSystemEventSetCreate(nvmlSystemEventSetRequest_v1_t* request) {
  return of_request(request, [&] {
    request->set = sets().make(true);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlSystemEventSetFree(nvmlSystemEventSetRequest_v1_t* request) {
  return of_request(request, [&] { return sets().free(request->set, true); });
}
nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_v1_t* request) {
  return of_request(request, [&] {
    constexpr unsigned long long driver_comes_or_goes = 3;
    if (!sets().has(request->set, true) || request->eventTypes == 0) return NVML_ERROR_INVALID_ARGUMENT;
    return (request->eventTypes & ~driver_comes_or_goes) == 0 ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  });
}
nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_v1_t* request) {
  return of_request(request, [&] {
    request->numEvent = 0;
    return wait_in_vain(request->set, true, request->timeoutms);
  });
}

}  // extern "C"
