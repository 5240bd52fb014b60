"""Copies boxes of a matrix into shared memory by a tensor map: TMA, compute capability 9.0."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cucore.utils import StridedMemoryView

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
sums = Program(source, "c++").compile("cubin").get_kernel("sums")

rows, columns = 64, 256
pinned = LegacyPinnedMemoryResource()
memory = pinned.allocate(4 * rows * columns)
matrix = np.from_dlpack(memory).view(np.float32).reshape(rows, columns)
matrix[:] = np.arange(rows * columns).reshape(rows, columns) % 100
grid = (columns // 64, rows // 16)
out = np.from_dlpack(pinned.allocate(4 * grid[0] * grid[1])).view(np.float32).reshape(grid[1], grid[0])

view = StridedMemoryView.from_buffer(memory, (rows, columns), dtype=np.float32)
boxes = view.as_tensor_map((16, 64))  # rows and columns of a box
launch(stream, LaunchConfig(grid=grid, block=64), sums, boxes, out)
stream.sync()

assert np.array_equal(out, matrix.reshape(4, 16, 4, 64).sum(axis=(1, 3)))
print(f"{out.size} boxes of 16 x 64, all right; the last sum is {out[-1, -1]:g}")
