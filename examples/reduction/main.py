"""Sums an array: shuffles within a warp, shared memory within a block, one atomic addition a block."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
sum_up = Program(source, "c++").compile("cubin").get_kernel("sum")

n = 5_000_000
pinned = LegacyPinnedMemoryResource()
x = np.from_dlpack(pinned.allocate(4 * n)).view(np.int32)
total = np.from_dlpack(pinned.allocate(8)).view(np.int64)
x[:] = np.arange(n)
total[:] = 0

launch(stream, LaunchConfig(grid=128, block=256), sum_up, x, total, n)
stream.sync()

assert total[0] == n * (n - 1) // 2
print(f"0 + 1 + ... + {n - 1} = {total[0]}")
