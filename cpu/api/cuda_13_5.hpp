// What CUDA 13.1 to 13.5 brought, for builds with the headers of 13.0: device resources with the fields that were
// padding before, constants, and those functions of these versions that the CPU device implements.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace cucore::cpu::api {

inline constexpr int resource_workqueue_config = 1000;   // CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG
inline constexpr int resource_workqueue = 10000;         // CU_DEV_RESOURCE_TYPE_WORKQUEUE
inline constexpr int scope_device_context = 0;           // CU_WORKQUEUE_SCOPE_DEVICE_CTX
inline constexpr int scope_green_balanced = 1;           // CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED
inline constexpr unsigned int group_backfill = 1;        // CU_DEV_SM_RESOURCE_GROUP_BACKFILL
inline constexpr int pointer_locality_domain = 22;       // CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL
inline constexpr int launch_portable_cluster_mode = 17;  // CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE
inline constexpr int launch_shared_memory_mode = 18;     // CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE
inline constexpr unsigned int host_task_spin_wait = 1;   // CU_HOST_TASK_SPINWAIT; 0: CU_HOST_TASK_BLOCKING

/// CUdevResource with the members of 13.1.
struct Resource {
  int type;
  unsigned char padding[92];
  union {
    struct {
      unsigned int count;
      unsigned int min_partition;
      unsigned int coscheduled_alignment;
      unsigned int flags;
    } sm;
    struct {
      CUdevice device;
      unsigned int concurrency_limit;
      int sharing_scope;
    } workqueue;
    unsigned char oversize[40];
  };
  CUdevResource* next;
};
static_assert(sizeof(Resource) == sizeof(CUdevResource));
static_assert(offsetof(Resource, sm) == offsetof(CUdevResource, sm));

}  // namespace cucore::cpu::api

#if CUDA_VERSION < 13010
struct CU_DEV_SM_RESOURCE_GROUP_PARAMS {
  unsigned int smCount;
  unsigned int coscheduledSmCount;
  unsigned int preferredCoscheduledSmCount;
  unsigned int flags;
  unsigned int reserved[12];
};
extern "C" {
CUresult cuDevSmResourceSplit(CUdevResource* result, unsigned int nbGroups, const CUdevResource* input,
                              CUdevResource* remainder, unsigned int flags,
                              CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams);
CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId);
CUresult cuGraphGetId(CUgraph hGraph, unsigned int* graphId);
CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph);
CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int* nodeId);
CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long* toolsNodeId);
CUresult cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void* userData, unsigned int syncMode);
CUresult cuStreamGetDevResource(CUstream hStream, CUdevResource* resource, CUdevResourceType type);
}
#endif
#if CUDA_VERSION < 13020
extern "C" {
CUresult cuFuncGetParamCount(CUfunction func, size_t* paramCount);
CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams);
CUresult cuKernelGetParamCount(CUkernel kernel, size_t* paramCount);
CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP* op, unsigned long long flags, CUstream hStream);
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes* attr,
                                     CUstream hStream);
}
#endif
#if CUDA_VERSION < 13040
extern "C" {
CUresult cuGraphAddNode_v3(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* dependencyData, size_t numDependencies,
                           CUgraphNodeParams* nodeParams);
CUresult cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams* nodeParams);
}
#endif
