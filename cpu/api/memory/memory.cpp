// Memory management chapter: allocation, host memory, managed memory.
#include "cpu/runtime/memory/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/shared_memory.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Allocation;

namespace {

std::uintptr_t address_number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// That of the memory that begins there; of a pool's, its device's primary one.
Context* context_of_memory(std::uintptr_t address) {
  const auto allocation = runtime::allocation_at(address);
  if (!allocation) return nullptr;
  if (allocation->context) return allocation->context;
  return &runtime::find_device(allocation->device)->primary_context();
}

CUresult allocate_host(void** pp, size_t bytesize, unsigned int flags,
                       EntryName entry = EntryName(__builtin_FUNCTION())) {
  constexpr unsigned int known_bits =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  return in_context_outside_capture(entry, [&](Context& context) {
    if (!pp || (flags & ~known_bits) != 0) return CUDA_ERROR_INVALID_VALUE;
    *pp = nullptr;
    if (bytesize == 0) return CUDA_SUCCESS;  // only for host memory; 0 bytes of device memory is an invalid size
    return driver_result(runtime::allocate(context, bytesize, Allocation::Kind::Host, flags),
                         [&](std::uintptr_t address) { *pp = reinterpret_cast<void*>(address); });
  });
}

CUresult allocate_on_device(CUdeviceptr* dptr, size_t bytesize, Allocation::Kind kind, unsigned int flags,
                            EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_context_outside_capture(entry, [&](Context& context) {
    return dptr ? driver_result(runtime::allocate(context, bytesize, kind, flags), dptr) : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return in_context([&](Context& context) {
    if (free) *free = runtime::free_memory(context.device());
    if (total) *total = context.device().total_memory();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytesize) {
  return allocate_on_device(dptr, bytesize, Allocation::Kind::Device, 0);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes) {
  constexpr size_t pitch_alignment = 512;
  if (!dptr || !pPitch) return in_context([](Context&) { return CUDA_ERROR_INVALID_VALUE; });
  if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
    return in_context([](Context&) { return CUDA_ERROR_INVALID_VALUE; });
  if (WidthInBytes == 0 || Height == 0 || WidthInBytes > std::numeric_limits<int>::max() ||
      Height > std::numeric_limits<size_t>::max() / (WidthInBytes + pitch_alignment))
    return in_context([](Context&) { return CUDA_ERROR_INVALID_VALUE; });
  const size_t pitch = (WidthInBytes + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
  const CUresult result = cuMemAlloc_v2(dptr, pitch * Height);
  if (result == CUDA_SUCCESS) *pPitch = pitch;
  return result;
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
    return in_context([](Context&) { return CUDA_ERROR_INVALID_VALUE; });
  return allocate_on_device(dptr, bytesize, Allocation::Kind::Managed, flags);
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
  const auto own = [&] { return context_of_memory(dptr); };
  const auto release = [&](Context& context) { return driver_result(runtime::free_device(context, dptr)); };
  return in_own_context(own, dptr == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, outside_capture(release));
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
  return in_context([&](Context&) {
    const auto allocation = runtime::find_allocation(dptr);
    if (!allocation) return CUDA_ERROR_NOT_FOUND;
    if (pbase) *pbase = allocation->base;
    if (psize) *psize = allocation->size;
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) {
  return in_context([&](Context&) {
    return pHandle ? driver_result(runtime::share_memory(dptr), pHandle) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags) {
  return cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags) {
  return in_context_outside_capture([&](Context& context) {
    if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::open_memory(context, handle), pdptr);
  });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
  return in_context_outside_capture([&](Context&) { return driver_result(runtime::close_memory(dptr)); });
}

CUresult cuMemAllocHost_v2(void** pp, size_t bytesize) { return allocate_host(pp, bytesize, 0); }
CUresult cuMemAllocHost(void** pp, unsigned int bytesize) { return allocate_host(pp, bytesize, 0); }
CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int Flags) { return allocate_host(pp, bytesize, Flags); }

CUresult cuMemFreeHost(void* p) {
  const auto own = [&] { return context_of_memory(address_number(p)); };
  const auto release = [&](Context& context) { return driver_result(runtime::free_host(context, address_number(p))); };
  return with_own_context(own, p ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS, release);
}

CUresult cuMemHostRegister(void* p, size_t bytesize, unsigned int Flags) {
  return cuMemHostRegister_v2(p, bytesize, Flags);
}
CUresult cuMemHostRegister_v2(void* p, size_t bytesize, unsigned int Flags) {
  return in_context([&](Context& context) {
    return driver_result(runtime::register_host(context, address_number(p), bytesize, Flags));
  });
}

CUresult cuMemHostUnregister(void* p) {
  const auto unregister = [&] { return driver_result(runtime::unregister_host(address_number(p))); };
  return runtime::current_context() ? with_context([&](Context&) { return unregister(); }) : initialized(unregister);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pdptr, void* p, unsigned int Flags) {
  return in_context([&](Context&) {
    if (!pdptr || Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = runtime::find_allocation(address_number(p));
    if (!allocation || allocation->kind == Allocation::Kind::Device) return CUDA_ERROR_INVALID_VALUE;
    *pdptr = address_number(p);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) {
  return in_context([&](Context&) {
    if (!pFlags) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = runtime::find_allocation(address_number(p));
    if (!allocation || (allocation->kind != Allocation::Kind::Host && allocation->kind != Allocation::Kind::Registered))
      return CUDA_ERROR_INVALID_VALUE;
    *pFlags = allocation->flags | CU_MEMHOSTALLOC_DEVICEMAP;  // with unified addressing all of it is mapped
    return CUDA_SUCCESS;
  });
}
