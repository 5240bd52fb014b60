"""Memory resources and streams that a program brings itself."""

import gc
import weakref

import numpy as np
from cuda.core import (
    Buffer,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    MemoryResource,
    Program,
    ProgramOptions,
    Stream,
    launch,
)


class Counted(MemoryResource):
    def __init__(self, base):
        self.base, self.held, self.calls = base, {}, []

    def allocate(self, size, *, stream=None):
        inner = self.base.allocate(size)
        self.held[int(inner.handle)] = inner
        self.calls.append(("allocate", size, stream is not None))
        return Buffer.from_handle(ptr=inner.handle, size=size, mr=self)

    def deallocate(self, ptr, size, *, stream=None):
        self.calls.append(("deallocate", size, type(ptr).__name__, stream is not None))
        self.held.pop(int(ptr)).close()

    @property
    def is_device_accessible(self):
        return True

    @property
    def is_host_accessible(self):
        return True

    @property
    def device_id(self):
        return 0


class Queue:
    """Another library's stream."""

    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, int(self.stream.handle)


class Owner:
    pass


device = Device()
device.set_current()
stream = device.create_stream()
kernel = (
    Program('extern "C" __global__ void k(int* x) { *x += 1; }', "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    .compile("cubin")
    .get_kernel("k")
)
resource = Counted(LegacyPinnedMemoryResource())
previous = device.memory_resource
device.memory_resource = resource
print(device.memory_resource is resource, type(previous).__name__)
buffer = device.allocate(64, stream=stream)
print(
    buffer.size,
    buffer.memory_resource is resource,
    buffer.is_host_accessible,
    buffer.is_device_accessible,
    buffer.device_id,
    buffer.owner,
)
numbers = np.from_dlpack(buffer).view(np.int32)
numbers[:] = 0
queue = Queue(stream)
mine = device.create_stream(queue)
for on in (stream, mine, Stream.from_handle(int(stream.handle))):
    launch(on, LaunchConfig(grid=1, block=1), kernel, buffer)
stream.sync()
print(
    int(numbers[0]),
    int(mine.handle) == int(stream.handle),
    mine == stream,
    hash(mine) == hash(stream),
    mine.device == device,
    mine.__cuda_stream__()[0],
)
copy = buffer.copy_to(stream=stream)
stream.sync()
print(copy.memory_resource is resource, int(np.from_dlpack(copy).view(np.int32)[0]))
copy.close(stream)
del numbers
buffer.close()
print(resource.calls, len(resource.held))
alive = weakref.ref(resource)
owner = Owner()
gone = weakref.ref(owner)
wrapped = Buffer.from_handle(resource.base.allocate(16).handle, 16, owner=owner)
del owner
gc.collect()
print(gone() is not None, type(wrapped.owner).__name__, wrapped.memory_resource)
wrapped.close()
gc.collect()
print(gone() is None, wrapped.owner, wrapped.is_closed)
device.memory_resource = previous
last = resource.allocate(8, stream=stream)
del resource
gc.collect()
print(alive() is not None)
del last
gc.collect()
print(alive() is None)
queue_gone = weakref.ref(queue)
del queue
gc.collect()
print(queue_gone() is not None)
mine.close()
gc.collect()
print(queue_gone() is None, mine.is_closed, stream.is_closed)


class Half(MemoryResource):
    pass


for wrong in (
    lambda: Half().allocate(5),
    lambda: Half().device_id,
    lambda: Half().is_host_accessible,
    lambda: MemoryResource().allocate(4),
    lambda: setattr(device, "memory_resource", 5),
    lambda: Buffer.from_handle(5, 16, mr=5),
    lambda: Buffer.from_handle(5, 16, mr=Half(), owner=5),
    lambda: device.create_stream(5),
    lambda: Buffer.from_handle(None, 16).handle,
    lambda: Buffer(),
    lambda: Stream(),
    lambda: device.create_stream(type("B", (), {"__cuda_stream__": lambda self: 5})()),
    lambda: device.create_stream(type("B", (), {"__cuda_stream__": lambda self: (5, 5)})()),
):
    try:
        print("taken", type(wrong()).__name__)
    except Exception as error:
        print(
            [
                kind.__name__
                for kind in type(error).__mro__
                if kind.__module__ == "builtins" or kind.__name__ == "CUDAError"
            ][0]
        )
