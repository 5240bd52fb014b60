// Attention in one pass: softmax(query * keys / sqrt(D)) * values, with no matrix of scores in memory. A thread has one
// query, a block fetches tiles of keys and values for all its threads, and sums are rescaled when a larger score comes.
template <int D, int TILE>
__global__ void attention(const float* queries, const float* keys, const float* values, float* out, int length) {
  __shared__ float key[TILE][D], value[TILE][D];
  const int head = blockIdx.y * length * D, row = blockIdx.x * TILE + threadIdx.x;  // blocks of TILE threads
  float query[D], sum[D] = {}, top = -3e38f, weight = 0;
  for (int d = 0; d < D; ++d) query[d] = queries[head + row * D + d] * rsqrtf(D);
  for (int first = 0; first < length; first += TILE) {
    for (int d = 0; d < D; ++d) {
      key[threadIdx.x][d] = keys[head + (first + threadIdx.x) * D + d];
      value[threadIdx.x][d] = values[head + (first + threadIdx.x) * D + d];
    }
    __syncthreads();
    for (int j = 0; j < TILE; ++j) {
      float score = 0;
      for (int d = 0; d < D; ++d) score += query[d] * key[j][d];
      const float new_top = fmaxf(top, score), rescale = expf(top - new_top), share = expf(score - new_top);
      weight = weight * rescale + share;
      for (int d = 0; d < D; ++d) sum[d] = sum[d] * rescale + share * value[j][d];
      top = new_top;
    }
    __syncthreads();
  }
  for (int d = 0; d < D; ++d) out[head + row * D + d] = sum[d] / weight;
}
