// Device resources as CUDA 13.1 has them, for builds with the headers of 13.0: the same structs, with the fields that
// were padding before, and the constants and the one function that came with them.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace cucore::cpu::api {

inline constexpr int kResourceWorkqueueConfig = 1000;  // CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG
inline constexpr int kScopeDeviceContext = 0;          // CU_WORKQUEUE_SCOPE_DEVICE_CTX
inline constexpr int kScopeGreenBalanced = 1;          // CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED
inline constexpr unsigned int kGroupBackfill = 1;      // CU_DEV_SM_RESOURCE_GROUP_BACKFILL

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
extern "C" CUresult cuDevSmResourceSplit(CUdevResource* result, unsigned int nbGroups, const CUdevResource* input,
                                         CUdevResource* remainder, unsigned int flags,
                                         CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams);
#endif
