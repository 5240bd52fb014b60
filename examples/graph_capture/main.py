"""Records launches, with two branches, into a graph, and runs the whole as one."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
code = Program(source, "c++").compile("cubin")
scale, shift, add = (code.get_kernel(name) for name in ("scale", "shift", "add"))

n = 1024
config = LaunchConfig(grid=n // 256, block=256)
pinned = LegacyPinnedMemoryResource()
x, y = (np.from_dlpack(pinned.allocate(4 * n)).view(np.int32) for _ in range(2))
x[:] = y[:] = np.arange(n)

builder = device.create_graph_builder().begin_building()
left, right = builder.split(2)  # what is launched in one does not wait for the other
launch(left, config, scale, x, 2)
launch(right, config, shift, y, 1)
builder = left.join(left, right)
launch(builder, config, add, x, y)
graph = builder.end_building().complete()  # nothing has run yet

for _ in range(3):
    graph.launch(stream)
stream.sync()

expected, other = np.arange(n), np.arange(n)
for _ in range(3):
    other = other + 1
    expected = 2 * expected + other
assert np.array_equal(x, expected)
print(f"three runs of three kernels, all right; the last element is {x[-1]}")
