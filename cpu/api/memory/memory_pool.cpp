// Stream ordered memory allocator chapter.
#include "cpu/runtime/memory/memory_pool.hpp"

#include <cstdint>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::MemoryPool;

namespace {

template <class F>
CUresult of_pool(CUmemoryPool handle, F&& call) {
  return initialized([&] {
    if (const CUresult result = driver_result(runtime::check_unsafe_call()); result != CUDA_SUCCESS) return result;
    const auto pool = runtime::find_pool(handle);
    return pool ? call(*pool) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult allocate(CUdeviceptr* dptr, size_t bytesize, MemoryPool& pool, Context& context, Stream& stream) {
  return driver_result(runtime::allocate_async(context, pool, bytesize, stream), dptr);
}

/// A pool's memory allocated in a capture is the graph's.
CUresult capture_allocation(CUdeviceptr* dptr, size_t bytesize, const MemoryPool& pool, Stream& stream) {
  if (bytesize == 0) {  // no memory, no node
    *dptr = 0;
    return CUDA_SUCCESS;
  }
  CUgraphNodeParams node{};
  node.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  node.alloc.poolProps = pool.properties();
  node.alloc.bytesize = bytesize;
  const CUresult result = driver_result(runtime::capture_node(stream, node));
  if (result == CUDA_SUCCESS) *dptr = node.alloc.dptr;
  return result;
}

CUresult check_location(const CUmemLocation* location, CUmemAllocationType type) {
  if (!location) return CUDA_ERROR_INVALID_VALUE;
  CUmemPoolProps properties{};
  properties.allocType = type;
  properties.location = *location;
  return driver_result(MemoryPool::check(properties));
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
  return in_stream_order(hStream, [&](Context& context, Stream& stream) {
    if (!dptr) return CUDA_ERROR_INVALID_VALUE;
    const auto pool = stream.context().device().current_pool();
    if (stream.is_capturing()) return capture_allocation(dptr, bytesize, *pool, stream);
    return allocate(dptr, bytesize, *pool, context, stream);
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
  return in_stream_order(hStream, [&](Context& context, Stream& stream) {
    const auto found = runtime::find_pool(pool);
    if (!dptr || !found) return CUDA_ERROR_INVALID_VALUE;
    if (stream.is_capturing()) return capture_allocation(dptr, bytesize, *found, stream);
    return allocate(dptr, bytesize, *found, context, stream);
  });
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  return in_stream_order(hStream, [&](Context&, Stream& stream) {
    if (!stream.is_capturing()) return driver_result(runtime::free_async(dptr, stream));
    CUgraphNodeParams node{};
    if (dptr == 0) return CUDA_SUCCESS;  // no memory, no node
    node.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    node.free.dptr = dptr;
    return driver_result(runtime::capture_node(stream, node));
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
  return initialized([&] {
    if (!pool || !poolProps) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = driver_result(runtime::check_unsafe_call()); result != CUDA_SUCCESS) return result;
    if (const CUresult result = driver_result(MemoryPool::check(*poolProps)); result != CUDA_SUCCESS) return result;
    *pool = MemoryPool::create(*poolProps, false)->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return initialized([&] { return driver_result(runtime::destroy_pool(pool)); });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
  return of_pool(pool, [&](MemoryPool& found) {
    if (found.is_imported()) return CUDA_ERROR_INVALID_VALUE;  // its process has what is cached
    found.trim(minBytesToKeep);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  return of_pool(pool, [&](MemoryPool& found) {
    return value ? driver_result(found.attribute(attr, value)) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  return of_pool(pool, [&](MemoryPool& found) {
    return value ? driver_result(found.set_attribute(attr, value)) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool memPool, CUmemLocation* location) {
  return of_pool(memPool, [&](MemoryPool& found) {
    if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE && !runtime::find_device(location->id))
      return CUDA_ERROR_INVALID_DEVICE;
    *flags = found.access(*location);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
  return of_pool(pool, [&](MemoryPool& found) {
    return map || count == 0 ? driver_result(found.set_access(map, count)) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location, CUmemAllocationType type) {
  return initialized([&] {
    if (!pool_out) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_location(location, type); result != CUDA_SUCCESS) return result;
    *pool_out = runtime::default_pool_for(*location, type)->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return initialized([&] {
    if (!pool) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_location(location, type); result != CUDA_SUCCESS) return result;
    if (location->type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED)
      *pool = runtime::find_device(location->id)->current_pool()->handle();
    else
      *pool = runtime::default_pool_for(*location, type)->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return of_pool(pool, [&](MemoryPool& found) {
    if (const CUresult result = check_location(location, type); result != CUDA_SUCCESS) return result;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || type != CU_MEM_ALLOCATION_TYPE_PINNED)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (found.device_ordinal() != location->id) return CUDA_ERROR_INVALID_VALUE;
    runtime::find_device(location->id)->set_current_pool(found.shared_from_this());
    return CUDA_SUCCESS;
  });
}

// Sharing between processes. A shareable handle is a file descriptor; the importer passes it as a pointer's value.
CUresult cuMemPoolExportToShareableHandle(void* handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType,
                                          unsigned long long flags) {
  return of_pool(pool, [&](MemoryPool& found) {
    if (!handle_out || flags != 0 || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      return CUDA_ERROR_INVALID_VALUE;
    return driver_result(found.export_file(), static_cast<int*>(handle_out));
  });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle, CUmemAllocationHandleType handleType,
                                            unsigned long long flags) {
  return initialized([&] {
    if (!pool_out || flags != 0 || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      return CUDA_ERROR_INVALID_VALUE;
    return driver_result(MemoryPool::import_file(static_cast<int>(reinterpret_cast<std::intptr_t>(handle))), pool_out);
  });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr) {
  return initialized([&] {
    const auto allocation = runtime::find_allocation(ptr);
    if (!shareData_out || !allocation || !allocation->pool) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(allocation->pool->export_pointer(ptr), shareData_out);
  });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData* shareData) {
  return of_pool(pool, [&](MemoryPool& found) {
    if (!ptr_out || !shareData) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(found.import_pointer(*shareData), ptr_out);
  });
}
