// Unified addressing chapter: what is known of a pointer. Asking needs no current context, with one exception.
#include <cstdint>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/memory/shared_memory.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Allocation;

namespace {

template <class T>
CUresult put(void* out, T value) {
  *static_cast<T*>(out) = value;
  return CUDA_SUCCESS;
}

bool is_on_host(const Allocation& allocation) {
  return allocation.kind == Allocation::Kind::Host || allocation.kind == Allocation::Kind::Registered;
}

CUresult access_flags(const Allocation& allocation, void* out) {
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (allocation.pool) {
    const Context* const context = runtime::current_context();
    const int device = context ? context->device().ordinal() : allocation.device;
    flags = allocation.pool->access({CU_MEM_LOCATION_TYPE_DEVICE, device});
  }
  return put(out, flags);
}

CUresult attribute_of(const Allocation& allocation, CUpointer_attribute attribute, CUdeviceptr ptr, void* out) {
  if (attribute == pointer_locality_domain) return put<int>(out, -1);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      // Pool memory has no context of its own.
      if (!allocation.context) return put<CUcontext>(out, nullptr);
      return put(out, allocation.context->handle());
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned int>(out, is_on_host(allocation) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put<CUdeviceptr>(out, ptr);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (allocation.kind == Allocation::Kind::Device) return CUDA_ERROR_INVALID_VALUE;
      return put<void*>(out, reinterpret_cast<void*>(ptr));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put<int>(out, allocation.sync_memops);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put<unsigned long long>(out, allocation.buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put<int>(out, allocation.kind == Allocation::Kind::Managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put<int>(out, allocation.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put<int>(out, runtime::is_shareable(allocation) ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return put<int>(out, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put<void*>(out, reinterpret_cast<void*>(allocation.base));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put<size_t>(out, allocation.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<int>(out, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put<unsigned long long>(
          out, allocation.pool && !allocation.pool->is_imported() ? allocation.pool->properties().handleTypes : 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return access_flags(allocation, out);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put<CUmemoryPool>(out, allocation.pool ? allocation.pool->handle() : nullptr);
    default:
      return CUDA_ERROR_INVALID_VALUE;  // P2P tokens need the kernel driver
  }
}

/// What cuPointerGetAttributes leaves for a pointer the driver does not know: zeros, with these exceptions.
void put_unknown(CUpointer_attribute attribute, void* out) {
  if (attribute == pointer_locality_domain) return put<int>(out, -1), void();
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      put<int>(out, 0);
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      put<int>(out, CU_DEVICE_INVALID);
      break;
    default:
      put<std::uint64_t>(out, 0);
  }
}

bool is_known(CUpointer_attribute attribute) {
  return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT && attribute <= pointer_locality_domain;
}

/// As an H100's driver has it: of all it says, only how devices see the pointer depends on the current context.
bool is_answered(CUpointer_attribute attribute) {
  return attribute != CU_POINTER_ATTRIBUTE_DEVICE_POINTER || runtime::current_context() != nullptr;
}

void set_sync_memops(Allocation& allocation, const void* argument) {
  allocation.sync_memops = *static_cast<const int*>(argument);
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  return initialized([&] {
    if (!data || !is_known(attribute)) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = runtime::find_allocation(ptr);
    if (!allocation) return CUDA_ERROR_INVALID_VALUE;
    return is_answered(attribute) ? attribute_of(*allocation, attribute, ptr, data) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr ptr) {
  return initialized([&] {
    if (!attributes || !data) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = runtime::find_allocation(ptr);
    for (unsigned int i = 0; i < numAttributes; ++i) {
      if (!data[i] || !is_known(attributes[i])) return CUDA_ERROR_INVALID_VALUE;
      if (!allocation || !is_answered(attributes[i]) ||
          attribute_of(*allocation, attributes[i], ptr, data[i]) != CUDA_SUCCESS)
        put_unknown(attributes[i], data[i]);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  return initialized([&] {
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    return runtime::change_allocation(ptr, set_sync_memops, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
