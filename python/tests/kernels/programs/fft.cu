// Fourier transforms of many signals, Stockham's way, one block a signal, radix 2, in shared memory.
extern "C" __global__ void fft(const double2* in, double2* out, int n) {
  extern __shared__ double2 buffer[];
  double2 *a = buffer, *b = buffer + n;
  int t = threadIdx.x;  // n / 2 threads
  in += blockIdx.x * n, out += blockIdx.x * n;
  a[t] = in[t], a[t + n / 2] = in[t + n / 2];
  for (int run = 1; run < n; run *= 2) {
    __syncthreads();
    int k = t % run;
    double s, c;
    sincospi(-double(k) / run, &s, &c);
    double2 u = a[t], v = a[t + n / 2], w = {v.x * c - v.y * s, v.x * s + v.y * c};
    int to = 2 * t - k;
    b[to] = {u.x + w.x, u.y + w.y}, b[to + run] = {u.x - w.x, u.y - w.y};
    double2* other = a;
    a = b, b = other;
  }
  __syncthreads();
  out[t] = a[t], out[t + n / 2] = a[t + n / 2];
}
