// Scores of two sequences' best alignment: global (Needleman and Wunsch) and local (Smith and Waterman). One block, along
// the diagonals: a thread a row, three diagonals in shared memory.
template <bool LOCAL> __device__ void align(const char* a, int n, const char* b, int m, int* score) {
  __shared__ int diagonals[3][257];
  __shared__ int best;
  int i = threadIdx.x + 1;
  if (i == 1) best = 0;
  for (int d = 0; d <= n + m; ++d) {
    int *now = diagonals[d % 3], *last = diagonals[(d + 2) % 3], *before = diagonals[(d + 1) % 3], j = d - i;
    if (i == 1 && d <= m) now[0] = LOCAL ? 0 : -2 * d;
    if (i <= n && j == 0) now[i] = LOCAL ? 0 : -2 * i;
    if (i <= n && j >= 1 && j <= m) {
      int value = before[i - 1] + (a[i - 1] == b[j - 1] ? 3 : -1);
      value = max(value, max(last[i - 1], last[i]) - 2);
      if (LOCAL) atomicMax(&best, value = max(value, 0));
      now[i] = value;
    }
    __syncthreads();
  }
  if (i == n) *score = LOCAL ? best : diagonals[(n + m) % 3][n];
}

extern "C" __global__ void global_score(const char* a, int n, const char* b, int m, int* score) {
  align<false>(a, n, b, m, score);
}

extern "C" __global__ void local_score(const char* a, int n, const char* b, int m, int* score) {
  align<true>(a, n, b, m, score);
}
