// Kernels of warp_test.cpp; warp_kernels.ptx is this file through nvcc -ptx for compute_90. What an H200 wrote with
// `members` is in warp_members.txt; what the others write if lanes run in step, in warp_lockstep.txt.
using u32 = unsigned;
using u64 = unsigned long long;

constexpr u32 kNone = 0xdeadbeef;
constexpr int kResults = 64;

#define VOTE(mode, at, value)                                                                                       \
  asm volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync." mode ".pred q, p, %2; selp.u32 %0, 1, 0, q;}"   \
               : "=r"(r[at])                                                                                        \
               : "r"(u32(value)), "r"(m)                                                                            \
               : "memory")
#define SHFL(mode, at, by, clamp)                                                                                   \
  asm volatile("{.reg .pred q; shfl.sync." mode ".b32 %0|q, %2, %3, %4, %5; selp.u32 %1, 1, 0, q;}"                 \
               : "=r"(r[at]), "=r"(r[at + 1])                                                                       \
               : "r"(100 + lane), "r"(u32(by)), "r"(u32(clamp)), "r"(m)                                             \
               : "memory")

extern "C" {

// ---- who takes part: every operation of a warp, where lanes that `m` names have exited or never were ----------------

/// Lanes that are not in `alive` exit, with `late` while the others wait for them; those that `m` does not name, too.
__global__ void members(u32* out, u32 alive, u32 m, int late) {
  __shared__ u32 cells[64];
  const u32 lane = threadIdx.x & 31;
  cells[threadIdx.x] = 0;
  u32 r[kResults];
  for (int i = 0; i < kResults; ++i) r[i] = kNone;
  __syncthreads();
  if (!(alive >> lane & 1)) {
    if (late)
      for (long long until = clock64() + 200000; clock64() < until;) {
      }
    return;
  }
  if (!(m >> lane & 1)) return;
  VOTE("all", 0, 1);
  VOTE("all", 1, lane != 7);
  VOTE("any", 2, 0);
  VOTE("any", 3, lane == 7);
  VOTE("uni", 4, 1);
  VOTE("uni", 5, 0);
  VOTE("uni", 6, lane & 1);
  r[7] = __ballot_sync(m, 1);
  r[8] = __ballot_sync(m, lane & 2);
  r[9] = __activemask();
  SHFL("idx", 10, 3, 31);
  SHFL("idx", 12, 12, 31);
  SHFL("idx", 14, 30, 31);
  SHFL("idx", 16, lane + 1, 31);
  SHFL("up", 18, 1, 0);
  SHFL("up", 20, 3, 0);
  SHFL("down", 22, 1, 31);
  SHFL("down", 24, 4, 31);
  SHFL("bfly", 26, 1, 31);
  SHFL("bfly", 28, 16, 31);
  SHFL("idx", 30, 3, 0x181f);
  SHFL("down", 32, 2, 0x181f);
  SHFL("up", 34, 2, 0x1800);
  r[36] = __reduce_add_sync(m, lane + 1);
  r[37] = u32(__reduce_add_sync(m, -int(lane) - 1));
  r[38] = __reduce_min_sync(m, lane + 1);
  r[39] = __reduce_max_sync(m, lane + 1);
  r[40] = u32(__reduce_min_sync(m, int(lane) - 100));
  r[41] = u32(__reduce_max_sync(m, int(lane) - 100));
  r[42] = __reduce_and_sync(m, 0xffff0000u | lane);
  r[43] = __reduce_or_sync(m, 1u << lane);
  r[44] = __reduce_xor_sync(m, 1u << lane | 0x10000u);
  r[45] = __match_any_sync(m, lane % 3);
  r[46] = __match_any_sync(m, u64(lane % 3) << 32);
  int p;
  r[47] = __match_all_sync(m, 7u, &p);
  r[48] = p ? 1 : 0;
  r[49] = __match_all_sync(m, lane == 7, &p);
  r[50] = p ? 1 : 0;
  r[51] = __match_all_sync(m, 7ull << 32, &p);
  r[52] = p ? 1 : 0;
  r[53] = __match_all_sync(m, u64(lane == 7) << 32, &p);
  r[54] = p ? 1 : 0;
  asm volatile("{.reg .pred q; elect.sync %0|q, %2; selp.u32 %1, 1, 0, q;}"
               : "=r"(r[55]), "=r"(r[56])
               : "r"(m)
               : "memory");
  cells[threadIdx.x] = lane + 1;
  __syncwarp(m);
  r[57] = cells[threadIdx.x ^ 1];
  r[58] = __syncthreads_count(1);
  for (int i = 0; i < kResults; ++i) out[threadIdx.x * kResults + i] = r[i];
}

/// The votes and shuffles of it alone, for all that the vector form can do.
__global__ void votes_and_shuffles(u32* out, u32 alive, u32 m, int late) {
  const u32 lane = threadIdx.x & 31;
  u32 r[kResults];
  for (int i = 0; i < kResults; ++i) r[i] = kNone;
  if (!(alive >> lane & 1)) return;
  if (!(m >> lane & 1)) return;
  VOTE("all", 0, 1);
  VOTE("all", 1, lane != 7);
  VOTE("any", 2, 0);
  VOTE("any", 3, lane == 7);
  VOTE("uni", 4, 1);
  VOTE("uni", 5, 0);
  VOTE("uni", 6, lane & 1);
  r[7] = __ballot_sync(m, 1);
  r[8] = __ballot_sync(m, lane & 2);
  SHFL("idx", 10, 3, 31);
  SHFL("idx", 12, 12, 31);
  SHFL("idx", 14, 30, 31);
  SHFL("idx", 16, lane + 1, 31);
  SHFL("up", 18, 1, 0);
  SHFL("up", 20, 3, 0);
  SHFL("down", 22, 1, 31);
  SHFL("down", 24, 4, 31);
  SHFL("bfly", 26, 1, 31);
  SHFL("bfly", 28, 16, 31);
  SHFL("idx", 30, 3, 0x181f);
  SHFL("down", 32, 2, 0x181f);
  SHFL("up", 34, 2, 0x1800);
  for (int i = 0; i < 36; ++i) out[threadIdx.x * kResults + i] = r[i];
}

// ---- lanes in step: they exchange values by volatile accesses of shared memory, with no barrier between them --------

/// In a block of 256.
__global__ void sum(const u32* in, u32* out) {
  __shared__ u32 s[256];
  const u32 t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 128) s[t] += s[t + 128];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    volatile u32* w = s;
    w[t] += w[t + 32];
    w[t] += w[t + 16];
    w[t] += w[t + 8];
    w[t] += w[t + 4];
    w[t] += w[t + 2];
    w[t] += w[t + 1];
  }
  out[t] = t < 32 ? s[0] : 0;
}

