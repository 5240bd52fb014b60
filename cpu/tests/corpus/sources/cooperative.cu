// Cooperative groups, warp operations, and every kind of barrier they make.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void groups(int* data, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int v = data[block.thread_rank()];
  v = cg::reduce(tile, v, cg::plus<int>());
  v += cg::exclusive_scan(tile, v);
  cg::coalesced_group active = cg::coalesced_threads();
  if (v % 3 == 0) v += active.shfl(v, 0);
  block.sync();
  data[block.thread_rank()] = v;
  cg::this_grid().sync();
  data[block.thread_rank()] += n;
}

extern "C" __global__ void warps(unsigned* out, unsigned v) {
  unsigned all = 0xffffffffu;
  v += __shfl_sync(all, v, 3) + __shfl_up_sync(all, v, 1, 8) + __shfl_down_sync(all, v, 2) + __shfl_xor_sync(all, v, 16);
  if (__any_sync(all, v > 3) && !__all_sync(all, v > 4)) v += __ballot_sync(all, v & 1) + __activemask();
  v += __match_any_sync(all, v & 7) + __reduce_add_sync(all, v) + __reduce_max_sync(all, v);
  __syncwarp();
  v += __syncthreads_count(v & 1) + __syncthreads_and(v & 2) + __syncthreads_or(v & 4);
  out[threadIdx.x] = v;
}
