// Kernels with one planted bug each, and clean ones beside them: see planted_bugs.py. A bug is on the line that names it.
// Every kernel gets `a`, an allocation of `n` ints, and `zero`, which the compiler does not know to be 0.
#define KERNEL extern "C" __global__ void

// ---- memory ----------------------------------------------------------------------------------------------------------

KERNEL write_past_end(int* a, int n, int zero) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) a[i] = i;  // BUG write_past_end
}

KERNEL read_past_end(int* a, int n, int zero) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) a[0] = a[n + 1000 + zero];  // BUG read_past_end
}

KERNEL neighbour_past_end(int* a, int n, int zero) {
  int* p = a + (n - 64 + threadIdx.x + zero);
  int before = p[-1] + p[0];
  a[threadIdx.x] = before + p[1];  // BUG neighbour_past_end
}

KERNEL before_start(int* a, int n, int zero) {
  if (threadIdx.x == 0 && blockIdx.x == 0) a[-4 + zero] = 1;  // BUG before_start
}

KERNEL null_pointer(int* a, int n, int zero) {
  int* p = reinterpret_cast<int*>(static_cast<long long>(zero));
  if (threadIdx.x == 0 && blockIdx.x == 0) *p = n;  // BUG null_pointer
}

KERNEL use_after_free(int* a, int n, int zero) {
  if (threadIdx.x < n) a[threadIdx.x] = 1;  // BUG use_after_free
}

KERNEL atomic_past_end(int* a, int n, int zero) {
  if (threadIdx.x == 0) atomicAdd(a + n + zero, 1);  // BUG atomic_past_end
}

KERNEL same_place_read(int* a, int n, int zero) {
  int v = a[n + zero];  // BUG same_place_read
  a[threadIdx.x] = v;
}

KERNEL same_place_written(int* a, int n, int zero) {
  a[n + zero] = n;  // BUG same_place_written
}

KERNEL pairs_past_end(int* a, int n, int zero) {
  int2 v = reinterpret_cast<int2*>(a)[450 + (7 * threadIdx.x + zero) % 64];  // BUG pairs_past_end
  a[threadIdx.x] = v.x + v.y;
}

// Of halves, which are swapped until that succeeds.
KERNEL retry_past_end(int* a, int n, int zero) {
  unsigned short* p = reinterpret_cast<unsigned short*>(a) + 2 * n - 32 + threadIdx.x + zero;
  unsigned short old;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"((unsigned short)0) : "memory");  // BUG retry_past_end
  a[threadIdx.x] = old;
}

KERNEL shared_past_end(int* a, int n, int zero) {
  __shared__ int s[64];
  s[threadIdx.x + 1 + zero] = threadIdx.x;  // BUG shared_past_end
  __syncthreads();
  a[threadIdx.x] = threadIdx.x > 0 ? s[threadIdx.x] : 0;
}

KERNEL shared_into_neighbour(int* a, int n, int zero) {
  __shared__ int s[16];
  __shared__ int t[16];
  if (threadIdx.x < 16) {
    t[threadIdx.x] = 0;
    s[threadIdx.x] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) s[16 + zero] = t[15 + zero] = 7;  // BUG shared_into_neighbour
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x % 16] + t[threadIdx.x % 16];
}

KERNEL dynamic_shared_past_end(int* a, int n, int zero) {
  extern __shared__ int d[];
  d[threadIdx.x] = 1;  // BUG dynamic_shared_past_end
  __syncthreads();
  if (threadIdx.x == 0) a[0] = d[1];
}

KERNEL local_past_end(int* a, int n, int zero) {
  int l[8];
  for (int i = 0; i < 8; ++i) l[(i + n) % 8] = a[i];
  a[100 + threadIdx.x] = l[threadIdx.x + zero];  // BUG local_past_end
}

