"""A pool of one's own: what is freed serves the next allocation, and the pool says what it holds."""

from cucore import Device, DeviceMemoryResource

device = Device()
device.set_current()
stream = device.create_stream()
pool = DeviceMemoryResource(device, {"max_size": 1 << 28})

mebibyte = 1 << 20
buffers = [pool.allocate(mebibyte, stream=stream) for _ in range(3)]
print(f"three buffers: {pool.attributes.used_mem_current // mebibyte} MiB in use")

addresses = {buffer.handle for buffer in buffers}
for buffer in buffers:
    buffer.close()  # in the order of the stream: work that was submitted before still finds it
stream.sync()
used, most = pool.attributes.used_mem_current, pool.attributes.used_mem_high
print(f"closed: {used // mebibyte} MiB in use, {most // mebibyte} MiB at most")

again = pool.allocate(mebibyte, stream=stream)
assert again.handle in addresses
print("the next allocation takes memory that was freed")
try:
    pool.allocate(1 << 29, stream=stream)
except MemoryError as error:
    print(f"beyond the pool's own limit: {error.name}")
