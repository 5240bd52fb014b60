"""Lets the driver choose the block size, asks for occupancy, and launches with dynamic shared memory."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
code = Program(source, "c++").compile("cubin")
scale, staged = code.get_kernel("scale"), code.get_kernel("staged")

n = 100_000
x = np.from_dlpack(LegacyPinnedMemoryResource().allocate(4 * n)).view(np.float32)
x[:] = 1

config = LaunchConfig.for_kernel(scale, n)  # the block size with the highest occupancy, and as many as it takes
print(f"scale: {config.grid[0]} blocks of {config.block[0]} threads")
launch(stream, config, scale, x, 3, n)

for block in (64, 256):  # what an element of shared memory a thread leaves room for
    resident = staged.occupancy.max_active_blocks_per_multiprocessor(block, 4 * block)
    print(f"staged: {resident} blocks of {block} threads on a multiprocessor")
launch(stream, LaunchConfig(grid=(n + 255) // 256, block=256, shmem_size=4 * 256), staged, x, 5, n)
stream.sync()

assert (x == 15).all()
print(f"all {n} elements are {x[0]:g}")
