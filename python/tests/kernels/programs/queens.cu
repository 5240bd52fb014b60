// How many ways n queens stand: a thread for each place of the first two, the others by a stack of its own.
extern "C" __global__ void count(int n, unsigned* total) {
  int first = threadIdx.x, second = blockIdx.x;
  if (first >= n) return;
  unsigned columns[16], downs[16], ups[16], open[16], all = (1u << n) - 1, found = 0;
  unsigned a = 1u << first, b = 1u << second;
  if ((b & (a | a << 1 | a >> 1)) != 0) return;
  int depth = 2;
  columns[2] = a | b, downs[2] = (a << 1 | b) << 1, ups[2] = (a >> 1 | b) >> 1;
  open[2] = all & ~(columns[2] | downs[2] | ups[2]);
  while (depth >= 2) {
    if (open[depth] == 0) {
      --depth;
      continue;
    }
    unsigned place = open[depth] & -open[depth];
    open[depth] ^= place;
    if (depth == n - 1) {
      ++found;
      continue;
    }
    columns[depth + 1] = columns[depth] | place;
    downs[depth + 1] = (downs[depth] | place) << 1, ups[depth + 1] = (ups[depth] | place) >> 1;
    ++depth;
    open[depth] = all & ~(columns[depth] | downs[depth] | ups[depth]);
  }
  atomicAdd(total, found);
}
