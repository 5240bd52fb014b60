"""Copies many buffers in one call, and fills with patterns."""

import numpy as np
from cuda.core import Device, LegacyPinnedMemoryResource
from cuda.core.utils import CopyOptions, copy_batch

device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
sources = [device.allocate(64, stream=stream) for _ in range(3)]
results = [pinned.allocate(64) for _ in range(3)]
for buffer, pattern in zip(sources, (1, b"ab", np.int32(5))):
    buffer.fill(pattern, stream=stream)
copy_batch(stream, sources, results, options=CopyOptions())
stream.sync()
print([np.from_dlpack(buffer)[:4].tolist() for buffer in results])
