"""Heat spreads in a plate with two hot edges; `main.py FILE.png` draws it."""

import sys
from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
step = Program(source, "c++").compile("cubin").get_kernel("step")

n, steps, rate = 128, 2000, 0.2
pinned = LegacyPinnedMemoryResource()
now, following = (np.from_dlpack(pinned.allocate(8 * n * n)).view(np.float64).reshape(n, n) for _ in range(2))
for plate in now, following:
    plate[:] = 0
    plate[0] = plate[:, 0] = 100
expected = now.copy()

launcher = step.launcher(LaunchConfig(grid=(n // 32, n // 8), block=(32, 8)))
for _ in range(steps // 2):  # to and fro
    launcher(stream, now, following, n, rate)
    launcher(stream, following, now, n, rate)
stream.sync()

for _ in range(steps):
    inner = expected[1:-1, 1:-1]
    around = expected[1:-1, :-2] + expected[1:-1, 2:] + expected[:-2, 1:-1] + expected[2:, 1:-1]
    expected[1:-1, 1:-1] = inner + rate * (around - 4 * inner)
np.testing.assert_allclose(now, expected, rtol=1e-9)
print(f"after {steps} steps the middle has {now[n // 2, n // 2]:.3f} degrees")

if len(sys.argv) > 1:
    from PIL import Image

    warm = (now * 2.55).astype(np.uint8)
    picture = np.stack([warm, 60 + warm // 4, 255 - warm], axis=2).repeat(2, axis=0).repeat(2, axis=1)
    Image.fromarray(picture.astype(np.uint8)).save(sys.argv[1])
