// Error handling chapter.
#include <cstring>

#include "cpu/api/entry.hpp"

namespace {

struct Text {
  CUresult code;
  const char* name;
  const char* description;
};

#define TEXT(code, description) {code, #code, description}
constexpr Text texts[] = {
    TEXT(CUDA_SUCCESS, "no error"),
    TEXT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    TEXT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    TEXT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    TEXT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    TEXT(CUDA_ERROR_PROFILER_DISABLED, "profiler disabled while using external profiling tool"),
    TEXT(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "profiler is not initialized"),
    TEXT(CUDA_ERROR_PROFILER_ALREADY_STARTED, "profiler already started"),
    TEXT(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "profiler already stopped"),
    TEXT(CUDA_ERROR_STUB_LIBRARY, "the library in use is a stub"),
    TEXT(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "API call is not supported in the installed CUDA driver"),
    TEXT(CUDA_ERROR_DEVICE_UNAVAILABLE, "the requested device is busy or unavailable"),
    TEXT(CUDA_ERROR_NO_DEVICE, "no device is available"),
    TEXT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    TEXT(CUDA_ERROR_DEVICE_NOT_LICENSED, "the device is not licensed"),
    TEXT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    TEXT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    TEXT(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "context already current"),
    TEXT(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed"),
    TEXT(CUDA_ERROR_UNMAP_FAILED, "unmapping of buffer object failed"),
    TEXT(CUDA_ERROR_ARRAY_IS_MAPPED, "array is mapped"),
    TEXT(CUDA_ERROR_ALREADY_MAPPED, "resource already mapped"),
    TEXT(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    TEXT(CUDA_ERROR_ALREADY_ACQUIRED, "resource already acquired"),
    TEXT(CUDA_ERROR_NOT_MAPPED, "resource not mapped"),
    TEXT(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "resource not mapped as array"),
    TEXT(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "resource not mapped as pointer"),
    TEXT(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered"),
    TEXT(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    TEXT(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "exclusive-thread device already in use by a different thread"),
    TEXT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"),
    TEXT(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    TEXT(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "invalid OpenGL or DirectX context"),
    TEXT(CUDA_ERROR_NVLINK_UNCORRECTABLE, "uncorrectable NVLink error detected during the execution"),
    TEXT(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found"),
    TEXT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain"),
    TEXT(CUDA_ERROR_JIT_COMPILATION_DISABLED, "PTX JIT compilation was disabled"),
    TEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the provided execution affinity is not supported"),
    TEXT(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, "the provided PTX contains an unsupported call to cudaDeviceSynchronize"),
    TEXT(CUDA_ERROR_CONTAINED, "a contained error ended the context"),
    TEXT(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"),
    TEXT(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    TEXT(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"),
    TEXT(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object initialization failed"),
    TEXT(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"),
    TEXT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    TEXT(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    TEXT(CUDA_ERROR_LOSSY_QUERY, "the query would lose information"),
    TEXT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    TEXT(CUDA_ERROR_NOT_READY, "device not ready"),
    TEXT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    TEXT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    TEXT(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    TEXT(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "launch uses incompatible texturing mode"),
    TEXT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    TEXT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    TEXT(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
    TEXT(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    TEXT(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    TEXT(CUDA_ERROR_TOO_MANY_PEERS, "peer mapping resources exhausted"),
    TEXT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped"),
    TEXT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region"),
    TEXT(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    TEXT(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    TEXT(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    TEXT(CUDA_ERROR_INVALID_ADDRESS_SPACE, "operation not supported on global/shared address space"),
    TEXT(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    TEXT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    TEXT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    TEXT(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory not completely freed"),
    TEXT(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    TEXT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    TEXT(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized"),
    TEXT(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "system has unsupported display driver / cuda driver combination"),
    TEXT(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "forward compatibility was attempted on non supported hardware"),
    TEXT(CUDA_ERROR_MPS_CONNECTION_FAILED, "MPS client failed to connect to the MPS control daemon or the MPS server"),
    TEXT(CUDA_ERROR_MPS_RPC_FAILURE, "the remote procedural call between the MPS server and the MPS client failed"),
    TEXT(CUDA_ERROR_MPS_SERVER_NOT_READY, "MPS server is not ready to accept new MPS client requests"),
    TEXT(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "the resources required to create MPS client have been exhausted"),
    TEXT(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "the resources required to support device connections are exhausted"),
    TEXT(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS client has been terminated by the server"),
    TEXT(CUDA_ERROR_CDP_NOT_SUPPORTED, "dynamic parallelism is not supported by this program and device"),
    TEXT(CUDA_ERROR_CDP_VERSION_MISMATCH,
         "the program contains an unsupported interaction between versions of dynamic parallelism"),
    TEXT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    TEXT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"),
    TEXT(CUDA_ERROR_STREAM_CAPTURE_MERGE, "operation would result in a merge of separate capture sequences"),
    TEXT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"),
    TEXT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    TEXT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream"),
    TEXT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
         "operation would make the legacy stream depend on a capturing blocking stream"),
    TEXT(CUDA_ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capturing stream"),
    TEXT(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
         "attempt to terminate a thread-local capture sequence from another thread"),
    TEXT(CUDA_ERROR_TIMEOUT, "wait operation timed out"),
    TEXT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
         "the graph update was not performed because it included changes which violated constraints"),
    TEXT(CUDA_ERROR_EXTERNAL_DEVICE, "an async error has occurred in external entity outside of CUDA"),
    TEXT(CUDA_ERROR_INVALID_CLUSTER_SIZE, "a kernel launch error has occurred due to cluster misconfiguration"),
    TEXT(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function handle is not loaded"),
    TEXT(CUDA_ERROR_INVALID_RESOURCE_TYPE, "one or more resources passed in are not valid resource types"),
    TEXT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "one or more resources are insufficient or not applicable"),
    TEXT(CUDA_ERROR_KEY_ROTATION, "an error happened during a key rotation"),
    TEXT(CUDA_ERROR_UNKNOWN, "unknown error"),
    // Of CUDA 13.1 to 13.5; this driver gives none of them.
    {static_cast<CUresult>(47), "CUDA_ERROR_MULTICAST_RESOURCE_FULL", "a resource that multicast needs is used up"},
    {static_cast<CUresult>(227), "CUDA_ERROR_INSUFFICIENT_LOADER_VERSION", "the loader is too old for the fat binary"},
    {static_cast<CUresult>(917), "CUDA_ERROR_STREAM_DETACHED", "the stream's green context was destroyed"},
    {static_cast<CUresult>(918), "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE", "a graph could not be captured again"},
    {static_cast<CUresult>(919), "CUDA_ERROR_FABRIC_NOT_READY", "the fabric between devices is not ready"},
};
#undef TEXT

CUresult look_up(CUresult error, const char** out, const char* Text::* field) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  for (const Text& text : texts) {
    if (text.code != error) continue;
    *out = text.*field;
    return CUDA_SUCCESS;
  }
  *out = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

// Both answer before cuInit too.
CUresult cuGetErrorString(CUresult error, const char** pStr) { return look_up(error, pStr, &Text::description); }
CUresult cuGetErrorName(CUresult error, const char** pStr) { return look_up(error, pStr, &Text::name); }
