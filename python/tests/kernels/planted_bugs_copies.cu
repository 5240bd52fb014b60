// Planted bugs of clusters and asynchronous copies, and clean kernels beside them, in the way of planted_bugs.cu.
#define KERNEL extern "C" __global__ void
#define IN_PAIRS __cluster_dims__(2, 1, 1)

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// The same place in the shared memory of the other block.
__device__ unsigned other_address(const void* pointer) {
  unsigned address = shared_address(pointer);
  asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(1 - blockIdx.x % 2));
  return address;
}

#define ARRIVE asm volatile("barrier.cluster.arrive;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait;" ::: "memory")
#define STORE_THERE(to, value) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory")
#define LOAD_THERE(value, from) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(from) : "memory")

#define COPY(to, from) \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_FOR_ALL_BUT(count) asm volatile("cp.async.wait_group %0;" ::"n"(count) : "memory")

#define START_BARRIER(barrier)                                                                         \
  if (threadIdx.x == 0) {                                                                              \
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");       \
    asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");              \
  }                                                                                                    \
  __syncthreads()
#define BULK_COPY(to, from, bytes, barrier)                                                                         \
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%3], %2;\n"                                                \
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(     \
                   shared_address(to)),                                                                             \
               "l"(from), "r"(bytes), "r"(shared_address(barrier))                                                  \
               : "memory")
#define WAIT_AT(barrier)                                                                                          \
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra again;\n}" ::  \
                   "r"(shared_address(barrier))                                                                   \
               : "memory")
#define BULK_STORE(to, from, bytes)                                                                      \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to), \
               "r"(shared_address(from)), "r"(bytes)                                                     \
               : "memory")
#define WAIT_FOR_BULK_READS asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")

// ---- clusters --------------------------------------------------------------------------------------------------------

KERNEL IN_PAIRS cluster_without_barrier(int* a, int n, int zero) {
  __shared__ int s[64];
  STORE_THERE(other_address(s + threadIdx.x), 1);
  __syncthreads();
  a[64 * blockIdx.x + threadIdx.x] = s[threadIdx.x];  // BUG cluster_without_barrier
  ARRIVE;
  WAIT;
}

KERNEL IN_PAIRS cluster_read_before_wait(int* a, int n, int zero) {
  __shared__ int s[64];
  int there;
  s[threadIdx.x] = zero;
  ARRIVE;
  LOAD_THERE(there, other_address(s + threadIdx.x));  // BUG cluster_read_before_wait
  WAIT;
  a[64 * blockIdx.x + threadIdx.x] = there;
  ARRIVE;
  WAIT;
}

KERNEL IN_PAIRS cluster_write_after_arrive(int* a, int n, int zero) {
  __shared__ int s[64];
  int there;
  s[threadIdx.x] = zero;
  ARRIVE;
  s[threadIdx.x] = threadIdx.x + 1;
  WAIT;
  LOAD_THERE(there, other_address(s + threadIdx.x));  // BUG cluster_write_after_arrive
  a[64 * blockIdx.x + threadIdx.x] = there;
  ARRIVE;
  WAIT;
}

KERNEL IN_PAIRS cluster_before_it_begins(int* a, int n, int zero) {
  __shared__ int s[64];
  if (blockIdx.x % 2 == 0) STORE_THERE(other_address(s + threadIdx.x), 1);  // BUG cluster_before_it_begins
  ARRIVE;
  WAIT;
  a[64 * blockIdx.x + threadIdx.x] = blockIdx.x % 2 == 0 ? 0 : s[threadIdx.x];
}

KERNEL IN_PAIRS cluster_after_it_ends(int* a, int n, int zero) {
  __shared__ int s[64];
  int there = 0;
  s[threadIdx.x] = threadIdx.x + zero;
  ARRIVE;
  WAIT;
  if (blockIdx.x % 2 == 0) LOAD_THERE(there, other_address(s + threadIdx.x));  // BUG cluster_after_it_ends
  a[64 * blockIdx.x + threadIdx.x] = there;
}