KERNEL misaligned(int* a, int n, int zero) {
  int* p = reinterpret_cast<int*>(reinterpret_cast<char*>(a) + 2 + zero);
  if (threadIdx.x == 0) *p = 1;  // BUG misaligned
}

KERNEL misaligned_shared(int* a, int n, int zero) {
  __shared__ int4 s[8];
  int* words = reinterpret_cast<int*>(s);
  if (threadIdx.x < 32) words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int4 v = *reinterpret_cast<int4*>(words + 2 + zero);  // BUG misaligned_shared
  a[threadIdx.x] = v.x + v.y + v.z + v.w;
}

KERNEL heap_use_after_free(int* a, int n, int zero) {
  if (threadIdx.x != 0) return;
  int* volatile p = static_cast<int*>(malloc(64));
  p[3] = n;
  a[0] = p[3];
  free(p);
  a[1] = p[3 + zero];  // BUG heap_use_after_free
}

// What a loop goes on to, of which a look before the loop could say too much: the last round, the first one, all of them
// beside their places, and places that wrap around in between. Many blocks, since later ones know what the first ones found.
KERNEL loop_past_end(int* a, int n, int zero) {
  int last = blockIdx.x + 1 < gridDim.x ? n : n + 1;
#pragma unroll 1
  for (int i = threadIdx.x; i < last; i += 8) a[i + zero] = i;  // BUG loop_past_end
}

KERNEL loop_before_start(int* a, int n, int zero) {
  int* p = a + (blockIdx.x + 1 < gridDim.x ? 0 : -64) + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n / 128; ++k) p[64 * k] = k;  // BUG loop_before_start
}

KERNEL loop_misaligned(int* a, int n, int zero) {
  char* p = reinterpret_cast<char*>(a) + (blockIdx.x + 1 < gridDim.x ? 0 : 2);
#pragma unroll 1
  for (int i = threadIdx.x; i < n - 8; i += 64) *reinterpret_cast<int*>(p + 4 * i) = i;  // BUG loop_misaligned
}

KERNEL loop_wraps_around(int* a, int n, int zero) {
  unsigned first = blockIdx.x + 1 < gridDim.x ? 0x7fffff00 + zero : 0x7fffffe0 + zero;
  int* p = a - 0x7fffff00LL;
  p[static_cast<int>(first + threadIdx.x)] = 1;  // BUG loop_wraps_around
}

// Rows of 16 halves into registers.
#define LOAD_MATRIX(r, from)                                                                                    \
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;"         \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) \
               : "l"(from)                                                                                      \
               : "memory")

KERNEL matrix_past_end(int* a, int n, int zero) {
  int r[8];
  LOAD_MATRIX(r, a + 936 + zero);  // BUG matrix_past_end
  a[threadIdx.x] = r[0] + r[7];
}

KERNEL __cluster_dims__(2, 1, 1) cluster_past_end(int* a, int n, int zero) {
  __shared__ int s[64];
  unsigned there = static_cast<unsigned>(__cvta_generic_to_shared(s + threadIdx.x + 1 + zero));
  asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(there) : "r"(1 - blockIdx.x));
  asm volatile("st.shared::cluster.u32 [%0], 1;" ::"r"(there) : "memory");  // BUG cluster_past_end
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  a[64 * blockIdx.x + threadIdx.x] = threadIdx.x > 0 ? s[threadIdx.x] : 0;
}

// ---- races -----------------------------------------------------------------------------------------------------------

KERNEL shared_without_barrier(int* a, int n, int zero) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = s[threadIdx.x ^ 32];  // BUG shared_without_barrier
}

KERNEL shared_read_then_write(int* a, int n, int zero) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  int v = s[threadIdx.x ^ 32];
  s[threadIdx.x] = v + 1;  // BUG shared_read_then_write
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
}

KERNEL shared_two_writers(int* a, int n, int zero) {
  __shared__ int s[2];
  s[zero] = threadIdx.x;  // BUG shared_two_writers
  __syncthreads();
  a[threadIdx.x] = s[zero];
}

