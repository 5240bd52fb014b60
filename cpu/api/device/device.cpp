// Device management chapter.
#include "cpu/runtime/objects/device.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"

using namespace cucore::cpu::api;
using cucore::cpu::runtime::Device;
using cucore::cpu::runtime::devices;
using cucore::cpu::runtime::find_device;

namespace {

/// Needs cuInit and a device: `call(Device&)`.
template <class F>
CUresult of_device(CUdevice dev, F&& call) {
  return initialized([&] {
    Device* const device = find_device(dev);
    return device ? call(*device) : CUDA_ERROR_INVALID_DEVICE;
  });
}

struct PciAddress {
  unsigned int domain = 0, bus = 0, device = 0, function = 0;
  bool operator==(const PciAddress&) const = default;
};

/// domain:bus:device.function, with the domain or the function left out or not; false for any other text.
bool read_pci_address(std::string_view text, PciAddress* address) {
  std::vector<unsigned int> numbers;
  std::string separators;
  const char* const end = text.data() + text.size();
  for (const char* next = text.data(); next != end;) {
    unsigned int number = 0;
    const auto [stop, error] = std::from_chars(next, end, number, 16);
    if (error != std::errc()) return false;
    numbers.push_back(number);
    next = stop;
    if (next != end) separators += *next++;
  }
  if (numbers.size() != separators.size() + 1) return false;
  if (separators == "::.")
    *address = {numbers[0], numbers[1], numbers[2], numbers[3]};
  else if (separators == "::")
    *address = {numbers[0], numbers[1], numbers[2], 0};
  else if (separators == ":.")
    *address = {0, numbers[0], numbers[1], numbers[2]};
  else
    return false;
  return true;
}

/// What atomics between devices can do: devices and host share the same memory and the same instructions.
unsigned int atomic_capabilities(CUatomicOperation operation) {
  constexpr unsigned int words = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
  constexpr unsigned int both = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED;
  switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
      return both | words | CU_ATOMIC_CAPABILITY_REDUCTION;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
      return CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_REDUCTION;
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR:
      return CU_ATOMIC_CAPABILITY_UNSIGNED | words | CU_ATOMIC_CAPABILITY_REDUCTION;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
      return CU_ATOMIC_CAPABILITY_UNSIGNED | words | CU_ATOMIC_CAPABILITY_SCALAR_128;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
      return CU_ATOMIC_CAPABILITY_SIGNED | words | CU_ATOMIC_CAPABILITY_REDUCTION;
    default:
      return 0;  // PTX has no instructions for the least and largest floats of 32 and 64 bits
  }
}

CUresult put_atomic_capabilities(unsigned int* capabilities, const CUatomicOperation* operations, unsigned int count) {
  if (!capabilities || !operations || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned int i = 0; i < count; ++i)
    if (operations[i] < CU_ATOMIC_OPERATION_INTEGER_ADD || operations[i] >= CU_ATOMIC_OPERATION_MAX)
      return CUDA_ERROR_INVALID_VALUE;
  std::transform(operations, operations + count, capabilities, atomic_capabilities);
  return CUDA_SUCCESS;
}

