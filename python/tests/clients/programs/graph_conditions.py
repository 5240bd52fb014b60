"""Runs a body of a graph as long as its condition says."""

import numpy as np
from cuda.core import Device, LegacyPinnedMemoryResource
from cuda.core.graph import GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
buffer = LegacyPinnedMemoryResource().allocate(8)
value = np.from_dlpack(buffer)
for chosen in range(3):
    definition = GraphDefinition()
    node = definition.switch(definition.create_condition(chosen), 2)
    for number, branch in enumerate(node.branches):
        branch.memset(buffer, number + 1, 8)
    value[:] = 0
    definition.instantiate().launch(stream)
    stream.sync()
    print(chosen, value[0], node.cond_type)
