// Virtual memory management chapter.
#include "cpu/runtime/memory/virtual_memory.hpp"

#include <cstdint>

#include "cpu/api/entry.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
  return initialized([&] {
    if (!ptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::reserve_addresses(size, alignment, addr), ptr);
  });
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
  return initialized([&] { return driver_result(runtime::free_addresses(ptr, size)); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* prop,
                     unsigned long long flags) {
  return initialized([&] {
    if (!handle || !prop || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::create_physical_memory(*prop, size), handle);
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return initialized([&] { return driver_result(runtime::release_physical_memory(handle)); });
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return initialized([&] {
    return flags == 0 ? driver_result(runtime::map_memory(ptr, size, offset, handle)) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
  return initialized([&] { return driver_result(runtime::unmap_memory(ptr, size)); });
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count) {
  return initialized([&] {
    return desc && count != 0 ? driver_result(runtime::set_memory_access(ptr, size, desc, count))
                              : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr) {
  return initialized([&] {
    return flags && location ? driver_result(runtime::memory_access(ptr, *location), flags) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// One granularity for all: the properties are looked at when memory is made.
CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
  return initialized([&] {
    if (!granularity || !prop ||
        (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
      return CUDA_ERROR_INVALID_VALUE;
    *granularity = runtime::virtual_memory_granularity;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop, CUmemGenericAllocationHandle handle) {
  return initialized([&] {
    return prop ? driver_result(runtime::properties_of_physical_memory(handle), prop) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) {
  return initialized([&] {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::retain_physical_memory(reinterpret_cast<std::uintptr_t>(addr)), handle);
  });
}

// A shareable handle is a file descriptor; the importer passes it as a pointer's value.
CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType, unsigned long long flags) {
  return initialized([&] {
    if (!shareableHandle || flags != 0 || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::export_physical_memory(handle), static_cast<int*>(shareableHandle));
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType) {
  return initialized([&] {
    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::import_physical_memory(static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle))),
                         handle);
  });
}
