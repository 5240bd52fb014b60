"""NVIDIA's cuda.bindings.runtime: the CUDA run-time library, linked into it, on this driver."""

import ctypes

import numpy as np
from checked import checked
from cuda.bindings import driver, nvrtc
from cuda.bindings import runtime as cudart

KERNELS = """
extern "C" __constant__ float factor = 3.0f;
extern "C" __device__ int total = 0;
extern "C" __managed__ int shared_with_host = 5;
extern "C" __global__ void scale(float* values, float by, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * by * factor;
}
extern "C" __global__ void count(int* out) { atomicAdd(&total, 1); *out = total; }
"""

Error = cudart.cudaError_t


def done(answer):
    """What a call gave, once it succeeded."""
    error, *values = answer
    assert error == Error.cudaSuccess, error
    return values[0] if len(values) == 1 else values


def refused(answer, code):
    assert answer[0] == code, answer[0]


def compile_kernels():
    program = done_nvrtc(nvrtc.nvrtcCreateProgram(KERNELS.encode(), b"kernels.cu", 0, [], []))
    done_nvrtc(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_80"]))
    ptx = b" " * done_nvrtc(nvrtc.nvrtcGetPTXSize(program))
    done_nvrtc(nvrtc.nvrtcGetPTX(program, ptx))
    return ptx


def done_nvrtc(answer):
    error, *values = answer
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS, error
    return values[0] if values else None


def versions():
    assert done(cudart.cudaRuntimeGetVersion()) // 1000 == 13
    assert done(cudart.cudaDriverGetVersion()) == driver.cuDriverGetVersion()[1]


def devices():
    assert done(cudart.cudaGetDeviceCount()) == 1
    done(cudart.cudaSetDevice(0))
    assert done(cudart.cudaGetDevice()) == 0
    refused(cudart.cudaSetDevice(7), Error.cudaErrorInvalidDevice)
    assert done(cudart.cudaDeviceGetByPCIBusId(done(cudart.cudaDeviceGetPCIBusId(16, 0)))) == 0
    least, greatest = done(cudart.cudaDeviceGetStreamPriorityRange())
    assert greatest < least == 0
    assert done(cudart.cudaDeviceGetLimit(cudart.cudaLimit.cudaLimitPrintfFifoSize)) > 0
    done(cudart.cudaDeviceSetLimit(cudart.cudaLimit.cudaLimitStackSize, 2048))
    assert done(cudart.cudaDeviceGetLimit(cudart.cudaLimit.cudaLimitStackSize)) == 2048
    done(cudart.cudaInitDevice(0, 0, 0))
    done(cudart.cudaGetDeviceFlags())
    assert done(cudart.cudaChooseDevice(done(cudart.cudaGetDeviceProperties(0)))) == 0


def properties():
    found = done(cudart.cudaGetDeviceProperties(0))
    Attribute = cudart.cudaDeviceAttr
    assert found.name.startswith(b"cucore CPU device"), found.name
    assert found.warpSize == 32 and found.maxThreadsPerBlock == 1024
    assert found.major == done(cudart.cudaDeviceGetAttribute(Attribute.cudaDevAttrComputeCapabilityMajor, 0))
    assert found.minor == done(cudart.cudaDeviceGetAttribute(Attribute.cudaDevAttrComputeCapabilityMinor, 0))
    assert found.multiProcessorCount == done(cudart.cudaDeviceGetAttribute(Attribute.cudaDevAttrMultiProcessorCount, 0))
    assert bytes(found.uuid.bytes) == bytes(driver.cuDeviceGetUuid(0)[1].bytes)
    assert found.totalGlobalMem == driver.cuDeviceTotalMem(0)[1]
    assert found.managedMemory and found.unifiedAddressing and found.memoryPoolsSupported


def memory():
    free, total = done(cudart.cudaMemGetInfo())
    assert 0 < free <= total
    there = np.arange(1000, dtype=np.int32)
    back = np.zeros_like(there)
    on_device = done(cudart.cudaMalloc(there.nbytes))
    Kind = cudart.cudaMemcpyKind
    done(cudart.cudaMemcpy(on_device, there.ctypes.data, there.nbytes, Kind.cudaMemcpyHostToDevice))
    done(cudart.cudaMemset(on_device, 0xFF, 40))
    done(cudart.cudaMemcpy(back.ctypes.data, on_device, there.nbytes, Kind.cudaMemcpyDefault))
    assert (back[:10] == -1).all() and (back[10:] == there[10:]).all()
    found = done(cudart.cudaPointerGetAttributes(on_device))
    assert found.type == cudart.cudaMemoryType.cudaMemoryTypeDevice and found.device == 0
    pointer, pitch = done(cudart.cudaMallocPitch(100, 7))
    assert pitch >= 100
    done(cudart.cudaMemset2D(pointer, pitch, 9, 100, 7))
    rows = np.zeros((7, 100), dtype=np.uint8)
    done(cudart.cudaMemcpy2D(rows.ctypes.data, 100, pointer, pitch, 100, 7, Kind.cudaMemcpyDeviceToHost))
    assert (rows == 9).all()
    for each in (on_device, pointer):
        done(cudart.cudaFree(each))
    refused(cudart.cudaFree(on_device), Error.cudaErrorInvalidValue)
    refused(cudart.cudaMalloc(1 << 60), Error.cudaErrorMemoryAllocation)
    assert done_last() == Error.cudaErrorMemoryAllocation and done_last() == Error.cudaSuccess


def done_last():
    return cudart.cudaGetLastError()[0]


def host_memory():
    pinned = done(cudart.cudaHostAlloc(4096, cudart.cudaHostAllocMapped))
    assert done(cudart.cudaPointerGetAttributes(pinned)).type == cudart.cudaMemoryType.cudaMemoryTypeHost
    assert done(cudart.cudaHostGetDevicePointer(pinned, 0))
    assert done(cudart.cudaHostGetFlags(pinned)) & cudart.cudaHostAllocMapped
    done(cudart.cudaFreeHost(pinned))
    ours = np.zeros(1 << 16, dtype=np.uint8)
    done(cudart.cudaHostRegister(ours.ctypes.data, ours.nbytes, cudart.cudaHostRegisterDefault))
    refused(cudart.cudaHostRegister(ours.ctypes.data, ours.nbytes, 0), Error.cudaErrorHostMemoryAlreadyRegistered)
    done(cudart.cudaHostUnregister(ours.ctypes.data))
    managed = done(cudart.cudaMallocManaged(64, cudart.cudaMemAttachGlobal))
    ctypes.memset(managed, 7, 64)
    assert done(cudart.cudaPointerGetAttributes(managed)).type == cudart.cudaMemoryType.cudaMemoryTypeManaged
    here = cudart.cudaMemLocation()
    here.type, here.id = cudart.cudaMemLocationType.cudaMemLocationTypeDevice, 0
    done(cudart.cudaMemAdvise(managed, 64, cudart.cudaMemoryAdvise.cudaMemAdviseSetReadMostly, here))
    done(cudart.cudaMemPrefetchAsync(managed, 64, here, 0, 0))
    done(cudart.cudaDeviceSynchronize())
    assert ctypes.string_at(managed, 64) == bytes([7]) * 64
    done(cudart.cudaFree(managed))


def pools():
    stream = done(cudart.cudaStreamCreate())
    pointer = done(cudart.cudaMallocAsync(1024, stream))
    done(cudart.cudaMemsetAsync(pointer, 3, 1024, stream))
    out = np.zeros(1024, dtype=np.uint8)
    done(cudart.cudaMemcpyAsync(out.ctypes.data, pointer, 1024, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost, stream))
    done(cudart.cudaFreeAsync(pointer, stream))
    done(cudart.cudaStreamSynchronize(stream))
    assert (out == 3).all()
    pool = done(cudart.cudaDeviceGetDefaultMemPool(0))
    done(cudart.cudaMemPoolTrimTo(pool, 0))
    attribute = cudart.cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold
    done(cudart.cudaMemPoolSetAttribute(pool, attribute, driver.cuuint64_t(1 << 20)))
    assert int(done(cudart.cudaMemPoolGetAttribute(pool, attribute))) == 1 << 20
    done(cudart.cudaStreamDestroy(stream))


def streams_and_events():
    stream = done(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking))
    assert done(cudart.cudaStreamGetFlags(stream)) == cudart.cudaStreamNonBlocking
    assert done(cudart.cudaStreamGetDevice(stream)) == 0
    low = done(cudart.cudaStreamCreateWithPriority(cudart.cudaStreamDefault, -1))
    assert done(cudart.cudaStreamGetPriority(low)) == -1
    first, last = done(cudart.cudaEventCreate()), done(cudart.cudaEventCreate())
    done(cudart.cudaEventRecord(first, stream))
    done(cudart.cudaStreamWaitEvent(low, first, 0))
    done(cudart.cudaEventRecord(last, low))
    done(cudart.cudaEventSynchronize(last))
    assert cudart.cudaEventQuery(last)[0] == Error.cudaSuccess
    assert done(cudart.cudaEventElapsedTime(first, last)) >= 0
    assert cudart.cudaStreamQuery(stream)[0] == Error.cudaSuccess
    untimed = done(cudart.cudaEventCreateWithFlags(cudart.cudaEventDisableTiming))
    refused(cudart.cudaEventElapsedTime(first, untimed), Error.cudaErrorInvalidResourceHandle)
    called = []
    kept = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: called.append(data))
    function = cudart.cudaHostFn_t(ctypes.cast(kept, ctypes.c_void_p).value)
    done(cudart.cudaLaunchHostFunc(stream, function, 11))
    done(cudart.cudaStreamSynchronize(stream))
    assert called == [11], called
    for each in (first, last, untimed):
        done(cudart.cudaEventDestroy(each))
    for each in (stream, low):
        done(cudart.cudaStreamDestroy(each))


