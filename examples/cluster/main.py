"""Blocks of a cluster read each other's shared memory (compute capability 9.0)."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
sums = Program(source, "c++", {"std": "c++17"}).compile("cubin").get_kernel("sums")

clusters, blocks, threads = 6, 4, 128
n = clusters * blocks * threads
pinned = LegacyPinnedMemoryResource()
x = np.from_dlpack(pinned.allocate(4 * n)).view(np.int32)
out = np.from_dlpack(pinned.allocate(4 * clusters)).view(np.int32)
x[:] = np.arange(n)

launch(stream, LaunchConfig(grid=clusters, cluster=blocks, block=threads), sums, x, out)  # the grid counts clusters
stream.sync()

assert np.array_equal(out, x.reshape(clusters, -1).sum(axis=1))
print(f"{clusters} clusters of {blocks} blocks:", *out)
