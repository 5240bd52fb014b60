// x divided by its sum, in one launch: all blocks wait for each other between the two passes.
#include <cooperative_groups.h>

extern "C" __global__ void normalise(double* x, double* total, int n) {
  const auto grid = cooperative_groups::this_grid();
  double mine = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) mine += x[i];
  atomicAdd(total, mine);
  grid.sync();
  for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) x[i] /= *total;
}
