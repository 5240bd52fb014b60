"""The program that perf watches: one kernel that computes for a while."""

import os

import numpy as np

import cucore

SOURCE = """
__device__ unsigned long long step(unsigned long long v) { return v & 1 ? 3 * v + 1 : v / 2; }
extern "C" __global__ void collatz(unsigned* steps, unsigned most) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
  for (unsigned long long v = i + 1; v != 1 && count < most; ++count) v = step(v);
  steps[i] = count;
}
"""
COUNT = 1 << 20

device = cucore.Device()
device.set_current()
stream = device.create_stream()
options = cucore.ProgramOptions(arch=f"sm_{device.arch}")
kernel = cucore.Program(SOURCE, "c++", options).compile("cubin").get_kernel("collatz")
buffer = cucore.LegacyPinnedMemoryResource().allocate(4 * COUNT)
steps = np.from_dlpack(buffer).view(np.uint32)
for _ in range(10):
    cucore.launch(stream, cucore.LaunchConfig(grid=COUNT // 256, block=256), kernel, buffer, np.uint32(1000))
stream.sync()
print(os.getpid(), "computed", steps[26])
