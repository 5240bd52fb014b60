"""Adds two vectors with a kernel made of a template."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
template <class T> __global__ void add(const T* a, const T* b, T* c, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
program = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
kernel = program.compile("cubin", name_expressions=("add<float>",)).get_kernel("add<float>")
buffers = [LegacyPinnedMemoryResource().allocate(4000) for _ in range(3)]
a, b, c = (np.from_dlpack(buffer).view(np.float32) for buffer in buffers)
a[:], b[:] = np.arange(1000), 2
launch(stream, LaunchConfig(grid=4, block=256), kernel, *buffers, np.uint64(1000))
stream.sync()
print(c.sum(), (c == a + b).all())
