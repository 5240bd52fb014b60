"""Arrays that grow and keep what is in them, and the policies of their memory."""

import numpy as np
from cuda.core import (
    Device,
    LegacyPinnedMemoryResource,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)

device = Device()
device.set_current()
stream = device.create_stream()
options = VirtualMemoryResourceOptions(granularity="minimum", self_access="rw", peers=(), handle_type="posix_fd")
resource = VirtualMemoryResource(device, config=options)
host = LegacyPinnedMemoryResource().allocate(1 << 21)
sizes = []
for step in range(2, 6):
    old = resource.allocate(1 << 21)
    old.fill(step, stream=stream)
    stream.sync()
    array = resource.modify_allocation(old, step << 21)
    sizes.append((array.size >> 21, old.size >> 21, old is array, old.is_closed))
    old.close()
    part = type(array).from_handle(int(array.handle) + ((step - 1) << 21), 1 << 21, owner=array)
    part.fill(step + 10, stream=stream)
    copy = array.copy_to(resource.allocate(array.size), stream=stream)
    stream.sync()
    copy.close()
print(sizes)
for step in (1, 5):
    part = type(array).from_handle(int(array.handle) + ((step - 1) << 21), 1 << 21)
    part.copy_to(host, stream=stream)
    stream.sync()
    print(step, np.unique(np.from_dlpack(host)).tolist())
same = resource.modify_allocation(array, 1)
print(same is array, same.size == array.size, array.memory_resource is resource, array.device_id)
array = resource.allocate(1 << 21)
readable = VirtualMemoryResourceOptions(self_access="r", granularity="recommended")
array = resource.modify_allocation(array, array.size + 1, config=readable)
print(array.size >> 21, resource.config.self_access, resource.is_device_accessible, resource.is_host_accessible)
print(options, resource.device == device)
for wrong in ({"location_type": "none"}, {"self_access": "x"}, {"handle_type": "y"}):
    try:
        VirtualMemoryResource(device, VirtualMemoryResourceOptions(**wrong)).allocate(1 << 21)
        print("taken", wrong)
    except Exception as error:
        print(wrong, isinstance(error, ValueError), isinstance(error, RuntimeError), isinstance(error, TypeError))
array.close()
array.close()
print(array.is_closed, array.size, array.handle)
