// External resource interoperability chapter: memory by file descriptors. The rest of the chapter needs another API's
// objects (Direct3D, NvSci, the payload of a Vulkan semaphore) and stays a stub.
#include "cpu/runtime/memory/external_memory.hpp"

#include <cstdint>

#include "cpu/api/entry.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

CUresult cuImportExternalMemory(CUexternalMemory* extMem_out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* memHandleDesc) {
  return in_context([&](Context&) {
    if (!extMem_out || !memHandleDesc) return CUDA_ERROR_INVALID_VALUE;
    const auto& given = *memHandleDesc;
    if (given.type < CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD ||
        given.type > CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD ||
        (given.flags & ~static_cast<unsigned int>(CUDA_EXTERNAL_MEMORY_DEDICATED)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (given.type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_NOT_SUPPORTED;
    return driver_result(runtime::import_external_memory(given.handle.fd, given.size), extMem_out);
  });
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr* devPtr, CUexternalMemory extMem,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* bufferDesc) {
  return in_context([&](Context& context) {
    if (!devPtr || !bufferDesc || bufferDesc->flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::map_external_buffer(context, extMem, bufferDesc->offset, bufferDesc->size), devPtr);
  });
}

CUresult cuDestroyExternalMemory(CUexternalMemory extMem) {
  return with_context([&](Context&) {
    return extMem ? driver_result(runtime::destroy_external_memory(extMem)) : CUDA_ERROR_INVALID_VALUE;
  });
}