KERNEL IN_PAIRS cluster_ends_without_wait(int* a, int n, int zero) {
  __shared__ int s[64];
  int there = 0;
  s[threadIdx.x] = threadIdx.x + zero;
  ARRIVE;
  WAIT;
  if (blockIdx.x % 2 == 1) LOAD_THERE(there, other_address(s + threadIdx.x));  // BUG cluster_ends_without_wait
  a[64 * blockIdx.x + threadIdx.x] = there;
  ARRIVE;
  if (blockIdx.x % 2 == 1) WAIT;
}

// The second block waits for an arrival of each warp of the first one instead.
KERNEL IN_PAIRS clean_cluster_arrivals(int* a, int n, int zero) {
  __shared__ int s[64];
  __shared__ unsigned long long done;
  int there = 0;
  s[threadIdx.x] = threadIdx.x + zero;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 2;\nfence.mbarrier_init.release.cluster;" ::"r"(shared_address(&done))
                 : "memory");
  ARRIVE;
  WAIT;
  if (blockIdx.x % 2 == 1) {
    WAIT_AT(&done);
    s[threadIdx.x] = 0;
  } else {
    LOAD_THERE(there, other_address(s + threadIdx.x));
    __syncwarp();
    if (threadIdx.x % 32 == 0)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other_address(&done))
                   : "memory");
  }
  a[64 * blockIdx.x + threadIdx.x] = there;
}

KERNEL IN_PAIRS clean_cluster_exchange(int* a, int n, int zero) {
  __shared__ int s[64];
  __shared__ unsigned count;
  int there;
  if (threadIdx.x == 0) count = 0;
  for (int round = 0; round < 3; ++round) {
    s[threadIdx.x] = round;
    __syncthreads();
    s[threadIdx.x ^ 1] += zero;
    ARRIVE;
    a[256 + 64 * blockIdx.x + threadIdx.x] = round;
    WAIT;
    LOAD_THERE(there, other_address(s + 63 - threadIdx.x));
    a[64 * blockIdx.x + threadIdx.x] = there;
    asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(other_address(&count)) : "memory");
    ARRIVE;
    WAIT;
  }
  if (threadIdx.x == 0) a[512 + blockIdx.x] = count;
}

// ---- copies ----------------------------------------------------------------------------------------------------------

KERNEL copy_read_before_wait(int* a, int n, int zero) {
  __shared__ __align__(16) int s[256];
  COPY(s + 4 * threadIdx.x, a + 4 * threadIdx.x);
  COMMIT;
  a[512 + threadIdx.x] = s[4 * threadIdx.x];  // BUG copy_read_before_wait
  WAIT_FOR_ALL_BUT(0);
}

KERNEL copy_of_a_later_group(int* a, int n, int zero) {
  __shared__ __align__(16) int s[512];
  COPY(s + 4 * threadIdx.x, a + 4 * threadIdx.x);
  COMMIT;
  COPY(s + 256 + 4 * threadIdx.x, a + 4 * threadIdx.x);
  COMMIT;
  WAIT_FOR_ALL_BUT(1);
  a[512 + threadIdx.x] = s[4 * threadIdx.x];
  a[512 + threadIdx.x] = s[256 + 4 * threadIdx.x];  // BUG copy_of_a_later_group
  WAIT_FOR_ALL_BUT(0);
}

KERNEL copy_waited_for_after_barrier(int* a, int n, int zero) {
  __shared__ __align__(16) int s[256];
  COPY(s + 4 * threadIdx.x, a + 4 * threadIdx.x);
  COMMIT;
  __syncthreads();
  WAIT_FOR_ALL_BUT(0);
  a[512 + threadIdx.x] = s[4 * (threadIdx.x ^ 1)];  // BUG copy_waited_for_after_barrier
}

