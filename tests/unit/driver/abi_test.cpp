// The driver ABI as src/driver declares it, compared with the real cuda.h: sizes, offsets, values, and the signature of
// every function in the list.
// First, since cuda.h makes macros of some of the names.
#include "src/driver/abi.hpp"
#include "cucore/device.hpp"
#include "src/driver/table.hpp"

namespace {
const void* const our_legacy_stream = cucore::driver::CU_STREAM_LEGACY;
const void* const our_per_thread_stream = cucore::driver::CU_STREAM_PER_THREAD;
constexpr unsigned our_array_flags[] = {cucore::driver::CUDA_ARRAY3D_LAYERED, cucore::driver::CUDA_ARRAY3D_SURFACE_LDST,
                                        cucore::driver::CUDA_ARRAY3D_CUBEMAP};
constexpr unsigned our_texture_flags[] = {cucore::driver::CU_TRSF_READ_AS_INTEGER,
                                          cucore::driver::CU_TRSF_NORMALIZED_COORDINATES, cucore::driver::CU_TRSF_SRGB,
                                          cucore::driver::CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
                                          cucore::driver::CU_TRSF_SEAMLESS_CUBEMAP};
constexpr unsigned our_assign_default = cucore::driver::CU_GRAPH_COND_ASSIGN_DEFAULT;
}  // namespace

#include <cuda.h>
#include <cudaTypedefs.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <type_traits>

// cuda.h redirects some names to their versioned ones by macros; the list here uses the plain names.
#undef cuDeviceTotalMem
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease
#undef cuStreamDestroy
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuIpcOpenEventHandle
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
#undef cuGraphAddNode
#undef cuGraphKernelNodeGetParams
#undef cuGraphExecUpdate
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemGetInfo
#undef cuMemAllocHost
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuMemcpyBatchAsync
#undef cuMemcpyAsync
#undef cuMemcpyPeerAsync
#undef cuMemcpy3DAsync
#undef cuGraphicsResourceGetMappedPointer
#undef cuArray3DCreate
#undef cuArray3DGetDescriptor
#undef cuMemsetD8Async
#undef cuMemsetD16Async
#undef cuMemsetD32Async
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies
#undef cuStreamGetCtx
#undef cuCtxGetDevice
#undef cuCtxSynchronize
#undef cuLinkCreate
#undef cuLinkAddData
#undef cuMemGetMemPool
#undef cuMemGetDefaultMemPool

