"""Layer normalisation of the rows of a matrix, a warp a row."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
layer_norm = Program(source, "c++").compile("cubin").get_kernel("layer_norm")

rows, columns, epsilon = 100, 768, 1e-5
pinned = LegacyPinnedMemoryResource()


def array(*shape):
    return np.from_dlpack(pinned.allocate(4 * int(np.prod(shape)))).view(np.float32).reshape(shape)


x, gain, bias, out = array(rows, columns), array(columns), array(columns), array(rows, columns)
x[:] = np.sin(np.arange(rows * columns)).reshape(rows, columns) * 3 + 7
gain[:] = np.linspace(0.5, 1.5, columns)
bias[:] = 0.1

config = LaunchConfig(grid=(rows + 7) // 8, block=(32, 8))
launch(stream, config, layer_norm, x, gain, bias, out, rows, columns, epsilon)
stream.sync()

exact = x.astype(np.float64)
normal = (exact - exact.mean(axis=1, keepdims=True)) / np.sqrt(exact.var(axis=1, keepdims=True) + epsilon)
np.testing.assert_allclose(out, normal * gain + bias, rtol=1e-4, atol=1e-4)
print(f"{rows} rows, all right; row 0 had the mean {x[0].mean():.3f}, and has {out[0].mean():.3f}")
