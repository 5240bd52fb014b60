// Prices of European options.
extern "C" __global__ void price(const float* spots, const float* strikes, const float* years, float* calls, float* puts,
                                 float rate, float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = volatility * sqrtf(years[i]);
  float d1 = (logf(spots[i] / strikes[i]) + (rate + volatility * volatility / 2) * years[i]) / root, d2 = d1 - root;
  float later = strikes[i] * expf(-rate * years[i]);
  calls[i] = spots[i] * normcdff(d1) - later * normcdff(d2);
  puts[i] = later * normcdff(-d2) - spots[i] * normcdff(-d1);
}
