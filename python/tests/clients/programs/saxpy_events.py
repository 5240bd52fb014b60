"""Measures a kernel between two events."""

import numpy as np
from cuda.core import Device, EventOptions, LaunchConfig, Program, launch

SOURCE = """extern "C" __global__ void scale(float a, float* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= a;
}"""

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("ptx").get_kernel("scale")
buffer = device.allocate(4096, stream=stream)
start = stream.record(options=EventOptions(timing_enabled=True))
launch(stream, LaunchConfig(grid=1, block=128), kernel, np.float32(2), buffer, np.int32(1024))
end = stream.record(options=EventOptions(timing_enabled=True))
end.sync()
print(end - start >= 0, start.is_done, end.is_timing_enabled)
buffer.close(stream)
stream.sync()