__device__ __noinline__ u32 sum_of_warp(volatile u32* w, u32 t) {
  w[t] += w[t + 16];
  w[t] += w[t + 8];
  w[t] += w[t + 4];
  w[t] += w[t + 2];
  w[t] += w[t + 1];
  return w[0];
}

__global__ void sum_by_call(const u32* in, u32* out) {
  __shared__ u32 s[12][64];
  const u32 t = threadIdx.x & 31;
  u32* mine = s[threadIdx.x / 32];
  mine[t] = in[threadIdx.x];
  mine[t + 32] = 0;
  __syncthreads();
  out[threadIdx.x] = sum_of_warp(mine, t);
}

/// With no barrier at all.
__global__ void scan(const u32* in, u32* out) {
  __shared__ volatile u32 s[12][64];
  u32 t = threadIdx.x & 31;
  volatile u32* w = s[threadIdx.x / 32];
  u32 v = in[threadIdx.x];
  w[t] = 0;
  t += 32;
  w[t] = v;
  w[t] = v = v + w[t - 1];
  w[t] = v = v + w[t - 2];
  w[t] = v = v + w[t - 4];
  w[t] = v = v + w[t - 8];
  w[t] = v = v + w[t - 16];
  out[threadIdx.x] = v;
}

__global__ void swap(const u32* in, u32* out) {
  __shared__ volatile u32 w[384];
  const u32 t = threadIdx.x;
  w[t] = in[t];
  __syncthreads();
  u32 v = w[t ^ 1];
  w[t] = v;
  v = w[t ^ 3];
  w[t] = v;
  __syncthreads();
  out[t] = w[t];
}

