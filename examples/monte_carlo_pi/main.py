"""Estimates pi by random points, with a generator that needs no state."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
count = Program(source, "c++").compile("cubin").get_kernel("count")

n = 10_000_000
inside = np.from_dlpack(LegacyPinnedMemoryResource().allocate(8)).view(np.uint64)
inside[:] = 0
launch(stream, LaunchConfig(grid=64, block=256), count, inside, n)
stream.sync()

pi = 4 * inside[0] / n
assert abs(pi - np.pi) < 0.002
print(f"{inside[0]} of {n} points are in the circle: pi is about {pi:.4f}")
