"""All blocks of a grid meet at a barrier in the kernel: a cooperative launch."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
normalise = Program(source, "c++", {"std": "c++17"}).compile("cubin").get_kernel("normalise")

n = 100_000
pinned = LegacyPinnedMemoryResource()
x = np.from_dlpack(pinned.allocate(8 * n)).view(np.float64)
total = np.from_dlpack(pinned.allocate(8)).view(np.float64)
x[:] = np.arange(n)
total[0] = 0

# As many blocks as can be resident together, or fewer: more are refused.
resident = normalise.occupancy.max_active_blocks_per_multiprocessor(128, 0) * device.properties.multiprocessor_count
config = LaunchConfig(grid=min(32, resident), block=128, is_cooperative=True)
launch(stream, config, normalise, x, total, n)
stream.sync()

np.testing.assert_allclose(x, np.arange(n) / total[0])
print(f"the sum was {total[0]:.0f}, and is {x.sum():.6f}")
