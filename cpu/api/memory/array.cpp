// CUDA arrays and mipmapped arrays, and the copies that name them.
#include "cpu/runtime/memory/array.hpp"

#include <optional>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/allocation_table.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Array;
using runtime::MipmappedArray;

namespace {

/// That of its memory.
Context* context_of_array(CUarray handle) {
  const auto array = runtime::find_array(handle);
  const auto memory = array ? runtime::find_allocation(array->address()) : std::nullopt;
  return memory ? memory->context : nullptr;
}

Context* context_of_array(CUmipmappedArray handle) {
  const auto array = runtime::find_mipmapped_array(handle);
  return array ? context_of_array(array->levels().front()->handle()) : nullptr;
}

template <class F>
CUresult of_array(CUarray handle, F&& call) {
  const auto own = [&] { return context_of_array(handle); };
  return with_own_context(own, CUDA_ERROR_INVALID_HANDLE, [&](Context&) {
    const auto array = runtime::find_array(handle);
    return array ? call(*array) : CUDA_ERROR_INVALID_HANDLE;
  });
}

template <class F>
CUresult of_mipmapped_array(CUmipmappedArray handle, F&& call) {
  const auto own = [&] { return context_of_array(handle); };
  return with_own_context(own, CUDA_ERROR_INVALID_HANDLE, [&](Context&) {
    const auto array = runtime::find_mipmapped_array(handle);
    return array ? call(*array) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUDA_MEMCPY3D one_row(size_t bytes) {
  CUDA_MEMCPY3D request{};
  request.WidthInBytes = bytes;
  request.Height = request.Depth = 1;
  return request;
}

CUDA_MEMCPY3D into_array(CUarray array, size_t offset, size_t bytes) {
  CUDA_MEMCPY3D request = one_row(bytes);
  request.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  request.dstArray = array;
  request.dstXInBytes = offset;
  return request;
}

CUDA_MEMCPY3D out_of_array(CUarray array, size_t offset, size_t bytes) {
  CUDA_MEMCPY3D request = one_row(bytes);
  request.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  request.srcArray = array;
  request.srcXInBytes = offset;
  return request;
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) {
  return in_context_outside_capture([&](Context& context) {
    if (!pHandle || !pAllocateArray) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR descriptor{pAllocateArray->Width,  pAllocateArray->Height,      0,
                                             pAllocateArray->Format, pAllocateArray->NumChannels, 0};
    return driver_result(Array::create(context, descriptor), pHandle);
  });
}

CUresult cuArray3DCreate_v2(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) {
  return in_context_outside_capture([&](Context& context) {
    return pHandle && pAllocateArray ? driver_result(Array::create(context, *pAllocateArray), pHandle)
                                     : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  return of_array(hArray, [&](Array& array) {
    if (!pArrayDescriptor) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR& d = array.descriptor();
    *pArrayDescriptor = {d.Width, d.Height, d.Format, d.NumChannels};
    return CUDA_SUCCESS;
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray) {
  return of_array(hArray, [&](Array& array) {
    if (!pArrayDescriptor) return CUDA_ERROR_INVALID_VALUE;
    *pArrayDescriptor = array.descriptor();
    return CUDA_SUCCESS;
  });
}

// Arrays with planes, sparse arrays and those whose memory is mapped later cannot be made here, so no array is one. An
// H100's driver refuses to tell the memory of any other.
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUarray array, CUdevice) {
  return of_array(array, [](Array&) { return CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUmipmappedArray mipmap, CUdevice) {
  return of_mipmapped_array(mipmap, [](MipmappedArray&) { return CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuArrayGetPlane(CUarray*, CUarray hArray, unsigned int) {
  return of_array(hArray, [](Array&) { return CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES*, CUarray array) {
  return of_array(array, [](Array&) { return CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES*, CUmipmappedArray mipmap) {
  return of_mipmapped_array(mipmap, [](MipmappedArray&) { return CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuArrayDestroy(CUarray hArray) {
  const auto own = [&] { return context_of_array(hArray); };
  const auto destroy = [&](Context& context) {
    if (!runtime::find_array(hArray)) return CUDA_ERROR_INVALID_HANDLE;
    context.home().wait();  // work in flight may use it
    return driver_result(runtime::destroy_array(hArray));
  };
  return in_own_context(own, CUDA_ERROR_INVALID_HANDLE, outside_capture(destroy));
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                unsigned int numMipmapLevels) {
  return in_context_outside_capture([&](Context& context) {
    if (!pHandle || !pMipmappedArrayDesc) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(MipmappedArray::create(context, *pMipmappedArrayDesc, numMipmapLevels), pHandle);
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level) {
  return of_mipmapped_array(hMipmappedArray, [&](MipmappedArray& array) {
    if (!pLevelArray || level >= array.levels().size()) return CUDA_ERROR_INVALID_VALUE;
    *pLevelArray = array.levels()[level]->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
  const auto own = [&] { return context_of_array(hMipmappedArray); };
  const auto destroy = [&](Context& context) {
    if (!runtime::find_mipmapped_array(hMipmappedArray)) return CUDA_ERROR_INVALID_HANDLE;
    context.home().wait();
    return driver_result(runtime::destroy_mipmapped_array(hMipmappedArray));
  };
  return in_own_context(own, CUDA_ERROR_INVALID_HANDLE, outside_capture(destroy));
}

CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount) {
  CUDA_MEMCPY3D request = into_array(dstArray, dstOffset, ByteCount);
  request.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  request.srcDevice = srcDevice;
  return cuMemcpy3D_v2(&request);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  CUDA_MEMCPY3D request = out_of_array(srcArray, srcOffset, ByteCount);
  request.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  request.dstDevice = dstDevice;
  return cuMemcpy3D_v2(&request);
}
CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount) {
  CUDA_MEMCPY3D request = into_array(dstArray, dstOffset, ByteCount);
  request.srcMemoryType = CU_MEMORYTYPE_HOST;
  request.srcHost = srcHost;
  return cuMemcpy3D_v2(&request);
}
CUresult cuMemcpyAtoH_v2(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  CUDA_MEMCPY3D request = out_of_array(srcArray, srcOffset, ByteCount);
  request.dstMemoryType = CU_MEMORYTYPE_HOST;
  request.dstHost = dstHost;
  return cuMemcpy3D_v2(&request);
}
CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  CUDA_MEMCPY3D request = into_array(dstArray, dstOffset, ByteCount);
  request.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  request.srcArray = srcArray;
  request.srcXInBytes = srcOffset;
  return cuMemcpy3D_v2(&request);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount,
                              CUstream hStream) {
  CUDA_MEMCPY3D request = into_array(dstArray, dstOffset, ByteCount);
  request.srcMemoryType = CU_MEMORYTYPE_HOST;
  request.srcHost = srcHost;
  return cuMemcpy3DAsync_v2(&request, hStream);
}
CUresult cuMemcpyAtoHAsync_v2(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream) {
  CUDA_MEMCPY3D request = out_of_array(srcArray, srcOffset, ByteCount);
  request.dstMemoryType = CU_MEMORYTYPE_HOST;
  request.dstHost = dstHost;
  return cuMemcpy3DAsync_v2(&request, hStream);
}
