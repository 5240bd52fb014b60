// Ordinary kernels: grids, loops, templates, shared memory, dynamic shared memory, local arrays, structs by value.
struct Pair {
  float weight;
  int index;
  double bias[3];
};

extern __shared__ __align__(16) unsigned char dynamic_shared[];

extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

template <typename T, int Tile>
__global__ void matmul(const T* a, const T* b, T* c, int n) {
  __shared__ T rows[Tile][Tile], columns[Tile][Tile];
  const int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
  T sum = 0;
  for (int k = 0; k < n / Tile; ++k) {
    rows[threadIdx.y][threadIdx.x] = a[row * n + k * Tile + threadIdx.x];
    columns[threadIdx.y][threadIdx.x] = b[(k * Tile + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < Tile; ++i) sum += rows[threadIdx.y][i] * columns[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
template __global__ void matmul<float, 16>(const float*, const float*, float*, int);
template __global__ void matmul<double, 8>(const double*, const double*, double*, int);

extern "C" __global__ void __launch_bounds__(128, 4) pick(Pair pair, char flag, short s, const char* names, long long* out) {
  int scratch[24];
  for (int i = 0; i < 24; ++i) scratch[i] = names[i + threadIdx.x] * s;
  double* exchange = reinterpret_cast<double*>(dynamic_shared);
  exchange[threadIdx.x] = pair.bias[threadIdx.x % 3] + pair.weight;
  __syncthreads();
  out[threadIdx.x] = scratch[(pair.index + threadIdx.x) % 24] + (flag ? static_cast<long long>(exchange[threadIdx.x ^ 1]) : 0);
}

extern "C" __global__ void switchboard(const unsigned* in, unsigned* out) {
  unsigned v = in[threadIdx.x];
  switch (v % 9) {
    case 0: v /= 7; break;
    case 1: v %= 11; break;
    case 2: v = __popc(v) + __clz(v); break;
    case 3: v = __brev(v) ^ __ffs(v); break;
    case 4: v = __byte_perm(v, v >> 3, 0x4321); break;
    case 5: v = __funnelshift_l(v, ~v, v & 31); break;
    case 6: v = min(v, 77u) + max(v, 5u); break;
    case 7: v = __umulhi(v, v) + __sad(v, 3, 1); break;
    default: if (v > 1000) return; v *= v;
  }
  out[threadIdx.x] = v;
}
