"""Descriptors and handles that go to other processes, in the process that they come from."""

import uuid

from common import each, lines

BEHAVIOURS = [
    *each("{thing}.{name}", thing=["pool", "host_pool"], name="is_ipc_enabled is_mapped uuid is_closed"),
    *each("kind({thing}.{name})", thing=["pool", "host_pool"], name="allocation_handle uuid"),
    *each("kind({descriptor})", descriptor=["pool.allocation_handle", "block.ipc_descriptor", "event.ipc_descriptor"]),
    *each(
        "{descriptor} == {descriptor}",
        descriptor=["pool.allocation_handle", "block.ipc_descriptor", "event.ipc_descriptor"],
    ),
    *each(
        "{descriptor} is {descriptor}",
        descriptor=["pool.allocation_handle", "block.ipc_descriptor", "event.ipc_descriptor"],
    ),
    *each(
        "hash({descriptor}) == hash({descriptor})",
        descriptor=["pool.allocation_handle", "block.ipc_descriptor", "event.ipc_descriptor"],
    ),
    *each("copy.copy({descriptor}) == {descriptor}", descriptor=["block.ipc_descriptor", "event.ipc_descriptor"]),
    *each(
        "pickle.loads(pickle.dumps({descriptor})) == {descriptor}",
        descriptor=["block.ipc_descriptor", "event.ipc_descriptor"],
    ),
    *each(
        "type({descriptor})()", descriptor=["pool.allocation_handle", "block.ipc_descriptor", "event.ipc_descriptor"]
    ),
    *lines("""
        block.is_mapped
        block.size
        block.ipc_descriptor.size
        block.ipc_descriptor.none
        int(pool.allocation_handle) > 0
        pool.allocation_handle.handle > 0
        pool.allocation_handle.none
        pool.allocation_handle.uuid == pool.uuid
        pool.allocation_handle.is_closed
        handle = ipc_pool().allocation_handle; handle.close(); handle.is_closed
        handle = ipc_pool().allocation_handle; handle.close(); handle.close(); handle.handle
        handle = ipc_pool().allocation_handle; handle.close(); int(handle)
        pickle.dumps(pool.allocation_handle)
        plain.allocation_handle
        plain.uuid
        buffer.ipc_descriptor
        pinned.allocate(16).ipc_descriptor
        device.create_event().ipc_descriptor
        pickle.dumps(block) and None
        pickle.dumps(plain) and None
        pickle.dumps(event) and None
        event.is_ipc_enabled
        event.is_timing_enabled
        device.create_event({"ipc_enabled": True, "timing_enabled": True})
        core.Event.from_ipc_descriptor(5)
        core.Event.from_ipc_descriptor(b"x" * 64)
        core.Buffer.from_ipc_descriptor(pool, 5)
        core.Buffer.from_ipc_descriptor(pool, block.ipc_descriptor)
        core.Buffer.from_ipc_descriptor(plain, block.ipc_descriptor, stream=stream)
        core.Buffer.from_ipc_descriptor(pool, event.ipc_descriptor, stream=stream)
        pool.register(uuid4()) is pool
        pool.register(pool.uuid)
        kind(pool.uuid)
        core.DeviceMemoryResource.from_registry(uuid4())
        core.DeviceMemoryResource.from_allocation_handle(device, -1)
        core.DeviceMemoryResource.from_allocation_handle(99, 9999)
        core.DeviceMemoryResource.from_allocation_handle(device, pool.allocation_handle).is_mapped
        core.DeviceMemoryResource.from_allocation_handle(device, pool.allocation_handle).is_ipc_enabled
        core.DeviceMemoryResource.from_allocation_handle(device, pool.allocation_handle).allocate(16, stream=stream)
        core.DeviceMemoryResource.from_allocation_handle(device, pool.allocation_handle).is_handle_owned
        core.DeviceMemoryResource.from_allocation_handle(device, int(pool.allocation_handle)).is_mapped
        core.PinnedMemoryResource.from_allocation_handle(host_pool.allocation_handle).is_mapped
        core.PinnedMemoryResource.from_allocation_handle(host_pool.allocation_handle).numa_id
        closed(ipc_pool()).allocation_handle
        closed(ipc_pool()).uuid
        closed(ipc_pool()).is_ipc_enabled
    """),
]


def names(shared):
    core, device = shared.core, shared.device

    def ipc_pool():
        return core.DeviceMemoryResource(device, {"ipc_enabled": True, "max_size": 1 << 22})

    pool = ipc_pool()
    try:
        host_pool = core.PinnedMemoryResource({"ipc_enabled": True, "max_size": 1 << 22})
    except Exception:  # not every machine has them
        host_pool = None
    return {
        "pool": pool,
        "ipc_pool": ipc_pool,
        "host_pool": host_pool,
        "plain": core.DeviceMemoryResource(device, {"max_size": 1 << 22}),
        "block": pool.allocate(64, stream=shared.stream),
        "event": shared.stream.record(options={"ipc_enabled": True}),
        "uuid4": uuid.uuid4,
    }
