"""Builds a graph node by node, runs it, and runs it with other arguments without building it again."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program
from cucore.graph import GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
code = Program(source, "c++").compile("cubin")
shift, multiply = code.get_kernel("shift"), code.get_kernel("multiply")

n = 256
config = LaunchConfig(grid=1, block=n)
x, y = (device.allocate(4 * n, stream=stream) for _ in range(2))
out = np.from_dlpack(LegacyPinnedMemoryResource().allocate(4 * n)).view(np.int32)

definition = GraphDefinition()
left = definition.memset(x, 0, 4 * n).launch(config, shift, x, 3)  # each node after the one it is called on
right = definition.memset(y, 0, 4 * n).launch(config, shift, y, 5)  # beside the two on the left
product = definition.join(left, right).launch(config, multiply, x, y, out)
product.callback(lambda: print("a run is done"))
graph = definition.instantiate()

graph.launch(stream)
stream.sync()
assert (out == 15).all()
print("3 * 5 =", out[0])

graph[right].update(config=config, kernel=shift, args=(y, 7))
graph.launch(stream)
stream.sync()
assert (out == 21).all()
print("3 * 7 =", out[0])