CUresult copy_text(const std::string& text, char* out, int length) {
  const std::size_t room = static_cast<std::size_t>(length);
  const std::size_t taken = std::min(room - 1, text.size());
  std::memcpy(out, text.data(), taken);
  out[taken] = '\0';
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return initialized([&] {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (!find_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return initialized([&] {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(devices().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!name || len <= 0) return CUDA_ERROR_INVALID_VALUE;
    return copy_text(device.name(), name, len);
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) { return cuDeviceGetUuid_v2(uuid, dev); }

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    *uuid = device.uuid();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = device.total_memory();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem(unsigned int* bytes, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes =
        static_cast<unsigned int>(std::min<size_t>(device.total_memory(), std::numeric_limits<unsigned int>::max()));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  return of_device(
      dev, [&](Device& device) { return pi ? driver_result(device.attribute(attrib), pi) : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    *major = device.capability() / 10;
    *minor = device.capability() % 10;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!prop) return CUDA_ERROR_INVALID_VALUE;
    const auto get = [&](CUdevice_attribute attribute) { return *device.attribute(attribute); };
    prop->maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    prop->maxThreadsDim[0] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    prop->maxThreadsDim[1] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    prop->maxThreadsDim[2] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    prop->maxGridSize[0] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    prop->maxGridSize[1] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    prop->maxGridSize[2] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    prop->sharedMemPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    prop->totalConstantMemory = get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    prop->SIMDWidth = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    prop->memPitch = get(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    prop->regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    prop->clockRate = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    prop->textureAlign = get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    const std::string text = device.pci_bus_id();
    if (!pciBusId || len <= static_cast<int>(text.size())) return CUDA_ERROR_INVALID_VALUE;
    return copy_text(text, pciBusId, len);
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
  return initialized([&] {
    PciAddress wanted;
    if (!dev || !pciBusId || !read_pci_address(pciBusId, &wanted)) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& device : devices()) {
      PciAddress own;
      if (!read_pci_address(device->pci_bus_id(), &own) || own != wanted) continue;
      *dev = device->ordinal();
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements, CUarray_format, unsigned numChannels,
                                            CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!maxWidthInElements || (numChannels != 1 && numChannels != 2 && numChannels != 4))
      return CUDA_ERROR_INVALID_VALUE;
    *maxWidthInElements = static_cast<size_t>(*device.attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType type, CUdevice dev) {
  return of_device(dev, [&](Device&) {
    if (!pi || type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX) return CUDA_ERROR_INVALID_VALUE;
    *pi = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  return of_device(dev, [&](Device&) {
    if (!find_device(peerDev)) return CUDA_ERROR_INVALID_DEVICE;
    if (!canAccessPeer) return CUDA_ERROR_INVALID_VALUE;
    *canAccessPeer = dev != peerDev;  // all devices share the host's memory
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice) {
  return of_device(srcDevice, [&](Device&) {
    if (!find_device(dstDevice) || srcDevice == dstDevice) return CUDA_ERROR_INVALID_DEVICE;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    switch (attrib) {
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
        *value = 0;
        return CUDA_SUCCESS;
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                          unsigned int count, CUdevice srcDevice, CUdevice dstDevice) {
  return of_device(srcDevice, [&](Device&) {
    if (!find_device(dstDevice) || srcDevice == dstDevice) return CUDA_ERROR_INVALID_DEVICE;
    return put_atomic_capabilities(capabilities, operations, count);
  });
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                           unsigned int count, CUdevice dev) {
  return of_device(dev, [&](Device&) { return put_atomic_capabilities(capabilities, operations, count); });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!pool_out) return CUDA_ERROR_INVALID_VALUE;
    *pool_out = device.default_pool()->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
  return initialized([&] {
    const Device* const device = find_device(dev);
    if (!pool || !device) return CUDA_ERROR_INVALID_VALUE;  // even for the ordinal, unlike its neighbours
    *pool = device->current_pool()->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  return initialized([&] {
    Device* const device = find_device(dev);
    auto found = cucore::cpu::runtime::find_pool(pool);
    if (!device || !found || found->device_ordinal() != dev) return CUDA_ERROR_INVALID_VALUE;
    device->set_current_pool(std::move(found));
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
  return of_device(dev, [&](Device& device) {
    if (!pctx) return CUDA_ERROR_INVALID_VALUE;
    *pctx = device.retain_primary();
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) { return cuDevicePrimaryCtxRelease_v2(dev); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  return of_device(dev, [](Device& device) { return driver_result(device.release_primary()); });
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev) { return cuDevicePrimaryCtxReset_v2(dev); }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  return of_device(dev, [](Device& device) {
    device.reset_primary();
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
  return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  return of_device(dev, [&](Device& device) { return driver_result(device.set_primary_flags(flags)); });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  return of_device(dev, [&](Device& device) {
    if (!flags && !active) return CUDA_ERROR_INVALID_VALUE;
    unsigned int set = 0;
    bool is_active = false;
    device.primary_state(&set, &is_active);
    if (flags) *flags = set;
    if (active) *active = is_active;
    return CUDA_SUCCESS;
  });
}
