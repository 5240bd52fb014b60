"""Prefix sums of an array, by blocks and then over the blocks."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
code = Program(source, "c++").compile("cubin")
scan_blocks, add_sums = code.get_kernel("scan_blocks"), code.get_kernel("add_sums")

n, block = 200_000, 512
blocks = (n + block - 1) // block
pinned = LegacyPinnedMemoryResource()
x, out = (np.from_dlpack(pinned.allocate(4 * n)).view(np.int32) for _ in range(2))
sums = device.allocate(4 * blocks, stream=stream)
total = device.allocate(4, stream=stream)
x[:] = np.arange(n) % 7

launch(stream, LaunchConfig(grid=blocks, block=block), scan_blocks, x, out, sums, n)
launch(stream, LaunchConfig(grid=1, block=block), scan_blocks, sums, sums, total, blocks)
launch(stream, LaunchConfig(grid=blocks, block=block), add_sums, out, sums, n)
stream.sync()

assert np.array_equal(out, np.cumsum(x))
print(f"{n} prefix sums, all right; the last is {out[-1]}")