KERNEL warp_without_sync(int* a, int n, int zero) {
  __shared__ int s[32];
  s[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = s[threadIdx.x ^ 1];  // BUG warp_without_sync
}

KERNEL warp_by_volatile(int* a, int n, int zero) {
  __shared__ volatile int s[32];
  s[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = s[threadIdx.x ^ 1];  // BUG warp_by_volatile
}

KERNEL counter_read_too_early(int* a, int n, int zero) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1 + zero);  // BUG counter_read_too_early
  a[threadIdx.x] = count;
}

KERNEL blocks_write_one_word(int* a, int n, int zero) {
  if (threadIdx.x == 0) a[zero] = blockIdx.x;  // BUG blocks_write_one_word
}

KERNEL global_without_barrier(int* a, int n, int zero) {
  a[threadIdx.x] = threadIdx.x;
  a[threadIdx.x + 64] = a[threadIdx.x ^ 1];  // BUG global_without_barrier
}

KERNEL last_block_without_fence(int* a, int n, int zero) {
  if (threadIdx.x != 0) return;
  a[1 + blockIdx.x] = blockIdx.x + 1;
  if (atomicAdd(a + zero, 1) != gridDim.x - 1) return;
  int sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += a[1 + i];  // BUG last_block_without_fence
  a[100] = sum;
}

// Not the last one.
KERNEL counter_reset_too_early(int* a, int n, int zero) {
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(a + zero, 1) == 2) a[zero] = 0;  // BUG counter_reset_too_early
}

// ---- uninitialised ---------------------------------------------------------------------------------------------------

KERNEL never_written(int* a, int n, int zero) {
  if (threadIdx.x == 0) a[0] = a[5 + zero];  // BUG never_written
}

KERNEL partly_written(int* a, int n, int zero) {
  if (threadIdx.x < 63) a[threadIdx.x] = 1;
  __syncthreads();
  a[100 + threadIdx.x] = a[threadIdx.x] + 1;  // BUG partly_written
}

KERNEL shared_never_written(int* a, int n, int zero) {
  __shared__ int s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];  // BUG shared_never_written
}

KERNEL matrix_never_written(int* a, int n, int zero) {
  __shared__ __align__(32) int s[128];
  int r[8];
  if (threadIdx.x < 32) s[threadIdx.x] = zero;
  __syncthreads();
  LOAD_MATRIX(r, s + zero);  // BUG matrix_never_written
  a[threadIdx.x] = r[0] + r[7];
}

// Eight rows of 16 bytes; the lanes behind the eighth bring addresses that do not count.
#define LOAD_ROWS(r, from)                                                            \
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"                 \
               : "=r"(r)                                                              \
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from)))           \
               : "memory")

KERNEL rows_never_written(int* a, int n, int zero) {
  __shared__ __align__(16) int s[32];
  int r;
  if (threadIdx.x < 28) s[threadIdx.x] = zero;
  __syncthreads();
  LOAD_ROWS(r, s + threadIdx.x % 8 * 4 + zero);  // BUG rows_never_written
  a[threadIdx.x] = r;
}

KERNEL local_never_written(int* a, int n, int zero) {
  int l[8];
  for (int i = 0; i < 7; ++i) l[(i + zero) % 8] = a[i];
  a[100 + threadIdx.x] = l[7 + zero];  // BUG local_never_written
}

// Where a variable lies, those of other threads and of earlier calls have lain.
KERNEL local_of_another_thread(int* a, int n, int zero) {
  int l[8];
  if (threadIdx.x == 0)
    for (int i = 0; i < 8; ++i) l[(i + zero) % 8] = i;
  a[threadIdx.x] = l[3 + zero];  // BUG local_of_another_thread
}

