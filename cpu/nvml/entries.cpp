// The calls that this library answers: initialisation, versions, handles, identity, memory, load.
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cpu/nvml/entry.hpp"
#include "cpu/nvml/session.hpp"
#include "cpu/runtime/process/host_memory.hpp"

namespace nvml = cucore::cpu::nvml;
using nvml::find, nvml::initialised, nvml::of_device, nvml::put_text;

namespace {

/// No vendor made this device, so its PCI identifiers are 0.
template <class Info>
void put_place(const nvmlDevice_st& device, Info* info) {
  info->domain = info->device = info->pciDeviceId = info->pciSubSystemId = 0;
  info->bus = device.bus;
}

void put_long_bus_id(const nvmlDevice_st& device, char (&text)[32]) {
  std::snprintf(text, sizeof text, "00000000:%02X:00.0", device.bus);
}

void put_short_bus_id(const nvmlDevice_st& device, char (&text)[16]) {
  std::snprintf(text, sizeof text, "0000:%02X:00.0", device.bus);
}

/// NVML's number of an architecture: 7 Ampere, 8 Ada, 9 Hopper, 10 Blackwell.
unsigned int architecture(int capability) {
  constexpr unsigned int unknown = 0xffffffff;
  if (capability == 89) return 8;
  switch (capability / 10) {
    case 7:
      return capability < 75 ? 5 : 6;
    case 8:
      return 7;
    case 9:
      return 9;
    case 10:
    case 12:
      return 10;
    default:
      return unknown;
  }
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

nvmlReturn_t nvmlInitWithFlags(unsigned int) {
  nvml::begin();
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlInit_v2() { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlInit() { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlShutdown() { return nvml::end(); }

const char* nvmlErrorString(int code) {
  switch (code) {
#define TEXT(number, text) \
  case number:             \
    return text
    TEXT(0, "Success");
    TEXT(1, "Uninitialized");
    TEXT(2, "Invalid Argument");
    TEXT(3, "Not Supported");
    TEXT(4, "Insufficient Permissions");
    TEXT(5, "Already Initialized");
    TEXT(6, "Not Found");
    TEXT(7, "Insufficient Size");
    TEXT(8, "Insufficient External Power");
    TEXT(9, "Driver Not Loaded");
    TEXT(10, "Timeout");
    TEXT(11, "Interrupt Request Issue");
    TEXT(12, "NVML Shared Library Not Found");
    TEXT(13, "Function Not Found");
    TEXT(14, "Corrupted infoROM");
    TEXT(15, "GPU is lost");
    TEXT(16, "GPU requires restart");
    TEXT(17, "Blocked by the operating system");
    TEXT(18, "Driver/library version mismatch");
    TEXT(19, "In use by another client");
    TEXT(20, "Insufficient Memory");
    TEXT(21, "No data");
    TEXT(22, "ECC is not available with vGPU");
    TEXT(23, "Insufficient resources");
    TEXT(24, "Frequency not supported");
    TEXT(25, "Argument version mismatch");
    TEXT(26, "Deprecated");
    TEXT(27, "Not ready");
    TEXT(28, "GPU not found");
    TEXT(29, "Invalid state");
    TEXT(30, "Reset type not supported");
#undef TEXT
    default:
      return "Unknown Error";
  }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return initialised([&] { return put_text(nvml::driver_version, version, length); });
}

nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_v1_t* info, unsigned int length) {
  return initialised([&] {
    if (!info) return NVML_ERROR_INVALID_ARGUMENT;
    if (info->version != version_of<nvmlSystemDriverBranchInfo_v1_t>(1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return put_text(nvml::driver_branch, info->branch,
                    std::min(length, static_cast<unsigned int>(sizeof info->branch)));
  });
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {  // answers before nvmlInit too
  return put_text(nvml::nvml_version, version, length);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {  // answers before nvmlInit too
  if (!version) return NVML_ERROR_INVALID_ARGUMENT;
  *version = cucore::cpu::runtime::cuda_version;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  return initialised([&] {
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    *count = nvml::device_count();
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) { return nvmlDeviceGetCount_v2(count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  return initialised([&] {
    if (!device || index >= nvml::device_count()) return NVML_ERROR_INVALID_ARGUMENT;
    *device = nvml::device_at(index);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  return initialised([&] {
    if (!uuid || !device) return NVML_ERROR_INVALID_ARGUMENT;
    return find(device, [&](const nvmlDevice_st& each) { return nvml::is_uuid_of(each, uuid); });
  });
}

nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_v1_t* uuid, nvmlDevice_t* device) {
  return initialised([&] {
    if (!uuid || !device) return NVML_ERROR_INVALID_ARGUMENT;
    if (uuid->version != version_of<nvmlUUID_v1_t>(1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    const auto by_text = [&](const nvmlDevice_st& each) {
      return nvml::is_uuid_of(each, {uuid->value.str, strnlen(uuid->value.str, sizeof uuid->value.str)});
    };
    const auto by_bytes = [&](const nvmlDevice_st& each) {
      return std::memcmp(each.uuid_bytes.bytes, uuid->value.bytes, sizeof uuid->value.bytes) == 0;
    };
    if (uuid->type == 1) return find(device, by_text);
    return uuid->type == 2 ? find(device, by_bytes) : NVML_ERROR_INVALID_ARGUMENT;
  });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* pciBusId, nvmlDevice_t* device) {
  return initialised([&] {
    if (!pciBusId || !device) return NVML_ERROR_INVALID_ARGUMENT;
    unsigned int domain = 0, bus = 0, slot = 0, function = 0;  // the domain may be left out, and so may the function
    if (std::sscanf(pciBusId, "%8x:%4x:%4x.%4x", &domain, &bus, &slot, &function) < 3) {
      domain = function = 0;
      if (std::sscanf(pciBusId, "%4x:%4x.%4x", &bus, &slot, &function) < 2) return NVML_ERROR_INVALID_ARGUMENT;
    }
    return find(device, [&](const nvmlDevice_st& each) {
      return domain == 0 && each.bus == bus && slot == 0 && function == 0;
    });
  });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* pciBusId, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(pciBusId, device);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  return of_device(device, name, [&] { return put_text(device->name, name, length); });
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  return of_device(device, uuid, [&] { return put_text(device->uuid, uuid, length); });
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  return of_device(device, index, [&] {
    *index = device->index;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* number) {
  return nvmlDeviceGetIndex(device, number);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return of_device(device, pci, [&] {
    put_place(*device, pci);
    put_short_bus_id(*device, pci->busIdLegacy);
    put_long_bus_id(*device, pci->busId);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t* pci) {
  return of_device(device, pci, [&] {
    *pci = {};
    put_place(*device, pci);
    put_short_bus_id(*device, pci->busId);
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t* pci) {
  return nvmlDeviceGetPciInfo_v2(device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_v1_t* pci) {
  return of_device(device, pci, [&] {
    if (pci->version != version_of<nvmlPciInfoExt_v1_t>(1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    put_place(*device, pci);
    pci->baseClass = pci->subClass = 0;
    put_long_bus_id(*device, pci->busId);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return of_device(device, memory, [&] {
    memory->total = cucore::cpu::runtime::host_memory().total;
    memory->free = nvml::available_memory(memory->total);
    memory->used = memory->total - memory->free;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return of_device(device, memory, [&] {
    if (memory->version != version_of<nvmlMemory_v2_t>(2)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memory->total = cucore::cpu::runtime::host_memory().total;
    memory->reserved = 0;
    memory->free = nvml::available_memory(memory->total);
    memory->used = memory->total - memory->free;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return of_device(device, major, [&] {
    if (!minor) return NVML_ERROR_INVALID_ARGUMENT;
    *major = device->capability / 10;
    *minor = device->capability % 10;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned int* number) {
  return of_device(device, number, [&] {
    *number = architecture(device->capability);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  return of_device(device, rates, [&] {
    *rates = {nvml::busy_share(), 0};  // the memory's utilisation is not measured
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int* is_mig) {
  return of_device(device, is_mig, [&] {
    *is_mig = 0;
    return NVML_SUCCESS;
  });
}

}  // extern "C"
