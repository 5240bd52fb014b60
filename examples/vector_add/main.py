"""Adds two vectors: one thread an element."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
add = Program(source, "c++").compile("cubin").get_kernel("add")

n = 1_000_000
pinned = LegacyPinnedMemoryResource()  # memory that kernels and NumPy both see
x, y, out = (np.from_dlpack(pinned.allocate(4 * n)).view(np.float32) for _ in range(3))
x[:] = np.arange(n) % 1000
y[:] = 1

launch(stream, LaunchConfig(grid=(n + 255) // 256, block=256), add, x, y, out, n)
stream.sync()

assert np.array_equal(out, x + y)
print(f"{n} sums, all right; the last is {out[-1]:g}")
