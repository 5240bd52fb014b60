// One step of the heat equation in a square plate of n x n cells, whose edge keeps its temperature.
extern "C" __global__ void step(const double* now, double* next, int n, double rate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  next[i] = now[i] + rate * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n] - 4 * now[i]);
}
