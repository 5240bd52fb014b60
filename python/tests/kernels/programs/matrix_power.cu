// Powers of matrices modulo a prime by squaring: one block a matrix, the whole loop within.
extern "C" __global__ void power(const unsigned* in, unsigned* out, unsigned exponent, unsigned prime) {
  __shared__ unsigned base[8][8], result[8][8];
  int x = threadIdx.x, y = threadIdx.y;
  base[y][x] = in[blockIdx.x * 64 + y * 8 + x];
  result[y][x] = x == y;
  auto times = [&](unsigned (&a)[8][8], unsigned (&b)[8][8]) {
    __syncthreads();
    unsigned long long sum = 0;
    for (int k = 0; k < 8; ++k) sum = (sum + (unsigned long long)a[y][k] * b[k][x]) % prime;
    __syncthreads();
    return (unsigned)sum;
  };
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result[y][x] = times(result, base);
    base[y][x] = times(base, base);
  }
  out[blockIdx.x * 64 + y * 8 + x] = result[y][x];
}