__device__ __noinline__ int first_of(int written, int zero) {
  int l[4];
  for (int i = 0; i < written; ++i) l[(i + zero) % 4] = i;
  return l[zero];  // BUG local_of_earlier_call
}

KERNEL local_of_earlier_call(int* a, int n, int zero) {
  a[threadIdx.x] = first_of(4, zero) + first_of(zero, zero);
}

// ---- synchronisation -------------------------------------------------------------------------------------------------

KERNEL barrier_in_branches(int* a, int n, int zero) {
  if (threadIdx.x % 2 == 0) {
    a[threadIdx.x] = 1;
    asm volatile("bar.sync 0;" ::: "memory");
  } else {
    a[threadIdx.x] = 2;
    asm volatile("bar.sync 0;" ::: "memory");  // BUG barrier_in_branches
  }
}

KERNEL barrier_for_too_few(int* a, int n, int zero) {
  a[threadIdx.x] = 1;
  asm volatile("bar.sync 1, 96;" ::: "memory");  // BUG barrier_for_too_few
}

KERNEL mask_without_self(int* a, int n, int zero) {
  a[threadIdx.x] = __shfl_sync(0x0000ffff, threadIdx.x, zero);  // BUG mask_without_self
}

KERNEL inactive_lane(int* a, int n, int zero) {
  if (threadIdx.x < 16) a[threadIdx.x] = __shfl_sync(0x0000ffff, threadIdx.x, 20 + zero);  // BUG inactive_lane
}

KERNEL masks_that_differ(int* a, int n, int zero) {
  __syncwarp(threadIdx.x < 16 ? 0x0001ffff : 0xffff8000);  // BUG masks_that_differ
  a[threadIdx.x] = 1;
}

// ---- clean -----------------------------------------------------------------------------------------------------------

KERNEL clean_sum(int* a, int n, int zero) {
  __shared__ int partial[2];
  int v = a[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) a[n - 1] = partial[0] + partial[1];
}

KERNEL clean_tree(int* a, int n, int zero) {
  extern __shared__ int d[];
  d[threadIdx.x] = a[threadIdx.x];
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) d[threadIdx.x] += d[threadIdx.x + half];
  }
  if (threadIdx.x == 0) a[0] = d[0];
}

KERNEL clean_warp(int* a, int n, int zero) {
  __shared__ int s[64];
  for (int round = 0; round < 4; ++round) {
    s[threadIdx.x] = a[threadIdx.x] + round;
    __syncwarp();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
    __syncwarp();
  }
}

