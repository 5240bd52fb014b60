"""Instantiates a kernel template by name for several types, and keeps what was compiled."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramCache, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
types = {"float": np.float32, "double": np.float64, "int": np.int32}
names = [f"axpy<{name}>" for name in types]
code = Program(source, "c++").compile("cubin", name_expressions=names, cache=ProgramCache())

n = 10_000
pinned = LegacyPinnedMemoryResource()
for name, dtype in types.items():
    axpy = code.get_kernel(f"axpy<{name}>")
    x, y = (np.from_dlpack(pinned.allocate(n * dtype().nbytes)).view(dtype) for _ in range(2))
    x[:] = np.arange(n)
    y[:] = 1
    launch(stream, LaunchConfig(grid=8, block=128), axpy, 2, x, y, n)
    stream.sync()
    assert np.array_equal(y, 2 * np.arange(n) + 1)
    print(f"axpy<{name}>: the last is {y[-1]:g}")
