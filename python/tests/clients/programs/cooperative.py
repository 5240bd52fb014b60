"""Waits for the whole grid in a cooperative launch."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = """extern "C" __global__ void rounds(volatile int* count, int* out) {
  atomicAdd((int*)count, 1);
  while (*count < (int)gridDim.x) {}
  out[blockIdx.x] = *count;
}"""

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("rounds")
pinned = LegacyPinnedMemoryResource()
count, out = pinned.allocate(4), pinned.allocate(8)
np.from_dlpack(count)[:] = 0
launch(stream, LaunchConfig(grid=2, block=1, is_cooperative=True), kernel, count, out)
stream.sync()
print(np.from_dlpack(out).view(np.int32), device.properties.cooperative_launch)
