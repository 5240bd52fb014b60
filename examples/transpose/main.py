"""Transposes a matrix through tiles of shared memory, so that reads and writes both go along rows."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
transpose = Program(source, "c++").compile("cubin").get_kernel("transpose")

rows, columns = 1000, 700
pinned = LegacyPinnedMemoryResource()
matrix = np.from_dlpack(pinned.allocate(4 * rows * columns)).view(np.float32).reshape(rows, columns)
out = np.from_dlpack(pinned.allocate(4 * rows * columns)).view(np.float32).reshape(columns, rows)
matrix[:] = np.arange(rows * columns).reshape(rows, columns)

config = LaunchConfig(grid=((columns + 31) // 32, (rows + 31) // 32), block=(32, 8))
launch(stream, config, transpose, matrix, out, rows, columns)
stream.sync()

assert np.array_equal(out, matrix.T)
print(f"{rows} x {columns} transposed; row 1 begins {out[1, 0]:g} {out[1, 1]:g} {out[1, 2]:g}")
