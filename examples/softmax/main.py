"""Softmax of the rows of a matrix, a block a row."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
softmax = Program(source, "c++").compile("cubin").get_kernel("softmax")

rows, columns = 64, 1000
pinned = LegacyPinnedMemoryResource()
x, out = (np.from_dlpack(pinned.allocate(4 * rows * columns)).view(np.float32).reshape(rows, columns) for _ in "ab")
i, j = np.indices((rows, columns))
x[:] = (i * 37 + j * 11) % 200  # exp(199) is too large for a float

launch(stream, LaunchConfig(grid=rows, block=256), softmax, x, out, columns)
stream.sync()

expected = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
expected /= expected.sum(axis=1, keepdims=True)
np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-30)
print(f"{rows} rows, all right; the largest probability of row 0 is {out[0].max():.4f}")
