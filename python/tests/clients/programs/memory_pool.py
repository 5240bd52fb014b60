"""Allocates from a pool with options, and reads its counters."""

from cuda.core import Device, DeviceMemoryResource, DeviceMemoryResourceOptions

device = Device()
device.set_current()
stream = device.create_stream()
pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 24))
buffers = [pool.allocate(1 << 16, stream=stream) for _ in range(4)]
print(pool.attributes.used_mem_current >= 4 << 16, [buffer.size for buffer in buffers])
for buffer in buffers:
    buffer.close(stream)
stream.sync()
print(pool.attributes.used_mem_current, pool.attributes.used_mem_high >= 4 << 16)
device.memory_resource = pool
print(device.allocate(16, stream=stream).memory_resource is pool, pool.is_handle_owned)
pool.close()
print(pool.is_closed)
