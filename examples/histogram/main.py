"""Counts how often each byte occurs, with atomics in shared memory; `main.py FILE.png` draws the counts."""

import sys
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
histogram = Program(source, "c++").compile("cubin").get_kernel("histogram")

n = 1_000_000
pinned = LegacyPinnedMemoryResource()
data = np.from_dlpack(pinned.allocate(n)).view(np.uint8)
counts = np.from_dlpack(pinned.allocate(4 * 256)).view(np.uint32)
i = np.arange(n, dtype=np.uint64)
data[:] = i * 7919 % 128 + i * 104729 % 127  # sums of two even spreads: a roof
counts[:] = 0

launch(stream, LaunchConfig(grid=32, block=256), histogram, data, n, counts)
stream.sync()

assert np.array_equal(counts, np.bincount(data, minlength=256))
print(f"{counts.sum()} bytes counted; most often {counts.argmax()}, {counts.max()} times")

if len(sys.argv) > 1:
    from PIL import Image

    heights = counts * 120 // counts.max()
    bars = np.where(np.arange(120)[::-1, None] < heights, 60, 255).astype(np.uint8)
    Image.fromarray(bars.repeat(2, axis=1)).save(sys.argv[1])
