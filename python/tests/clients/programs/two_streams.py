"""Lets one stream wait for another."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, StreamOptions, launch

SOURCE = """extern "C" __global__ void step(int* x) { *x = *x * 2 + 1; }"""

device = Device()
device.set_current()
first = device.create_stream(options=StreamOptions(nonblocking=True))
second = device.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("step")
buffer = LegacyPinnedMemoryResource().allocate(4)
value = np.from_dlpack(buffer).view(np.int32)
value[0] = 1
for stream, other in ((first, second), (second, first)) * 3:
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
    other.wait(stream)
first.sync()
second.sync()
print(value[0], first.is_nonblocking, second.priority)
