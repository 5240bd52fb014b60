"""A child process reads and writes memory of its parent's pool, in the order of an event."""

import multiprocessing
import warnings

import numpy as np
from cuda.core import (
    Buffer,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    LegacyPinnedMemoryResource,
)


def child(pipe):
    device = Device()
    device.set_current()
    stream = device.create_stream()
    handle = pipe.recv()
    pool = DeviceMemoryResource.from_allocation_handle(device, handle)
    descriptor, ready, whole = pipe.recv()
    stream.wait(ready)
    buffer = Buffer.from_ipc_descriptor(pool, descriptor, stream=stream)
    host = LegacyPinnedMemoryResource().allocate(buffer.size)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    told = [int(value) for value in np.from_dlpack(host)[:4]]
    buffer.fill(9, stream=stream)
    stream.sync()
    again = whole.copy_to(host, stream=stream)
    stream.sync()
    told += [int(np.from_dlpack(again)[0]), pool.is_mapped, pool.is_ipc_enabled, buffer.is_mapped, buffer.size]
    told += [ready.is_ipc_enabled, ready.is_timing_enabled, ready.is_done, ready.device, ready.context]
    told += [whole.size, whole.is_mapped, whole.memory_resource is pool, pool.uuid == whole.memory_resource.uuid]
    try:
        pool.allocate(16, stream=stream)
    except Exception as error:
        told.append(type(error).__name__)
    buffer.close()
    whole.close()
    pool.close()
    told.append(pool.is_closed)
    pipe.send(told)


warnings.simplefilter("ignore")
context = multiprocessing.get_context("fork")  # before CUDA is used
mine, other = context.Pipe()
process = context.Process(target=child, args=(other,))
process.start()

device = Device()
device.set_current()
stream = device.create_stream()
pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 21, ipc_enabled=True))
buffer = pool.allocate(256, stream=stream)
second = pool.allocate(256, stream=stream)
second.fill(7, stream=stream)
buffer.fill(b"\x01\x02\x03\x04", stream=stream)
ready = stream.record(options=EventOptions(ipc_enabled=True))
stream.sync()
mine.send(pool.allocation_handle)
mine.send((buffer.ipc_descriptor, ready, second))
print(mine.recv())
process.join()
host = LegacyPinnedMemoryResource().allocate(256)
buffer.copy_to(host, stream=stream)
stream.sync()
print(process.exitcode, np.from_dlpack(host)[:4].tolist(), pool.is_mapped, buffer.ipc_descriptor.size)
