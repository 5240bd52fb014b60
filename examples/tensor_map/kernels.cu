// The sum of each box of a matrix, which one instruction of one thread copies into shared memory (TMA).
struct alignas(64) Map {  // CUtensorMap, without its header
  char bytes[128];
};

extern "C" __global__ void sums(const __grid_constant__ Map map, float* out) {  // blocks of 64 threads
  __shared__ alignas(128) float box[16 * 64];
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ float sum;
  const unsigned to = __cvta_generic_to_shared(box), bar = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    sum = 0;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "n"(sizeof(box)));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
            "r"(to), "l"(&map), "r"(blockIdx.x * 64), "r"(blockIdx.y * 16), "r"(bar)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{ .reg .pred there; again: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], 0; @!there bra again; }" ::"r"(bar)
      : "memory");
  float mine = 0;
  for (int row = 0; row < 16; ++row) mine += box[row * 64 + threadIdx.x];
  atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}
