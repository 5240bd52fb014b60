"""A loop inside a graph: the device decides whether it goes on, and the host waits once."""

from pathlib import Path

import numpy as np

from cucore import Device, LaunchConfig, LegacyPinnedMemoryResource, Program
from cucore.graph import GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
source = Path(__file__).with_name("kernels.cu").read_text()
step = Program(source, "c++").compile("cubin").get_kernel("step")

pinned = LegacyPinnedMemoryResource()
root = np.from_dlpack(pinned.allocate(8)).view(np.float64)
steps = np.from_dlpack(pinned.allocate(4)).view(np.int32)
root[0], steps[0] = 1, 0

definition = GraphDefinition()
again = definition.create_condition(default_value=1)
loop = definition.while_loop(again)
loop.body.launch(LaunchConfig(grid=1, block=1), step, root, steps, 2, again)
definition.instantiate().launch(stream)
stream.sync()

assert abs(root[0] ** 2 - 2) < 1e-12
print(f"the square root of 2 is {root[0]:.12f}, after {steps[0]} steps")
