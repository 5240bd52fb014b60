"""Builds a graph of its nodes, and changes one in the graph that was made of it."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program
from cuda.core.graph import GraphDefinition

SOURCE = """extern "C" __global__ void twice(unsigned char* x) { x[threadIdx.x] *= 2; }"""

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("twice")
buffer = LegacyPinnedMemoryResource().allocate(8)
value = np.from_dlpack(buffer)
definition = GraphDefinition()
filled = definition.memset(buffer, 3, 8)
doubled = filled.launch(LaunchConfig(grid=1, block=8), kernel, buffer)
doubled.callback(lambda: print("on the host", value[:2]))
graph = definition.instantiate()
graph.launch(stream)
stream.sync()
graph[filled].update(dst=buffer, value=5, width=8)
graph.launch(stream)
stream.sync()
print(value, sorted(type(node).__name__ for node in definition.nodes()), len(definition.edges()))
