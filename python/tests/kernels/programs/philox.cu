// Philox 4x32-10: four random words for each counter; and pi by throwing darts with them.
struct Words { unsigned w[4]; };

__device__ Words philox(unsigned counter, unsigned seed) {
  unsigned c0 = counter, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = 0;
  for (int round = 0; round < 10; ++round) {
    unsigned low0 = 0xD2511F53u * c0, high0 = __umulhi(0xD2511F53u, c0);
    unsigned low2 = 0xCD9E8D57u * c2, high2 = __umulhi(0xCD9E8D57u, c2);
    c0 = high2 ^ c1 ^ k0, c1 = low2, c2 = high0 ^ c3 ^ k1, c3 = low0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

extern "C" __global__ void generate(uint4* out, unsigned seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Words r = philox(i, seed);
  out[i] = {r.w[0], r.w[1], r.w[2], r.w[3]};
}

extern "C" __global__ void throw_darts(unsigned long long* hits, unsigned seed, int n) {
  unsigned mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Words r = philox(i, seed);
    for (int d = 0; d < 4; d += 2) {
      double x = r.w[d] * 0x1p-32, y = r.w[d + 1] * 0x1p-32;
      mine += x * x + y * y < 1.0;
    }
  }
  mine = __reduce_add_sync(0xffffffff, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(hits, (unsigned long long)mine);
}