KERNEL copy_overwritten(int* a, int n, int zero) {
  __shared__ __align__(16) int s[256];
  COPY(s + 4 * threadIdx.x, a + 4 * threadIdx.x);
  COMMIT;
  s[4 * threadIdx.x + zero] = 1;  // BUG copy_overwritten
  WAIT_FOR_ALL_BUT(0);
  a[512 + threadIdx.x] = s[4 * threadIdx.x];
}

KERNEL bulk_copy_without_wait(int* a, int n, int zero) {
  __shared__ __align__(16) int s[64];
  __shared__ unsigned long long barrier;
  START_BARRIER(&barrier);
  if (threadIdx.x == 0) BULK_COPY(s, a, 256, &barrier);
  __syncthreads();
  a[512 + threadIdx.x] = s[threadIdx.x];  // BUG bulk_copy_without_wait
  WAIT_AT(&barrier);
}

KERNEL bulk_copy_waited_for_by_another(int* a, int n, int zero) {
  __shared__ __align__(16) int s[64];
  __shared__ unsigned long long barrier;
  START_BARRIER(&barrier);
  if (threadIdx.x == 0) BULK_COPY(s, a, 256, &barrier);
  if (threadIdx.x >= 32) WAIT_AT(&barrier);
  a[512 + threadIdx.x] = s[threadIdx.x];  // BUG bulk_copy_waited_for_by_another
  WAIT_AT(&barrier);
}

KERNEL bulk_source_overwritten(int* a, int n, int zero) {
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = zero;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) BULK_STORE(a, s, 256);
  s[threadIdx.x] = 7;  // BUG bulk_source_overwritten
  if (threadIdx.x == 0) WAIT_FOR_BULK_READS;
}

KERNEL bulk_copy_without_proxy_fence(int* a, int n, int zero) {
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = zero;
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(a, s, 256);  // BUG bulk_copy_without_proxy_fence
    WAIT_FOR_BULK_READS;
  }
}

// Before the barrier, a fence is of its thread's writes alone.
KERNEL proxy_fence_of_one_thread(int* a, int n, int zero) {
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = zero;
  if (threadIdx.x == 0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(a, s, 256);  // BUG proxy_fence_of_one_thread
    WAIT_FOR_BULK_READS;
  }
}

KERNEL clean_proxy_fence_after_barrier(int* a, int n, int zero) {
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = zero;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    BULK_STORE(a, s, 256);
    WAIT_FOR_BULK_READS;
  }
}

// One lane tells an mbarrier for its warp.
KERNEL clean_warp_arrivals(int* a, int n, int zero) {
  __shared__ int s[32];
  __shared__ unsigned long long barrier;
  START_BARRIER(&barrier);
  if (threadIdx.x < 32) {
    s[threadIdx.x] = a[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
  } else {
    WAIT_AT(&barrier);
    a[threadIdx.x] = s[63 - threadIdx.x];
  }
}

KERNEL clean_copy_stages(int* a, int n, int zero) {
  __shared__ __align__(16) int s[2][256];
  COPY(s[0] + 4 * threadIdx.x, a + 4 * threadIdx.x);
  COMMIT;
  for (int stage = 0; stage < 4; ++stage) {
    if (stage < 3) COPY(s[(stage + 1) % 2] + 4 * threadIdx.x, a + 4 * threadIdx.x);
    COMMIT;
    WAIT_FOR_ALL_BUT(1);
    a[512 + threadIdx.x] = s[stage % 2][4 * threadIdx.x];
    __syncthreads();
    a[512 + threadIdx.x] = s[stage % 2][255 - threadIdx.x];
    __syncthreads();
  }
}

KERNEL clean_bulk_copies(int* a, int n, int zero) {
  __shared__ __align__(16) int s[64];
  __shared__ unsigned long long barrier;
  START_BARRIER(&barrier);
  if (threadIdx.x == 0) BULK_COPY(s, a, 256, &barrier);
  if (threadIdx.x < 32) WAIT_AT(&barrier);
  __syncthreads();
  s[threadIdx.x] += 1;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(a + 512, s, 256);
    WAIT_FOR_BULK_READS;
  }
  __syncthreads();
  s[63 - threadIdx.x] = 7;
}
