// The facts of the driver's C ABI that cucore uses, under the driver's own names: no cuda.h is needed to build cucore.
// Graphs have theirs in abi_graphs.hpp, arrays and textures in abi_arrays.hpp.
// A test (tests/unit/driver/abi_test.cpp) compares every size, offset and value here with the real cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cucore/driver_types.hpp"
#include "src/driver/abi_arrays.hpp"

struct CUlinkState_st;
struct CUarray_st;
struct CUdevResourceDesc_st;
struct CUtensorMap_st;

namespace cucore::driver {

using CUresult = int;  // an enum in C: passed as int
using CUdevice = DeviceHandle;
using CUdeviceptr = DevicePointer;
using CUcontext = ContextHandle;
using CUlibrary = LibraryHandle;
using CUkernel = KernelHandle;
using CUfunction = FunctionHandle;
using CUmodule = ModuleHandle;
using CUevent = EventHandle;
using CUstream = StreamHandle;
using CUmemoryPool = MemoryPoolHandle;
using CUlinkState = ::CUlinkState_st*;
using CUgreenCtx = GreenContextHandle;
using CUdevResourceDesc = ::CUdevResourceDesc_st*;
using CUarray = ::CUarray_st*;
using CUtensorMap = ::CUtensorMap_st;  // 128 bytes at a multiple of 64
using CUhostFn = void (*)(void* userData);
using CUstreamCallback = void (*)(CUstream stream, CUresult status, void* userData);
using CUoccupancyB2DSize = std::size_t (*)(int blockSize);

inline constexpr CUresult CUDA_SUCCESS = 0;
inline constexpr CUresult CUDA_ERROR_INVALID_VALUE = 1;
inline constexpr CUresult CUDA_ERROR_OUT_OF_MEMORY = 2;
inline constexpr CUresult CUDA_ERROR_NOT_INITIALIZED = 3;
inline constexpr CUresult CUDA_ERROR_DEINITIALIZED = 4;
inline constexpr CUresult CUDA_ERROR_NO_DEVICE = 100;
inline constexpr CUresult CUDA_ERROR_INVALID_DEVICE = 101;
inline constexpr CUresult CUDA_ERROR_INVALID_IMAGE = 200;
inline constexpr CUresult CUDA_ERROR_INVALID_CONTEXT = 201;
inline constexpr CUresult CUDA_ERROR_NO_BINARY_FOR_GPU = 209;
inline constexpr CUresult CUDA_ERROR_INVALID_PTX = 218;
inline constexpr CUresult CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222;
inline constexpr CUresult CUDA_ERROR_INVALID_HANDLE = 400;
inline constexpr CUresult CUDA_ERROR_NOT_FOUND = 500;
inline constexpr CUresult CUDA_ERROR_NOT_READY = 600;
inline constexpr CUresult CUDA_ERROR_ILLEGAL_ADDRESS = 700;
inline constexpr CUresult CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701;
inline constexpr CUresult CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704;
inline constexpr CUresult CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705;
inline constexpr CUresult CUDA_ERROR_CONTEXT_IS_DESTROYED = 709;
inline constexpr CUresult CUDA_ERROR_LAUNCH_FAILED = 719;
inline constexpr CUresult CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720;
inline constexpr CUresult CUDA_ERROR_NOT_SUPPORTED = 801;
inline constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900;
inline constexpr CUresult CUDA_ERROR_INVALID_CLUSTER_SIZE = 912;
inline constexpr CUresult CUDA_ERROR_INVALID_RESOURCE_TYPE = 914;
inline constexpr CUresult CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915;

// Stream handles with a meaning of their own.
inline const CUstream CU_STREAM_LEGACY = reinterpret_cast<CUstream>(std::uintptr_t{1});
inline const CUstream CU_STREAM_PER_THREAD = reinterpret_cast<CUstream>(std::uintptr_t{2});

inline constexpr unsigned CU_STREAM_DEFAULT = 0;
inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
inline constexpr unsigned CU_EVENT_RECORD_EXTERNAL = 1;
inline constexpr unsigned CU_EVENT_WAIT_EXTERNAL = 1;
inline constexpr unsigned CU_EVENT_DEFAULT = 0;
inline constexpr unsigned CU_EVENT_BLOCKING_SYNC = 1;
inline constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;
inline constexpr unsigned CU_EVENT_INTERPROCESS = 4;

inline constexpr int CU_LIMIT_STACK_SIZE = 0;
inline constexpr int CU_LIMIT_PRINTF_FIFO_SIZE = 1;
inline constexpr int CU_LIMIT_MALLOC_HEAP_SIZE = 2;
inline constexpr int CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3;
inline constexpr int CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4;
inline constexpr int CU_LIMIT_MAX_L2_FETCH_GRANULARITY = 5;
inline constexpr int CU_LIMIT_PERSISTING_L2_CACHE_SIZE = 6;

inline constexpr int CU_STREAM_CAPTURE_STATUS_NONE = 0;
inline constexpr int CU_STREAM_CAPTURE_STATUS_ACTIVE = 1;
inline constexpr int CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2;
inline constexpr unsigned CU_STREAM_SET_CAPTURE_DEPENDENCIES = 1;
inline constexpr int CU_STREAM_CAPTURE_MODE_GLOBAL = 0;
inline constexpr int CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1;
inline constexpr int CU_STREAM_CAPTURE_MODE_RELAXED = 2;

inline constexpr int CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8;
inline constexpr int CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16;
inline constexpr int CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75;
inline constexpr int CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76;
inline constexpr int CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95;
inline constexpr int CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97;
inline constexpr int CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115;

inline constexpr int CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0;
inline constexpr int CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1;
inline constexpr int CU_FUNC_ATTRIBUTE_NUM_REGS = 4;
inline constexpr int CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
inline constexpr int CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10;
inline constexpr int CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15;

inline constexpr int CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2;
inline constexpr int CU_POINTER_ATTRIBUTE_IS_MANAGED = 8;
inline constexpr int CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9;
inline constexpr int CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11;
inline constexpr int CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12;
inline constexpr unsigned CU_MEMORYTYPE_HOST = 1;
inline constexpr unsigned CU_MEMORYTYPE_DEVICE = 2;

inline constexpr int CU_MEM_ALLOCATION_TYPE_PINNED = 1;
inline constexpr int CU_MEM_ALLOCATION_TYPE_MANAGED = 2;
inline constexpr int CU_MEM_HANDLE_TYPE_NONE = 0;
inline constexpr int CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1;
inline constexpr int CU_MEM_HANDLE_TYPE_WIN32_KMT = 4;
inline constexpr int CU_MEM_HANDLE_TYPE_FABRIC = 8;
inline constexpr int CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0;
inline constexpr int CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1;
inline constexpr int CU_MEM_LOCATION_TYPE_NONE = 0;
inline constexpr int CU_MEM_LOCATION_TYPE_DEVICE = 1;
inline constexpr int CU_MEM_LOCATION_TYPE_HOST = 2;
inline constexpr int CU_MEM_LOCATION_TYPE_HOST_NUMA = 3;
inline constexpr int CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4;
inline constexpr int CU_MEM_ACCESS_FLAGS_PROT_NONE = 0;
inline constexpr int CU_MEM_ACCESS_FLAGS_PROT_READ = 1;
inline constexpr int CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3;

inline constexpr unsigned CU_MEM_ATTACH_GLOBAL = 1;
inline constexpr int CU_MEM_ADVISE_SET_READ_MOSTLY = 1;
inline constexpr int CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2;
inline constexpr int CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3;
inline constexpr int CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4;
inline constexpr int CU_MEM_ADVISE_SET_ACCESSED_BY = 5;
inline constexpr int CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6;
inline constexpr int CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1;
inline constexpr int CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2;
inline constexpr int CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3;
inline constexpr int CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4;
inline constexpr int CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5;
inline constexpr int CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6;
inline constexpr int CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7;
inline constexpr int CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8;
inline constexpr int CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1;
inline constexpr int CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2;
inline constexpr int CU_MEMCPY_SRC_ACCESS_ORDER_ANY = 3;
inline constexpr unsigned CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 1;

inline constexpr int CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1;
inline constexpr int CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2;
inline constexpr int CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3;
inline constexpr int CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4;
inline constexpr int CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5;
inline constexpr int CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6;
inline constexpr int CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7;
inline constexpr int CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8;

inline constexpr int CU_JIT_MAX_REGISTERS = 0;
inline constexpr int CU_JIT_INFO_LOG_BUFFER = 3;
inline constexpr int CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4;
inline constexpr int CU_JIT_ERROR_LOG_BUFFER = 5;
inline constexpr int CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6;
inline constexpr int CU_JIT_OPTIMIZATION_LEVEL = 7;
inline constexpr int CU_JIT_TARGET = 9;
inline constexpr int CU_JIT_GENERATE_DEBUG_INFO = 11;
inline constexpr int CU_JIT_LOG_VERBOSE = 12;
inline constexpr int CU_JIT_GENERATE_LINE_INFO = 13;
inline constexpr int CU_JIT_CACHE_MODE = 14;
inline constexpr int CU_JIT_CACHE_OPTION_NONE = 0;
inline constexpr int CU_JIT_INPUT_CUBIN = 0;
inline constexpr int CU_JIT_INPUT_PTX = 1;
inline constexpr int CU_JIT_INPUT_FATBINARY = 2;
inline constexpr int CU_JIT_INPUT_OBJECT = 3;
inline constexpr int CU_JIT_INPUT_LIBRARY = 4;
// CUjit_target: the number of the architecture, plus one of these for sm_90a and sm_100f.
inline constexpr int accelerated_target = 0x10000;
inline constexpr int family_target = 0x20000;

inline constexpr int CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1;
inline constexpr int CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2;
inline constexpr int CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3;
inline constexpr int CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4;
inline constexpr int CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5;
inline constexpr int CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6;
inline constexpr int CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7;
inline constexpr int CU_LAUNCH_ATTRIBUTE_PRIORITY = 8;
inline constexpr int CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9;
inline constexpr int CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10;
inline constexpr int CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11;
inline constexpr int CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12;
inline constexpr int CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14;

inline constexpr unsigned CU_GREEN_CTX_DEFAULT_STREAM = 1;
inline constexpr int CU_DEV_RESOURCE_TYPE_INVALID = 0;
inline constexpr int CU_DEV_RESOURCE_TYPE_SM = 1;
inline constexpr int CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG = 1000;
inline constexpr int CU_WORKQUEUE_SCOPE_DEVICE_CTX = 0;
inline constexpr int CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED = 1;
inline constexpr unsigned CU_DEV_SM_RESOURCE_GROUP_BACKFILL = 1;

inline constexpr std::uint64_t CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1;

struct CUuuid {
  unsigned char bytes[16];
};

struct CUipcEventHandle {
  unsigned char reserved[64];
};

inline constexpr int CU_PROCESS_STATE_RUNNING = 0;
inline constexpr int CU_PROCESS_STATE_FAILED = 3;

struct CUcheckpointLockArgs {
  unsigned timeoutMs;
  unsigned reserved0;
  std::uint64_t reserved1[7];
};

struct CUcheckpointCheckpointArgs {
  std::uint64_t reserved[8];
};

struct CUcheckpointGpuPair {
  CUuuid oldUuid;
  CUuuid newUuid;
};

struct CUcheckpointRestoreArgs {
  CUcheckpointGpuPair* gpuPairs;
  unsigned gpuPairsCount;
  char reserved[52 - sizeof(void*)];
  std::uint64_t reserved1;
};

struct CUcheckpointUnlockArgs {
  std::uint64_t reserved[8];
};

struct CUmemLocation {
  int type;
  int id;
};

struct CUmemAccessDesc {
  CUmemLocation location;
  int flags;
};

using CUmemGenericAllocationHandle = unsigned long long;

struct CUmemAllocationProp {
  int type;
  int requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  unsigned char compressionType;  // in cuda.h this and what follows are a struct, allocFlags
  unsigned char gpuDirectRDMACapable;
  unsigned short usage;
  unsigned char reserved[4];
};

struct CUmemcpyAttributes {
  int srcAccessOrder;
  CUmemLocation srcLocHint;
  CUmemLocation dstLocHint;
  unsigned flags;
};

struct CUmemPoolProps {
  int allocType;
  int handleTypes;
  CUmemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

struct CUmemPoolPtrExportData {
  unsigned char reserved[64];
};

struct CUdevSmResource {
  unsigned smCount;
  unsigned minSmPartitionSize;
  unsigned smCoscheduledAlignment;
  unsigned flags;
};

struct CUdevWorkqueueConfigResource {
  CUdevice device;
  unsigned wqConcurrencyLimit;
  int sharingScope;
};

// As of CUDA 13.1; what 13.0 and older do not have is padding there.
struct CUdevResource {
  int type;
  unsigned char _internal_padding[92];
  union {
    CUdevSmResource sm;
    CUdevWorkqueueConfigResource wqConfig;
    unsigned char _oversize[40];
  };
  CUdevResource* nextResource;
};

struct CU_DEV_SM_RESOURCE_GROUP_PARAMS {
  unsigned smCount;
  unsigned coscheduledSmCount;
  unsigned preferredCoscheduledSmCount;
  unsigned flags;
  unsigned reserved[12];
};

struct CUaccessPolicyWindow {
  void* base_ptr;
  std::size_t num_bytes;
  float hitRatio;
  int hitProp;
  int missProp;
};

struct CUlaunchMemSyncDomainMap {
  unsigned char default_;
  unsigned char remote;
};

union CUlaunchAttributeValue {
  unsigned char pad[64];
  CUaccessPolicyWindow accessPolicyWindow;
  int cooperative;
  int syncPolicy;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  struct {
    CUevent event;
    int flags;
    int triggerAtBlockStart;
  } programmaticEvent;
  int priority;
  CUlaunchMemSyncDomainMap memSyncDomainMap;
  int memSyncDomain;
  struct {
    unsigned x, y, z;
  } preferredClusterDim;
  struct {
    CUevent event;
    int flags;
  } launchCompletionEvent;
  unsigned sharedMemCarveout;
};

struct CUlaunchAttribute {
  int id;
  char pad[4];
  CUlaunchAttributeValue value;
};

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};

}  // namespace cucore::driver
