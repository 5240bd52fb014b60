"""Sorts by a bitonic network: many short launches, submitted in one call."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
step = Program(source, "c++").compile("cubin").get_kernel("step")

n = 1 << 16
x = np.from_dlpack(LegacyPinnedMemoryResource().allocate(4 * n)).view(np.uint32)
x[:] = np.arange(n, dtype=np.uint32) * np.uint32(2654435761)  # well mixed, since it wraps
expected = np.sort(x)

steps = []
length = 2
while length <= n:
    distance = length // 2
    while distance > 0:
        steps.append((x, length, distance))
        distance //= 2
    length *= 2
step.launcher(LaunchConfig(grid=n // 256, block=256)).batch(stream, steps)
stream.sync()

assert np.array_equal(x, expected)
print(f"{n} numbers sorted in {len(steps)} launches")
