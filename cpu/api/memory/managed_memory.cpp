// Advice, prefetch and range attributes of managed memory. All memory is the same here, so nothing is moved; what was
// asked for is remembered and returned by queries.
#include <cstdint>
#include <cstring>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Allocation;

namespace {

CUmemLocation location_of(CUdevice device) {
  return device == CU_DEVICE_CPU ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, 0}
                                 : CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, device};
}

CUresult check(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return runtime::find_device(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return location.id == runtime::host_node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

/// Managed memory that contains the whole range; other device memory is refused.
CUresult check_range(CUdeviceptr address, size_t count) {
  const auto allocation = runtime::find_allocation(address);
  if (count == 0 || !allocation || allocation->kind != Allocation::Kind::Managed) return CUDA_ERROR_INVALID_VALUE;
  return runtime::is_device_range(address, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct Advice {
  CUmem_advise advice;
  CUmemLocation location;
};

void apply(Allocation& allocation, const void* argument) {
  const auto& [advice, location] = *static_cast<const Advice*>(argument);
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
      allocation.read_mostly = true;
      break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      allocation.read_mostly = false;
      break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      allocation.preferred = location;
      break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      allocation.preferred = {CU_MEM_LOCATION_TYPE_INVALID, 0};
      break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        allocation.accessed_by.insert(location.id);
      else
        allocation.accessed_by.insert(CU_DEVICE_CPU);
      break;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      allocation.accessed_by.erase(location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU);
      break;
  }
}

void note_prefetch(Allocation& allocation, const void* argument) {
  allocation.last_prefetch = *static_cast<const CUmemLocation*>(argument);
}

int as_device(const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) return location.id;
  return location.type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID : CU_DEVICE_CPU;
}

CUresult range_attribute(void* data, size_t size, CUmem_range_attribute attribute, const Allocation& allocation) {
  int* const out = static_cast<int*>(data);
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
    if (size == 0 || size % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
    auto next = allocation.accessed_by.begin();
    for (size_t i = 0; i < size / sizeof(int); ++i)
      out[i] = next != allocation.accessed_by.end() ? *next++ : CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
  }
  if (size != sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      *out = allocation.read_mostly;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      *out = as_device(allocation.preferred);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      *out = allocation.preferred.type;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      *out = allocation.preferred.id;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      *out = as_device(allocation.last_prefetch);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      *out = allocation.last_prefetch.type;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      *out = allocation.last_prefetch.id;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(devPtr, count, advice, location_of(device));
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location) {
  return in_context([&](Context&) {
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
      return CUDA_ERROR_INVALID_VALUE;
    const bool uses_location = advice != CU_MEM_ADVISE_SET_READ_MOSTLY && advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
                               advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    if (uses_location)
      if (const CUresult result = check(location); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_range(devPtr, count); result != CUDA_SUCCESS) return result;
    const Advice given{advice, location};
    runtime::change_allocation(devPtr, apply, &given);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream) {
  return cuMemPrefetchAsync_v2(devPtr, count, location_of(dstDevice), 0, hStream);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream hStream) {
  return on_stream(hStream, [&](Context&, Stream&) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check(location); result != CUDA_SUCCESS) return result;
    if (const CUresult result = check_range(devPtr, count); result != CUDA_SUCCESS) return result;
    runtime::change_allocation(devPtr, note_prefetch, &location);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                size_t count) {
  return in_context([&](Context&) {
    if (!data) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_range(devPtr, count); result != CUDA_SUCCESS) return result;
    const auto allocation = runtime::find_allocation(devPtr);
    return allocation ? range_attribute(data, dataSize, attribute, *allocation) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) {
  return in_context([&](Context&) {
    if (!data || !dataSizes || !attributes || numAttributes == 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numAttributes; ++i) {
      const CUresult result = cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}
