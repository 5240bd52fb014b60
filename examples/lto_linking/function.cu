__device__ float function(float x) { return 3 * x + 1; }