namespace {

namespace mine = cucore::driver;

#define SAME_VALUE(name) static_assert(static_cast<long>(mine::name) == static_cast<long>(::name), #name)
#define SAME_SIZE(type) \
  static_assert(sizeof(mine::type) == sizeof(::type) && alignof(mine::type) == alignof(::type), #type)
#define SAME_OFFSET(type, member) static_assert(offsetof(mine::type, member) == offsetof(::type, member), #type)

SAME_VALUE(CU_STREAM_DEFAULT);
SAME_VALUE(CU_STREAM_NON_BLOCKING);
SAME_VALUE(CU_EVENT_RECORD_EXTERNAL);
SAME_VALUE(CU_EVENT_WAIT_EXTERNAL);
SAME_VALUE(CU_LIMIT_STACK_SIZE);
SAME_VALUE(CU_LIMIT_PRINTF_FIFO_SIZE);
SAME_VALUE(CU_LIMIT_MALLOC_HEAP_SIZE);
SAME_VALUE(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH);
SAME_VALUE(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT);
SAME_VALUE(CU_LIMIT_MAX_L2_FETCH_GRANULARITY);
SAME_VALUE(CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
SAME_VALUE(CU_EVENT_DEFAULT);
SAME_VALUE(CU_EVENT_BLOCKING_SYNC);
SAME_VALUE(CU_EVENT_DISABLE_TIMING);
SAME_VALUE(CU_EVENT_INTERPROCESS);
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_NONE);
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_INVALIDATED);
SAME_VALUE(CU_STREAM_SET_CAPTURE_DEPENDENCIES);
SAME_VALUE(CU_STREAM_CAPTURE_MODE_GLOBAL);
SAME_VALUE(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME_VALUE(CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
SAME_VALUE(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
SAME_VALUE(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME_VALUE(CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME_VALUE(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_VALUE(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME_VALUE(CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME_VALUE(CU_MEMORYTYPE_HOST);
SAME_VALUE(CU_MEMORYTYPE_DEVICE);
SAME_VALUE(CU_MEM_ALLOCATION_TYPE_PINNED);
#if CUDA_VERSION >= 13000
SAME_VALUE(CU_MEM_ALLOCATION_TYPE_MANAGED);
SAME_VALUE(CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE);
#endif
SAME_VALUE(CU_MEM_HANDLE_TYPE_NONE);
SAME_VALUE(CU_MEM_LOCATION_TYPE_DEVICE);
SAME_VALUE(CU_MEM_LOCATION_TYPE_HOST);
SAME_VALUE(CU_MEM_LOCATION_TYPE_HOST_NUMA);
SAME_VALUE(CU_MEM_ACCESS_FLAGS_PROT_NONE);
SAME_VALUE(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME_VALUE(CU_MEM_ALLOCATION_TYPE_MANAGED);
SAME_VALUE(CU_MEM_LOCATION_TYPE_NONE);
SAME_VALUE(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
SAME_VALUE(CU_MEM_ATTACH_GLOBAL);
SAME_VALUE(CU_MEM_ADVISE_SET_READ_MOSTLY);
SAME_VALUE(CU_MEM_ADVISE_UNSET_READ_MOSTLY);
SAME_VALUE(CU_MEM_ADVISE_SET_PREFERRED_LOCATION);
SAME_VALUE(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION);
SAME_VALUE(CU_MEM_ADVISE_SET_ACCESSED_BY);
SAME_VALUE(CU_MEM_ADVISE_UNSET_ACCESSED_BY);
SAME_VALUE(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY);
SAME_VALUE(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION);
SAME_VALUE(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
SAME_VALUE(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION);
SAME_VALUE(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE);
SAME_VALUE(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID);
SAME_VALUE(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE);
SAME_VALUE(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
SAME_VALUE(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
SAME_VALUE(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
SAME_VALUE(CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
SAME_VALUE(CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);
SAME_VALUE(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME_VALUE(CU_MEM_HANDLE_TYPE_WIN32_KMT);
SAME_VALUE(CU_MEM_HANDLE_TYPE_FABRIC);
SAME_VALUE(CU_MEM_ALLOC_GRANULARITY_MINIMUM);
SAME_VALUE(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
SAME_VALUE(CU_MEM_ACCESS_FLAGS_PROT_READ);
SAME_VALUE(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES);
SAME_VALUE(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC);
SAME_VALUE(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
SAME_VALUE(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME_VALUE(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
SAME_VALUE(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
SAME_VALUE(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
SAME_VALUE(CU_MEMPOOL_ATTR_USED_MEM_HIGH);
SAME_VALUE(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
SAME_VALUE(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH);
SAME_VALUE(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
SAME_VALUE(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
SAME_VALUE(CU_JIT_MAX_REGISTERS);
SAME_VALUE(CU_JIT_OPTIMIZATION_LEVEL);
SAME_VALUE(CU_JIT_TARGET);
SAME_VALUE(CU_JIT_GENERATE_DEBUG_INFO);
SAME_VALUE(CU_JIT_LOG_VERBOSE);
SAME_VALUE(CU_JIT_GENERATE_LINE_INFO);
SAME_VALUE(CU_JIT_CACHE_MODE);
SAME_VALUE(CU_JIT_CACHE_OPTION_NONE);
SAME_VALUE(CU_JIT_INPUT_CUBIN);
SAME_VALUE(CU_JIT_INPUT_PTX);
SAME_VALUE(CU_JIT_INPUT_FATBINARY);
SAME_VALUE(CU_JIT_INPUT_OBJECT);
SAME_VALUE(CU_JIT_INPUT_LIBRARY);
static_assert(mine::accelerated_target == CU_COMPUTE_ACCELERATED_TARGET_BASE);
static_assert(mine::family_target == CU_COMPUTE_FAMILY_TARGET_BASE);
SAME_VALUE(CU_JIT_INFO_LOG_BUFFER);
SAME_VALUE(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_PRIORITY);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
SAME_VALUE(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME_VALUE(CU_GREEN_CTX_DEFAULT_STREAM);
SAME_VALUE(CU_DEV_RESOURCE_TYPE_INVALID);
SAME_VALUE(CU_DEV_RESOURCE_TYPE_SM);
#if CUDA_VERSION >= 13010
SAME_VALUE(CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG);
SAME_VALUE(CU_WORKQUEUE_SCOPE_DEVICE_CTX);
SAME_VALUE(CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED);
SAME_VALUE(CU_DEV_SM_RESOURCE_GROUP_BACKFILL);
#endif
SAME_VALUE(CU_GRAPH_NODE_TYPE_KERNEL);
SAME_VALUE(CU_GRAPH_NODE_TYPE_MEMCPY);
SAME_VALUE(CU_GRAPH_NODE_TYPE_MEMSET);
SAME_VALUE(CU_GRAPH_NODE_TYPE_HOST);
SAME_VALUE(CU_GRAPH_NODE_TYPE_GRAPH);
SAME_VALUE(CU_GRAPH_NODE_TYPE_EMPTY);
SAME_VALUE(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
SAME_VALUE(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
SAME_VALUE(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
SAME_VALUE(CU_GRAPH_NODE_TYPE_MEM_FREE);
SAME_VALUE(CU_GRAPH_NODE_TYPE_CONDITIONAL);
SAME_VALUE(CU_GRAPH_COND_TYPE_IF);
SAME_VALUE(CU_GRAPH_COND_TYPE_WHILE);
SAME_VALUE(CU_GRAPH_COND_TYPE_SWITCH);
static_assert(our_assign_default == CU_GRAPH_COND_ASSIGN_DEFAULT);
SAME_VALUE(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
SAME_VALUE(CU_GRAPH_USER_OBJECT_MOVE);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_SUCCESS);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_ERROR);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED);
SAME_VALUE(CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
SAME_VALUE(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
SAME_VALUE(CU_MEMORYTYPE_ARRAY);
SAME_VALUE(CU_MEMORYTYPE_UNIFIED);
SAME_VALUE(CU_AD_FORMAT_UNSIGNED_INT8);
SAME_VALUE(CU_AD_FORMAT_UNSIGNED_INT16);
SAME_VALUE(CU_AD_FORMAT_UNSIGNED_INT32);
SAME_VALUE(CU_AD_FORMAT_SIGNED_INT8);
SAME_VALUE(CU_AD_FORMAT_SIGNED_INT16);
SAME_VALUE(CU_AD_FORMAT_SIGNED_INT32);
SAME_VALUE(CU_AD_FORMAT_HALF);
SAME_VALUE(CU_AD_FORMAT_FLOAT);
SAME_VALUE(CU_RESOURCE_TYPE_ARRAY);
SAME_VALUE(CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
SAME_VALUE(CU_RESOURCE_TYPE_LINEAR);
SAME_VALUE(CU_RESOURCE_TYPE_PITCH2D);
SAME_VALUE(CU_TR_ADDRESS_MODE_WRAP);
SAME_VALUE(CU_TR_ADDRESS_MODE_CLAMP);
SAME_VALUE(CU_TR_ADDRESS_MODE_MIRROR);
SAME_VALUE(CU_TR_ADDRESS_MODE_BORDER);
SAME_VALUE(CU_TR_FILTER_MODE_POINT);
SAME_VALUE(CU_TR_FILTER_MODE_LINEAR);

SAME_SIZE(CUuuid);
SAME_SIZE(CUipcEventHandle);
SAME_SIZE(CUmemLocation);
SAME_OFFSET(CUmemLocation, id);
SAME_SIZE(CUmemAccessDesc);
SAME_OFFSET(CUmemAccessDesc, flags);
SAME_SIZE(CUmemAllocationProp);
SAME_OFFSET(CUmemAllocationProp, requestedHandleTypes);
SAME_OFFSET(CUmemAllocationProp, location);
static_assert(offsetof(mine::CUmemAllocationProp, gpuDirectRDMACapable) ==
              offsetof(::CUmemAllocationProp, allocFlags.gpuDirectRDMACapable));
static_assert(sizeof(mine::CUmemGenericAllocationHandle) == sizeof(::CUmemGenericAllocationHandle));
SAME_SIZE(CUmemcpyAttributes);
SAME_OFFSET(CUmemcpyAttributes, srcLocHint);
SAME_OFFSET(CUmemcpyAttributes, dstLocHint);
SAME_OFFSET(CUmemcpyAttributes, flags);
SAME_SIZE(CUmemPoolProps);
SAME_OFFSET(CUmemPoolProps, handleTypes);
SAME_OFFSET(CUmemPoolProps, location);
SAME_OFFSET(CUmemPoolProps, win32SecurityAttributes);
SAME_OFFSET(CUmemPoolProps, maxSize);
SAME_OFFSET(CUmemPoolProps, usage);
SAME_OFFSET(CUmemPoolProps, reserved);
SAME_SIZE(CUlaunchAttributeValue);
SAME_OFFSET(CUlaunchAttributeValue, cooperative);
SAME_OFFSET(CUlaunchAttributeValue, syncPolicy);
SAME_OFFSET(CUlaunchAttributeValue, clusterDim);
static_assert(sizeof(mine::CUdevResource) == sizeof(::CUdevResource));
SAME_OFFSET(CUdevResource, sm);
SAME_OFFSET(CUdevResource, sm.minSmPartitionSize);
SAME_OFFSET(CUdevResource, sm.smCoscheduledAlignment);
#if CUDA_VERSION >= 13010
SAME_OFFSET(CUdevResource, sm.flags);
SAME_OFFSET(CUdevResource, wqConfig.wqConcurrencyLimit);
SAME_OFFSET(CUdevResource, wqConfig.sharingScope);
SAME_OFFSET(CUdevResource, nextResource);
SAME_SIZE(CU_DEV_SM_RESOURCE_GROUP_PARAMS);
SAME_OFFSET(CU_DEV_SM_RESOURCE_GROUP_PARAMS, preferredCoscheduledSmCount);
SAME_OFFSET(CU_DEV_SM_RESOURCE_GROUP_PARAMS, flags);
#endif
SAME_SIZE(CUaccessPolicyWindow);
SAME_OFFSET(CUaccessPolicyWindow, num_bytes);
SAME_OFFSET(CUaccessPolicyWindow, hitRatio);
SAME_OFFSET(CUaccessPolicyWindow, hitProp);
SAME_OFFSET(CUaccessPolicyWindow, missProp);
SAME_SIZE(CUlaunchMemSyncDomainMap);
SAME_OFFSET(CUlaunchMemSyncDomainMap, remote);
SAME_OFFSET(CUlaunchAttributeValue, programmaticEvent.triggerAtBlockStart);
SAME_OFFSET(CUlaunchAttributeValue, launchCompletionEvent.flags);
SAME_OFFSET(CUlaunchAttributeValue, preferredClusterDim.z);
SAME_OFFSET(CUlaunchAttributeValue, sharedMemCarveout);
SAME_SIZE(CUlaunchAttribute);
SAME_OFFSET(CUlaunchAttribute, value);
SAME_SIZE(CUlaunchConfig);
SAME_OFFSET(CUlaunchConfig, gridDimX);
SAME_OFFSET(CUlaunchConfig, blockDimX);
SAME_OFFSET(CUlaunchConfig, sharedMemBytes);
SAME_OFFSET(CUlaunchConfig, hStream);
SAME_OFFSET(CUlaunchConfig, attrs);
SAME_OFFSET(CUlaunchConfig, numAttrs);
SAME_VALUE(CU_PROCESS_STATE_RUNNING);
SAME_VALUE(CU_PROCESS_STATE_FAILED);
SAME_SIZE(CUcheckpointLockArgs);
SAME_SIZE(CUcheckpointCheckpointArgs);
SAME_SIZE(CUcheckpointGpuPair);
SAME_OFFSET(CUcheckpointGpuPair, newUuid);
SAME_SIZE(CUcheckpointRestoreArgs);
SAME_OFFSET(CUcheckpointRestoreArgs, gpuPairsCount);
SAME_OFFSET(CUcheckpointRestoreArgs, reserved1);
SAME_SIZE(CUcheckpointUnlockArgs);
SAME_SIZE(CUDA_ARRAY3D_DESCRIPTOR);
SAME_OFFSET(CUDA_ARRAY3D_DESCRIPTOR, Depth);
SAME_OFFSET(CUDA_ARRAY3D_DESCRIPTOR, Format);
SAME_OFFSET(CUDA_ARRAY3D_DESCRIPTOR, Flags);
SAME_SIZE(CUDA_MEMCPY3D);
SAME_OFFSET(CUDA_MEMCPY3D, srcMemoryType);
SAME_OFFSET(CUDA_MEMCPY3D, srcArray);
SAME_OFFSET(CUDA_MEMCPY3D, srcHeight);
SAME_OFFSET(CUDA_MEMCPY3D, dstMemoryType);
SAME_OFFSET(CUDA_MEMCPY3D, dstArray);
SAME_OFFSET(CUDA_MEMCPY3D, dstHeight);
SAME_OFFSET(CUDA_MEMCPY3D, Depth);
SAME_SIZE(CUDA_RESOURCE_DESC);
SAME_OFFSET(CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
SAME_OFFSET(CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
SAME_OFFSET(CUDA_RESOURCE_DESC, flags);
SAME_SIZE(CUDA_TEXTURE_DESC);
SAME_OFFSET(CUDA_TEXTURE_DESC, flags);
SAME_OFFSET(CUDA_TEXTURE_DESC, mipmapFilterMode);
SAME_OFFSET(CUDA_TEXTURE_DESC, borderColor);
// Macros there.
static_assert(our_array_flags[0] == CUDA_ARRAY3D_LAYERED && our_array_flags[1] == CUDA_ARRAY3D_SURFACE_LDST &&
              our_array_flags[2] == CUDA_ARRAY3D_CUBEMAP);
static_assert(our_texture_flags[0] == CU_TRSF_READ_AS_INTEGER &&
              our_texture_flags[1] == CU_TRSF_NORMALIZED_COORDINATES && our_texture_flags[2] == CU_TRSF_SRGB &&
              our_texture_flags[3] == CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION &&
              our_texture_flags[4] == CU_TRSF_SEAMLESS_CUBEMAP);
SAME_SIZE(CUgraphEdgeData);
SAME_OFFSET(CUgraphEdgeData, type);
SAME_SIZE(CUDA_KERNEL_NODE_PARAMS);
SAME_OFFSET(CUDA_KERNEL_NODE_PARAMS, gridDimX);
SAME_OFFSET(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
SAME_OFFSET(CUDA_KERNEL_NODE_PARAMS, kernelParams);
SAME_OFFSET(CUDA_KERNEL_NODE_PARAMS, kern);
SAME_OFFSET(CUDA_KERNEL_NODE_PARAMS, ctx);
SAME_OFFSET(CUDA_MEMCPY3D, srcHost);
SAME_OFFSET(CUDA_MEMCPY3D, srcDevice);
SAME_OFFSET(CUDA_MEMCPY3D, dstHost);
SAME_OFFSET(CUDA_MEMCPY3D, dstDevice);
SAME_OFFSET(CUDA_MEMCPY3D, WidthInBytes);
SAME_SIZE(CUDA_MEMCPY_NODE_PARAMS);
SAME_OFFSET(CUDA_MEMCPY_NODE_PARAMS, copyCtx);
SAME_OFFSET(CUDA_MEMCPY_NODE_PARAMS, copyParams);
SAME_SIZE(CUDA_MEMSET_NODE_PARAMS);
SAME_OFFSET(CUDA_MEMSET_NODE_PARAMS, elementSize);
SAME_OFFSET(CUDA_MEMSET_NODE_PARAMS, height);
SAME_SIZE(CUDA_MEMSET_NODE_PARAMS_v2);
SAME_OFFSET(CUDA_MEMSET_NODE_PARAMS_v2, ctx);
SAME_SIZE(CUDA_HOST_NODE_PARAMS);
SAME_OFFSET(CUDA_HOST_NODE_PARAMS, userData);
#if CUDA_VERSION >= 13000
SAME_SIZE(CUDA_CHILD_GRAPH_NODE_PARAMS);
SAME_OFFSET(CUDA_CHILD_GRAPH_NODE_PARAMS, ownership);
#endif
static_assert(sizeof(mine::CUDA_EVENT_NODE_PARAMS) == sizeof(::CUDA_EVENT_RECORD_NODE_PARAMS));
static_assert(sizeof(mine::CUDA_EVENT_NODE_PARAMS) == sizeof(::CUDA_EVENT_WAIT_NODE_PARAMS));
SAME_SIZE(CUDA_MEM_ALLOC_NODE_PARAMS);
SAME_OFFSET(CUDA_MEM_ALLOC_NODE_PARAMS, accessDescs);
SAME_OFFSET(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize);
SAME_OFFSET(CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
SAME_SIZE(CUDA_MEM_FREE_NODE_PARAMS);
SAME_SIZE(CUDA_CONDITIONAL_NODE_PARAMS);
SAME_OFFSET(CUDA_CONDITIONAL_NODE_PARAMS, size);
SAME_OFFSET(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out);
SAME_OFFSET(CUDA_CONDITIONAL_NODE_PARAMS, ctx);
SAME_SIZE(CUgraphNodeParams);
SAME_OFFSET(CUgraphNodeParams, kernel);
SAME_OFFSET(CUgraphNodeParams, conditional);
SAME_SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME_OFFSET(CUDA_GRAPH_INSTANTIATE_PARAMS, hUploadStream);
SAME_OFFSET(CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out);
SAME_OFFSET(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
SAME_SIZE(CUgraphExecUpdateResultInfo);
SAME_OFFSET(CUgraphExecUpdateResultInfo, errorNode);
SAME_OFFSET(CUgraphExecUpdateResultInfo, errorFromNode);
static_assert(sizeof(mine::CUresult) == sizeof(::CUresult));
static_assert(sizeof(mine::CUdeviceptr) == sizeof(::CUdeviceptr));
static_assert(sizeof(mine::CUdevice) == sizeof(::CUdevice));

// A function of ours and one of cuda.h agree if each parameter is passed alike: same size and class of type. Enums are
// ints here, and structs of ours stand for theirs (their layout is checked above).
template <class T>
constexpr int passing_class() {
  if constexpr (std::is_pointer_v<T>) return 1;
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return 2;
  if constexpr (std::is_class_v<T>) return 3;
  return 4;
}

template <class A, class B>
constexpr bool passed_alike = passing_class<A>() == passing_class<B>() && sizeof(A) == sizeof(B);

template <class A, class B>
struct SameSignature : std::false_type {};

template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct SameSignature<mine::CUresult (*)(A...), ::CUresult (*)(B...)> : std::bool_constant<(passed_alike<A, B> && ...)> {
};

// Nothing to compare with: newer than these headers, or in those that need OpenGL's.
template <class... A>
struct SameSignature<mine::CUresult (*)(A...), mine::CUresult (*)(A...)> : std::true_type {};
using PFN_cuGraphicsGLRegisterBuffer_v3000 = decltype(mine::Table::cuGraphicsGLRegisterBuffer);
using PFN_cuGraphicsGLRegisterImage_v3000 = decltype(mine::Table::cuGraphicsGLRegisterImage);
#if CUDA_VERSION < 13010
using PFN_cuDevSmResourceSplit_v13010 = decltype(mine::Table::cuDevSmResourceSplit);
#endif
#if CUDA_VERSION < 13020
using PFN_cuGraphNodeGetParams_v13020 = decltype(mine::Table::cuGraphNodeGetParams);
#endif

#define DRIVER_FUNCTION(name, version, parameters)                                          \
  static_assert(SameSignature<decltype(mine::Table::name), PFN_##name##_v##version>::value, \
                #name " is not declared as cuda.h declares it at that version");
#include "src/driver/functions.def"

TEST(abi, default_stream_handles_are_those_of_cuda_h) {
  EXPECT_EQ(our_legacy_stream, static_cast<void*>(CU_STREAM_LEGACY));
  EXPECT_EQ(our_per_thread_stream, static_cast<void*>(CU_STREAM_PER_THREAD));
}

TEST(abi, result_names_and_numbers_are_those_of_cuda_h) {
#define RESULT(name, number, explanation) EXPECT_EQ(static_cast<int>(name), number) << #name;
#include "src/driver/results.def"
}

TEST(abi, device_attributes_have_the_names_and_numbers_of_cuda_h) {
  struct Attribute {
    const char* name;
    int number;
  };
  constexpr Attribute attributes[] = {
#define DEVICE_ATTRIBUTE(name, number, kind, default_value, text) {#name, number},
#include "cucore/device_attributes.def"
  };
  EXPECT_EQ(std::size(attributes), 143u);
  std::ifstream file(CUDA_H);
  const std::string header((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(header.empty()) << CUDA_H;
  for (const Attribute& attribute : attributes) {
    std::string upper = attribute.name;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const std::regex line("CU_DEVICE_ATTRIBUTE_" + upper + "\\s*=\\s*" + std::to_string(attribute.number) + "\\b");
    EXPECT_TRUE(std::regex_search(header, line)) << attribute.name;
  }
}

}  // namespace
