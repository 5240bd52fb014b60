"""Advises and prefetches managed memory."""

import numpy as np
from cuda.core import Device, Host, LaunchConfig, ManagedMemoryResource, Program, launch
from cuda.core.utils import prefetch_batch

SOURCE = """extern "C" __global__ void count(int* x) { x[threadIdx.x] += threadIdx.x; }"""

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("count")
buffer = ManagedMemoryResource().allocate(256, stream=stream)
stream.sync()
value = np.from_dlpack(buffer).view(np.int32)
value[:] = 1
prefetch_batch(stream, [buffer], device)
launch(stream, LaunchConfig(grid=1, block=64), kernel, buffer)
buffer.prefetch(Host(), stream=stream)
stream.sync()
print(value.sum(), buffer.is_managed, buffer.is_host_accessible)
