"""Allocates, uses and frees memory inside a graph."""

import numpy as np
from cuda.core import Device, GraphMemoryResource, LegacyPinnedMemoryResource
from cuda.core.graph import GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
out = LegacyPinnedMemoryResource().allocate(64)
definition = GraphDefinition()
memory = definition.allocate(64)
filled = memory.memset(memory.dptr, 7, 64)
copied = filled.memcpy(out, memory.dptr, 64)
copied.deallocate(memory.dptr)
graph = definition.instantiate()
for _ in range(2):
    graph.launch(stream)
stream.sync()
print(np.from_dlpack(out).sum(), memory.bytesize)
resource = GraphMemoryResource(device)
resource.trim()
print(resource.is_device_accessible, resource.is_host_accessible)
