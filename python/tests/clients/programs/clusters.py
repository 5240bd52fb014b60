"""Shares memory among the blocks of a cluster."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = """extern "C" __global__ void ranks(int* out) {
  __shared__ int mine;
  mine = __clusterRelativeBlockRank() + 10;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  out[blockIdx.x] = *(int*)__cluster_map_shared_rank(&mine, __clusterRelativeBlockRank() ^ 1);
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}"""

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("ranks")
out = LegacyPinnedMemoryResource().allocate(16)
launch(stream, LaunchConfig(grid=2, cluster=2, block=1), kernel, out)
stream.sync()
print(np.from_dlpack(out).view(np.int32))
