// The driver's C ABI of graphs, their nodes and what these keep alive: as abi.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cucore/driver_types.hpp"
#include "src/driver/abi.hpp"
#include "src/driver/abi_arrays.hpp"

struct CUuserObject_st;

namespace cucore::driver {

using CUgraph = GraphHandle;
using CUgraphNode = GraphNodeHandle;
using CUgraphExec = GraphExecHandle;
using CUuserObject = ::CUuserObject_st*;
using CUgraphConditionalHandle = std::uint64_t;

inline constexpr int CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0;
inline constexpr int CU_GRAPH_MEM_ATTR_USED_MEM_HIGH = 1;
inline constexpr int CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2;
inline constexpr int CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH = 3;

inline constexpr int CU_GRAPH_NODE_TYPE_KERNEL = 0;
inline constexpr int CU_GRAPH_NODE_TYPE_MEMCPY = 1;
inline constexpr int CU_GRAPH_NODE_TYPE_MEMSET = 2;
inline constexpr int CU_GRAPH_NODE_TYPE_HOST = 3;
inline constexpr int CU_GRAPH_NODE_TYPE_GRAPH = 4;
inline constexpr int CU_GRAPH_NODE_TYPE_EMPTY = 5;
inline constexpr int CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6;
inline constexpr int CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7;
inline constexpr int CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10;
inline constexpr int CU_GRAPH_NODE_TYPE_MEM_FREE = 11;
inline constexpr int CU_GRAPH_NODE_TYPE_CONDITIONAL = 13;
inline constexpr int CU_GRAPH_COND_TYPE_IF = 0;
inline constexpr int CU_GRAPH_COND_TYPE_WHILE = 1;
inline constexpr int CU_GRAPH_COND_TYPE_SWITCH = 2;
inline constexpr unsigned CU_GRAPH_COND_ASSIGN_DEFAULT = 1;
inline constexpr int CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE = 0;
inline constexpr unsigned CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1;
inline constexpr unsigned CU_GRAPH_USER_OBJECT_MOVE = 1;
inline constexpr std::uint64_t CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1;
inline constexpr std::uint64_t CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2;
inline constexpr std::uint64_t CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4;
inline constexpr std::uint64_t CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8;
inline constexpr int CUDA_GRAPH_INSTANTIATE_SUCCESS = 0;
inline constexpr int CUDA_GRAPH_INSTANTIATE_ERROR = 1;
inline constexpr int CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2;
inline constexpr int CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3;
inline constexpr int CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED = 4;
inline constexpr int CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED = 5;

struct CUgraphEdgeData {
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
};

struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
  CUkernel kern;
  CUcontext ctx;
};

struct CUDA_MEMCPY_NODE_PARAMS {
  int flags;
  int reserved;
  CUcontext copyCtx;
  CUDA_MEMCPY3D copyParams;
};

struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr dst;
  std::size_t pitch;
  unsigned value;
  unsigned elementSize;
  std::size_t width;
  std::size_t height;
};

struct CUDA_MEMSET_NODE_PARAMS_v2 {
  CUdeviceptr dst;
  std::size_t pitch;
  unsigned value;
  unsigned elementSize;
  std::size_t width;
  std::size_t height;
  CUcontext ctx;
};

struct CUDA_HOST_NODE_PARAMS {
  CUhostFn fn;
  void* userData;
};

struct CUDA_CHILD_GRAPH_NODE_PARAMS {
  CUgraph graph;
  int ownership;
};

struct CUDA_EVENT_NODE_PARAMS {  // of records and of waits
  CUevent event;
};

struct CUDA_MEM_ALLOC_NODE_PARAMS {
  CUmemPoolProps poolProps;
  const CUmemAccessDesc* accessDescs;
  std::size_t accessDescCount;
  std::size_t bytesize;
  CUdeviceptr dptr;
};

struct CUDA_MEM_FREE_NODE_PARAMS {
  CUdeviceptr dptr;
};

struct CUDA_CONDITIONAL_NODE_PARAMS {
  CUgraphConditionalHandle handle;
  int type;
  unsigned size;
  CUgraph* phGraph_out;
  CUcontext ctx;
};

struct CUgraphNodeParams {
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY_NODE_PARAMS memcpy;
    CUDA_MEMSET_NODE_PARAMS_v2 memset;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_CHILD_GRAPH_NODE_PARAMS graph;
    CUDA_EVENT_NODE_PARAMS event;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUDA_MEM_FREE_NODE_PARAMS free;
    CUDA_CONDITIONAL_NODE_PARAMS conditional;
  };
  long long reserved2;
};

struct CUDA_GRAPH_INSTANTIATE_PARAMS {
  std::uint64_t flags;
  CUstream hUploadStream;
  CUgraphNode hErrNode_out;
  int result_out;
};

struct CUgraphExecUpdateResultInfo {
  int result;
  CUgraphNode errorNode;
  CUgraphNode errorFromNode;
};

}  // namespace cucore::driver