KERNEL clean_last_block(int* a, int n, int zero) {
  __shared__ bool last;
  a[64 + blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(a, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += a[64 + i];
  atomicAdd(a + 1, sum);
}

// As the CUDA guide has it: the counter is ready for the next launch.
KERNEL clean_last_block_resets(int* a, int n, int zero) {
  __shared__ bool last;
  a[64 + blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(reinterpret_cast<unsigned*>(a), gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += a[64 + i];
  atomicAdd(a + 1, sum);
  if (threadIdx.x == blockDim.x - 1) a[0] = 0;
}

KERNEL clean_bytes(int* a, int n, int zero) {
  __shared__ char s[256];
  char* bytes = reinterpret_cast<char*>(a);
  s[threadIdx.x] = bytes[threadIdx.x];
  bytes[threadIdx.x] = s[threadIdx.x] + 1;
}

KERNEL clean_local(int* a, int n, int zero) {
  int l[16];
  for (int i = 0; i < 16; ++i) l[(i + n) % 16] = a[i];
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += l[(i * 5 + zero) % 16];
  a[16 + threadIdx.x] = sum;
}

// Copied with padding, and with members that nobody gives a value.
struct Padded {
  char tag;
  double value;
  char last;
};
struct __align__(16) Sparse {
  int used, unused[3];
};

__device__ __noinline__ int sum_of(Padded p, const Sparse* s) { return p.tag + p.last + int(p.value) + s->used; }

KERNEL clean_local_structures(int* a, int n, int zero) {
  Padded from[2], to[2];
  Sparse sparse[2], other[2];
  from[zero].tag = 1;
  from[zero].value = 2;
  from[zero].last = 3;
  sparse[zero].used = 4;
  to[zero] = from[zero];
  other[zero] = sparse[zero];
  a[threadIdx.x] = sum_of(to[zero], other + zero);
}

KERNEL clean_loops(int* a, int n, int zero) {
  if (blockIdx.x % 2 == 0) n -= 100;
  int sum = 0;
  for (int i = threadIdx.x; i < 4 * n; i += 64)
    if (i < n) sum += a[i];
  for (int i = 2 * n - threadIdx.x; i >= -n; i -= 64 + zero)
    if (i >= 0 && i < n) sum += a[i] - reinterpret_cast<unsigned char*>(a)[i];
#pragma unroll 1
  for (unsigned i = threadIdx.x, k = 0; static_cast<int>(k) < n; i += 64, k += 64) sum += a[i < n ? i : 0] + a[i % 64];
  if (sum != 0) a[0] = sum;
}

KERNEL clean_named_barriers(int* a, int n, int zero) {
  __shared__ int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = a[threadIdx.x];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    a[threadIdx.x] = s[63 - threadIdx.x];
  }
}

KERNEL clean_histogram(int* a, int n, int zero) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(a + threadIdx.x, bins[threadIdx.x]);
}

KERNEL clean_flag(int* a, int n, int zero) {
  __shared__ int data;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = 42;
    __threadfence_block();
    flag = 1;
  }
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    __threadfence_block();
    a[0] = data;
  }
}

KERNEL clean_volatile_in_a_warp(int* a, int n, int zero) {
  __shared__ volatile int s[32];
  s[threadIdx.x] = a[threadIdx.x];
  for (int d = 1; d < 32; d *= 2) {
    __syncwarp();
    int other = s[threadIdx.x ^ d];
    __syncwarp();
    s[threadIdx.x] += other;
  }
  a[threadIdx.x] = s[threadIdx.x];
}

KERNEL clean_heap(int* a, int n, int zero) {
  int* p = static_cast<int*>(malloc(64));
  for (int i = 0; i < 16; ++i) p[i] = i;
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += p[(i + zero) % 16];
  free(p);
  a[threadIdx.x] = sum;
}

KERNEL clean_matrix(int* a, int n, int zero) {
  int r[8];
  LOAD_MATRIX(r, a + 872 + zero);
  __syncthreads();
  a[threadIdx.x] = r[0] + r[7];
}

KERNEL clean_rows(int* a, int n, int zero) {
  __shared__ __align__(16) int s[32], t[96];
  int r;
  s[threadIdx.x] = zero;
  if (zero != 0) t[threadIdx.x] = 0;
  __syncthreads();
  LOAD_ROWS(r, threadIdx.x < 8 ? s + threadIdx.x * 4 : t + (threadIdx.x - 8) * 4);
  a[threadIdx.x] = r;
}

KERNEL __cluster_dims__(2, 1, 1) clean_cluster(int* a, int n, int zero) {
  __shared__ int s[64];
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");  // the other block has begun
  unsigned there = static_cast<unsigned>(__cvta_generic_to_shared(s + threadIdx.x + zero));
  asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(there) : "r"(1 - blockIdx.x));
  asm volatile("st.shared::cluster.u32 [%0], 1;" ::"r"(there) : "memory");
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  a[64 * blockIdx.x + threadIdx.x] = s[threadIdx.x];
}

KERNEL clean_cluster_of_one(int* a, int n, int zero) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  a[threadIdx.x] = s[63 - threadIdx.x];
}

KERNEL clean_early_return(int* a, int n, int zero) {
  __shared__ int s[64];
  if (threadIdx.x >= 48) return;
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = s[47 - threadIdx.x];
}
