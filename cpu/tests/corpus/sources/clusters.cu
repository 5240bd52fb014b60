// What sm_90 adds: clusters, distributed shared memory, bulk and tensor copies, mbarriers, warpgroup matrices.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(2, 1, 1) neighbours(int* out) {
  __shared__ int mine[32];
  mine[threadIdx.x] = threadIdx.x;
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  int* other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  atomicAdd(&other[threadIdx.x], 1);
  cluster.sync();
  out[threadIdx.x] = mine[threadIdx.x] + cluster.num_blocks();
}

extern "C" __global__ void bulk(const int* in, int* out, const void* map) {
  __shared__ alignas(128) int stage[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    cuda::device::memcpy_async_tx(stage, in, cuda::aligned_size_t<16>(sizeof(stage)), arrived);
  }
  __syncthreads();
  arrived.arrive_and_wait();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, stage, sizeof(stage));
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
    const int coordinates[2] = {0, 4};
    cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared, map, coordinates, stage);
    cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, stage, map, coordinates,
                                    cuda::device::barrier_native_handle(arrived));
  }
}

extern "C" __global__ void warpgroup(unsigned long long descriptor, float* out) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0; }"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor), "l"(descriptor), "r"(1));
  asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  out[threadIdx.x] = d[0] + d[3];
}
