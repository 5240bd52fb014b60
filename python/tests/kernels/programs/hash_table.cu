// A hash table with open addressing that counts words: many threads insert at once.
__device__ unsigned mix(unsigned long long k) {
  k ^= k >> 33, k *= 0xff51afd7ed558ccdull, k ^= k >> 33, k *= 0xc4ceb9fe1a85ec53ull;
  return k ^ k >> 33;
}

extern "C" __global__ void insert(const unsigned long long* keys, int n, unsigned long long* slots, unsigned* counts,
                                  unsigned mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (unsigned slot = mix(keys[i]);; ++slot) {
    unsigned long long seen = atomicCAS(&slots[slot & mask], 0ull, keys[i]);
    if (seen == 0 || seen == keys[i]) {
      atomicAdd(&counts[slot & mask], 1u);
      return;
    }
  }
}

extern "C" __global__ void look_up(const unsigned long long* keys, int n, const unsigned long long* slots,
                                   const unsigned* counts, unsigned mask, unsigned* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = mix(keys[i]);
  while (slots[slot & mask] != 0 && slots[slot & mask] != keys[i]) ++slot;
  found[i] = slots[slot & mask] ? counts[slot & mask] : 0;
}