/// Some lanes do more, then all go on together.
__global__ void divided(const u32* in, u32* out) {
  __shared__ volatile u32 w[384];
  const u32 t = threadIdx.x;
  w[t] = in[t];
  if (t & 1) {
    w[t] += w[t ^ 2];
    w[t] += w[t ^ 4];
    w[t] ^= 5;
  }
  w[t] += w[t ^ 1];
  w[t] += w[t ^ 8];
  out[t] = w[t ^ 16];
}

/// Lanes leave a loop in different iterations.
__global__ void turns(const u32* in, u32* out) {
  __shared__ volatile u32 w[384];
  const u32 t = threadIdx.x;
  w[t] = in[t];
  for (u32 i = 0; i <= (t & 3); ++i) w[t] += w[t ^ 4] + i;
  w[t] += w[t ^ 1];
  out[t] = w[t ^ 2];
}

/// A third of the lanes has exited.
__global__ void exited(const u32* in, u32* out) {
  __shared__ volatile u32 w[384];
  const u32 t = threadIdx.x;
  w[t] = in[t];
  __syncthreads();
  if (t % 3 == 2) return;
  for (u32 d = 1; d < 32; d *= 2) w[t] += w[t ^ d];
  out[t] = w[t];
}

/// Counts by writing until the lane's own tag stays.
__global__ void tagged(const u32* in, u32* out) {
  __shared__ volatile u32 w[12][8];
  const u32 t = threadIdx.x & 31;
  volatile u32* mine = w[threadIdx.x / 32];
  if (t < 8) mine[t] = 0;
  __syncthreads();
  const u32 tag = t << 27, bin = in[threadIdx.x] & 7;
  u32 count;
  do {
    count = tag | ((mine[bin] & 0x07ffffff) + 1);
    mine[bin] = count;
  } while (mine[bin] != count);
  __syncthreads();
  out[threadIdx.x] = mine[t & 7] & 0x07ffffff;
}

/// Lanes wait for a lane of their own warp, then warps for each other.
__global__ void polled(const u32* in, u32* out) {
  __shared__ volatile u32 flag[14];
  __shared__ volatile u32 w[384];
  const u32 t = threadIdx.x, warp = t / 32;
  if (t < 14) flag[t] = 0;
  __syncthreads();
  w[t] = in[t];
  if (t % 32 == 5) {
    w[t] += w[t - 1];
    __threadfence_block();
    flag[warp] = 1;
  } else {
    while (flag[warp] == 0) {
    }
  }
  u32 v = w[t] + w[warp * 32 + 5];
  if (warp == 0) {
    while (flag[1] == 0 && blockDim.x > 32) {
    }
    v += 7;
    __threadfence_block();
    if (t == 0) flag[13] = 1;
  } else {
    while (flag[13] == 0) {
    }
    v += 9;
  }
  out[t] = v;
}

/// Each lane in turn has the lock, and meanwhile the others of its warp wait for it.
__global__ void locked(const u32*, u32* out) {
  __shared__ u32 lock;
  __shared__ volatile u32 count, twice;
  if (threadIdx.x == 0) lock = count = twice = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicCAS(&lock, 0, 1) != 0) continue;
    count = count + 1;
    twice = count * 2;
    __threadfence_block();
    atomicExch(&lock, 0);
    done = true;
  }
  __syncthreads();
  out[threadIdx.x] = count + twice;
}

/// Blocks wait for later ones, exchanging values meanwhile.
__global__ void waiting_for_later_blocks(const u32* in, u32* out) {
  __shared__ volatile u32 w[64];
  const u32 t = threadIdx.x;
  volatile u32* flags = out + 1024;
  w[t] = in[t];
  if (blockIdx.x + 1 < gridDim.x) {
    do {
      w[t] = w[t ^ 1];
    } while (flags[blockIdx.x + 1] != 1);
  }
  __syncthreads();
  flags[blockIdx.x] = 1;
  out[blockIdx.x * blockDim.x + t] = blockIdx.x;
}
}
