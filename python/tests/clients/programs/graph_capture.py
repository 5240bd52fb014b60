"""Captures two branches into a graph and launches it several times."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuda.core.graph import GraphBuilder, GraphCompleteOptions

SOURCE = """extern "C" __global__ void more(int* x, int by) { atomicAdd(x, by); }"""

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("more")
buffer = LegacyPinnedMemoryResource().allocate(4)
value = np.from_dlpack(buffer).view(np.int32)
value[0] = 0
builder = device.create_graph_builder().begin_building()
left, right = builder.split(2)
config = LaunchConfig(grid=1, block=1)
launch(left, config, kernel, buffer, np.int32(1))
launch(right, config, kernel, buffer, np.int32(10))
joined = GraphBuilder.join(left, right)
launch(joined, config, kernel, buffer, np.int32(100))
graph = joined.end_building().complete(GraphCompleteOptions())
for _ in range(3):
    graph.launch(stream)
stream.sync()
print(value[0], len(joined.graph_definition.nodes()))