def errors():
    assert done(cudart.cudaGetErrorName(Error.cudaErrorInvalidValue)) == b"cudaErrorInvalidValue"
    assert done(cudart.cudaGetErrorString(Error.cudaErrorInvalidValue)) == b"invalid argument"
    refused(cudart.cudaMemcpy(0, 0, 16, cudart.cudaMemcpyKind.cudaMemcpyHostToDevice), Error.cudaErrorInvalidValue)
    assert cudart.cudaPeekAtLastError()[0] == Error.cudaErrorInvalidValue
    assert done_last() == Error.cudaErrorInvalidValue and done_last() == Error.cudaSuccess


def node_parameters(kernel, pointer, count):
    """Parameters of a graph's kernel node: scale, by 2."""
    parameters = cudart.cudaKernelNodeParams()
    parameters.func = int(kernel)
    for dimensions, x in ((parameters.gridDim, -(-count // 128)), (parameters.blockDim, 128)):
        dimensions.x, dimensions.y, dimensions.z = x, 1, 1
    parameters.kernelParams = ((pointer, 2.0, count), (ctypes.c_void_p, ctypes.c_float, ctypes.c_int))
    return parameters


def launch(kernel, grid, block, stream, values, types):
    """With the driver, as this version of the bindings has no launch of its own: kernels are the driver's, too."""
    handle = driver.CUkernel(int(kernel))
    return driver.cuLaunchKernel(handle, grid, 1, 1, block, 1, 1, 0, int(stream), (values, types), 0)


def libraries_and_kernels():
    library = done(cudart.cudaLibraryLoadData(compile_kernels(), [], [], 0, [], [], 0))
    assert done(cudart.cudaLibraryGetKernelCount(library)) == 2
    assert len(done(cudart.cudaLibraryEnumerateKernels(2, library))) == 2
    scale = done(cudart.cudaLibraryGetKernel(library, b"scale"))
    refused(cudart.cudaLibraryGetKernel(library, b"nothing"), Error.cudaErrorSymbolNotFound)
    address, size = done(cudart.cudaLibraryGetGlobal(library, b"factor"))
    assert size == 4
    factor = np.zeros(1, dtype=np.float32)
    done(cudart.cudaMemcpy(factor.ctypes.data, address, 4, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost))
    assert factor[0] == 3.0
    address, _ = done(cudart.cudaLibraryGetManaged(library, b"shared_with_host"))
    assert ctypes.c_int.from_address(int(address)).value == 5
    assert done(cudart.cudaFuncGetAttributes(int(scale))).maxThreadsPerBlock == 1024
    assert done(cudart.cudaOccupancyMaxActiveBlocksPerMultiprocessor(int(scale), 128, 0)) > 0
    kernel_attribute = cudart.cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize
    done(cudart.cudaKernelSetAttributeForDevice(int(scale), kernel_attribute, 65536, 0))
    assert done(cudart.cudaFuncGetAttributes(int(scale))).maxDynamicSharedSizeBytes == 65536
    values = np.arange(1000, dtype=np.float32)
    pointer = done(cudart.cudaMalloc(values.nbytes))
    Kind = cudart.cudaMemcpyKind
    done(cudart.cudaMemcpy(pointer, values.ctypes.data, values.nbytes, Kind.cudaMemcpyHostToDevice))
    stream = done(cudart.cudaStreamCreate())
    types = (ctypes.c_void_p, ctypes.c_float, ctypes.c_int)
    assert launch(scale, 8, 128, stream, (pointer, 2.0, 1000), types)[0] == driver.CUresult.CUDA_SUCCESS
    done(cudart.cudaStreamSynchronize(stream))
    out = np.zeros_like(values)
    done(cudart.cudaMemcpy(out.ctypes.data, pointer, out.nbytes, Kind.cudaMemcpyDeviceToHost))
    assert (out == values * 6).all()
    done(cudart.cudaStreamDestroy(stream))
    done(cudart.cudaFree(pointer))
    done(cudart.cudaLibraryUnload(library))
    refused(cudart.cudaLibraryUnload(library), Error.cudaErrorInvalidResourceHandle)


def graphs():
    library = done(cudart.cudaLibraryLoadData(compile_kernels(), [], [], 0, [], [], 0))
    scale = done(cudart.cudaLibraryGetKernel(library, b"scale"))
    values = np.arange(1000, dtype=np.float32)
    out = np.zeros_like(values)
    pointer = done(cudart.cudaMalloc(values.nbytes))
    Kind = cudart.cudaMemcpyKind
    stream = done(cudart.cudaStreamCreate())
    done(cudart.cudaStreamBeginCapture(stream, cudart.cudaStreamCaptureMode.cudaStreamCaptureModeThreadLocal))
    done(cudart.cudaMemcpyAsync(pointer, values.ctypes.data, values.nbytes, Kind.cudaMemcpyHostToDevice, stream))
    types = (ctypes.c_void_p, ctypes.c_float, ctypes.c_int)
    assert launch(scale, 8, 128, stream, (pointer, 2.0, 1000), types)[0] == driver.CUresult.CUDA_SUCCESS
    capturing = cudart.cudaStreamCaptureStatus.cudaStreamCaptureStatusActive
    assert done(cudart.cudaStreamIsCapturing(stream)) == capturing
    refused(cudart.cudaStreamSynchronize(stream), Error.cudaErrorStreamCaptureUnsupported)
    assert cudart.cudaStreamEndCapture(stream)[0] == Error.cudaErrorStreamCaptureInvalidated
    done_last()
    done(cudart.cudaStreamBeginCapture(stream, cudart.cudaStreamCaptureMode.cudaStreamCaptureModeThreadLocal))
    done(cudart.cudaMemcpyAsync(pointer, values.ctypes.data, values.nbytes, Kind.cudaMemcpyHostToDevice, stream))
    assert launch(scale, 8, 128, stream, (pointer, 2.0, 1000), types)[0] == driver.CUresult.CUDA_SUCCESS
    graph = done(cudart.cudaStreamEndCapture(stream))
    nodes, count = done(cudart.cudaGraphGetNodes(graph, 8))
    assert count == 2 and len(nodes) >= 2
    parameters = node_parameters(scale, pointer, 1000)
    added = done(cudart.cudaGraphAddKernelNode(graph, [nodes[1]], 1, parameters))
    assert done(cudart.cudaGraphNodeGetType(added)) == cudart.cudaGraphNodeType.cudaGraphNodeTypeKernel
    executable = done(cudart.cudaGraphInstantiate(graph, 0))
    done(cudart.cudaGraphLaunch(executable, stream))
    done(cudart.cudaMemcpyAsync(out.ctypes.data, pointer, out.nbytes, Kind.cudaMemcpyDeviceToHost, stream))
    done(cudart.cudaStreamSynchronize(stream))
    assert (out == values * 36).all()
    done(cudart.cudaGraphExecKernelNodeSetParams(executable, added, node_parameters(scale, pointer, 500)))
    done(cudart.cudaGraphLaunch(executable, stream))
    done(cudart.cudaStreamSynchronize(stream))
    done(cudart.cudaMemcpy(out.ctypes.data, pointer, out.nbytes, Kind.cudaMemcpyDeviceToHost))
    assert (out[:500] == values[:500] * 36).all() and (out[500:] == values[500:] * 6).all()
    done(cudart.cudaGraphExecDestroy(executable))
    done(cudart.cudaGraphDestroy(graph))
    done(cudart.cudaStreamDestroy(stream))
    done(cudart.cudaFree(pointer))
    done(cudart.cudaLibraryUnload(library))


def arrays_and_textures():
    channels = cudart.cudaChannelFormatDesc()
    channels.x, channels.f = 32, cudart.cudaChannelFormatKind.cudaChannelFormatKindFloat
    array = done(cudart.cudaMallocArray(channels, 16, 4, 0))
    there = np.arange(64, dtype=np.float32)
    back = np.zeros_like(there)
    Kind = cudart.cudaMemcpyKind
    done(cudart.cudaMemcpy2DToArray(array, 0, 0, there.ctypes.data, 64, 64, 4, Kind.cudaMemcpyHostToDevice))
    done(cudart.cudaMemcpy2DFromArray(back.ctypes.data, 64, array, 0, 0, 64, 4, Kind.cudaMemcpyDeviceToHost))
    assert (there == back).all()
    found, extent, _ = done(cudart.cudaArrayGetInfo(array))
    assert found.x == 32 and (extent.width, extent.height) == (16, 4)
    resource, texture = cudart.cudaResourceDesc(), cudart.cudaTextureDesc()
    resource.resType = cudart.cudaResourceType.cudaResourceTypeArray
    resource.res.array.array = array
    made = done(cudart.cudaCreateTextureObject(resource, texture, None))
    assert done(cudart.cudaGetTextureObjectResourceDesc(made)).resType == resource.resType
    done(cudart.cudaDestroyTextureObject(made))
    done(cudart.cudaFreeArray(array))


def reset():
    before = done(cudart.cudaMalloc(64))
    stream = done(cudart.cudaStreamCreate())
    done(cudart.cudaDeviceReset())
    assert cudart.cudaStreamSynchronize(stream)[0] != Error.cudaSuccess
    done_last()
    after = done(cudart.cudaMalloc(64))
    done(cudart.cudaFree(after))
    assert cudart.cudaFree(before)[0] != Error.cudaSuccess
    done_last()
    done(cudart.cudaDeviceSynchronize())


for part in (
    versions,
    devices,
    properties,
    memory,
    host_memory,
    pools,
    streams_and_events,
    errors,
    libraries_and_kernels,
    graphs,
    arrays_and_textures,
    reset,
):
    checked(part.__name__, part)
