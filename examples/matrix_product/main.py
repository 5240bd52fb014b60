"""Multiplies two matrices through tiles in shared memory."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
product = Program(source, "c++").compile("cubin").get_kernel("product")

n = 256
pinned = LegacyPinnedMemoryResource()
a, b, c = (np.from_dlpack(pinned.allocate(4 * n * n)).view(np.float32).reshape(n, n) for _ in range(3))
i, j = np.indices((n, n))
a[:] = (i + 2 * j) % 5
b[:] = (3 * i + j) % 7

launch(stream, LaunchConfig(grid=(n // 16, n // 16), block=(16, 16)), product, a, b, c, n)
stream.sync()

assert np.array_equal(c, a @ b)  # small whole numbers: no rounding
print(f"{n} x {n} product, all right; its trace is {np.trace(c):g}")
