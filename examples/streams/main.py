"""Overlaps copies and kernels: parts of an array go through several streams, and events join them at the end."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
source = Path(__file__).with_name("kernels.cu").read_text()
roots = Program(source, "c++").compile("cubin").get_kernel("roots")

parts, n = 8, 50_000  # elements a part
pinned = LegacyPinnedMemoryResource()  # copies from other host memory would make the host wait
inputs = [pinned.allocate(4 * n) for _ in range(parts)]
outputs = [pinned.allocate(4 * n) for _ in range(parts)]
for number, buffer in enumerate(inputs):
    np.from_dlpack(buffer).view(np.float32)[:] = np.arange(n) + number * n

streams = [device.create_stream() for _ in range(4)]
joined = device.create_stream()
config = LaunchConfig(grid=(n + 255) // 256, block=256)
for number in range(parts):
    stream = streams[number % len(streams)]  # in a stream one after the other, beside the other streams
    x, y = device.allocate(4 * n, stream=stream), device.allocate(4 * n, stream=stream)
    x.copy_from(inputs[number], stream=stream)
    launch(stream, config, roots, x, y, n)
    outputs[number].copy_from(y, stream=stream)
for stream in streams:
    joined.wait(stream.record())  # on the device; the host goes on
joined.sync()

found = np.concatenate([np.from_dlpack(buffer).view(np.float32) for buffer in outputs])
np.testing.assert_allclose(found, np.sqrt(np.arange(parts * n)), rtol=1e-5, atol=1e-4)
print(f"{parts} parts through {len(streams)} streams, all right; the last root is {found[-1]:.3f}")
