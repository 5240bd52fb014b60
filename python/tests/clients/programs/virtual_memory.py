"""Makes an allocation of virtual memory larger, without losing what is in it."""

import numpy as np
from cuda.core import Device, LegacyPinnedMemoryResource, VirtualMemoryResource, VirtualMemoryResourceOptions

device = Device()
device.set_current()
stream = device.create_stream()
resource = VirtualMemoryResource(device, config=VirtualMemoryResourceOptions())
buffer = resource.allocate(1 << 21)
buffer.fill(9, stream=stream)
stream.sync()
larger = resource.modify_allocation(buffer, 1 << 22)
host = LegacyPinnedMemoryResource().allocate(larger.size)
larger.copy_to(host, stream=stream)
stream.sync()
print(larger.size >= 1 << 22, (np.from_dlpack(host)[: 1 << 21] == 9).all())
