"""Managed memory: where it prefers to be, who maps it, and moving it."""

import warnings

import numpy as np
from cuda.core import (
    Device,
    Host,
    LaunchConfig,
    ManagedBuffer,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.utils import discard_batch, discard_prefetch_batch, prefetch_batch

warnings.simplefilter("ignore")
device = Device()
device.set_current()
stream = device.create_stream()
kernel = (
    Program(
        'extern "C" __global__ void twice(int* x) { x[threadIdx.x] *= 2; }',
        "c++",
        ProgramOptions(arch=f"sm_{device.arch}"),
    )
    .compile("cubin")
    .get_kernel("twice")
)
pools = {
    "default": ManagedMemoryResource(),
    "device": ManagedMemoryResource(
        ManagedMemoryResourceOptions(preferred_location=device.device_id, preferred_location_type="device")
    ),
    "host": ManagedMemoryResource({"preferred_location_type": "host"}),
    "number": ManagedMemoryResource(ManagedMemoryResourceOptions(preferred_location=-1)),
}
for name, pool in pools.items():
    print(
        name,
        pool.preferred_location,
        pool.is_managed,
        pool.is_host_accessible,
        pool.is_device_accessible,
        pool.device_id,
    )
buffer = pools["default"].allocate(4096, stream=stream)
print(type(buffer).__name__, isinstance(buffer, ManagedBuffer), buffer.is_managed, buffer.device_id)
stream.sync()
values = np.from_dlpack(buffer).view(np.int32)
values[:] = np.arange(values.size)
print(buffer.preferred_location, buffer.read_mostly, set(buffer.accessed_by), len(buffer.accessed_by))
buffer.read_mostly = True
buffer.preferred_location = Host()
buffer.accessed_by.add(device)
print(
    buffer.preferred_location == Host(),
    buffer.read_mostly,
    device in buffer.accessed_by,
    buffer.accessed_by == {device},
)
buffer.preferred_location = device
buffer.accessed_by = [Host(), device]
print(buffer.preferred_location == device, sorted(type(one).__name__ for one in buffer.accessed_by))
buffer.accessed_by.discard(Host())
buffer.accessed_by -= {device}
buffer.preferred_location = None
buffer.read_mostly = False
print(buffer.preferred_location, buffer.read_mostly, list(buffer.accessed_by))
buffer.prefetch(device, stream=stream)
launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer)
buffer.prefetch(Host(), stream=stream)
stream.sync()
print(values[:5].tolist(), values[31:34].tolist())
others = [pools["host"].allocate(4096, stream=stream) for _ in range(3)]
prefetch_batch(stream, others, device)
prefetch_batch(stream, others, [device, Host(), device])
discard_batch(stream, others)
discard_prefetch_batch(stream, others, device)
buffer.discard(stream=stream)
buffer.discard_prefetch(device, stream=stream)
stream.sync()
wrapped = ManagedBuffer.from_handle(int(buffer.handle), 4096, owner=buffer)
print(wrapped.size, wrapped.is_managed, wrapped.preferred_location)
for wrong in (
    lambda: buffer.prefetch("x", stream=stream),
    lambda: prefetch_batch(stream, others, [device]),
    lambda: setattr(buffer, "preferred_location", 5),
    lambda: buffer.accessed_by.add("host"),
    lambda: ManagedMemoryResource({"preferred_location": -2}),
    lambda: ManagedMemoryResource({"preferred_location_type": "x"}),
    lambda: ManagedMemoryResource({"preferred_location_type": "device"}),
):
    try:
        wrong()
        print("taken")
    except Exception as error:
        print([kind.__name__ for kind in type(error).__mro__ if kind in (ValueError, TypeError, RuntimeError)])
