# A client of the driver: every memory resource of NVIDIA's cuda.core, arrays, textures, green contexts, sharing between
# processes.
import multiprocessing
import os

import numpy as np
from checked import checked
from cuda.core import (
    Buffer,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
    Program,
    ProgramOptions,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    launch,
)


def set_up():
    device = Device()
    device.set_current()
    return device, device.create_stream()


def fill_and_read(resource, device, stream, size=256):
    buffer = resource.allocate(size, stream=stream)
    buffer.fill(7, stream=stream)
    back = LegacyPinnedMemoryResource().allocate(buffer.size)
    buffer.copy_to(back, stream=stream)
    stream.sync()
    assert (np.from_dlpack(back).view(np.uint8)[:size] == 7).all()
    buffer.close()


def device_pools():
    device, stream = set_up()
    fill_and_read(DeviceMemoryResource(device), device, stream)
    fill_and_read(DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 24)), device, stream)
    pool = DeviceMemoryResource(device)
    assert pool.attributes.reuse_allow_opportunistic in (True, False) and pool.attributes.used_mem_current == 0
    assert pool.peer_accessible_by == set()


def pinned_pools():
    device, stream = set_up()
    for options in (None, PinnedMemoryResourceOptions(), PinnedMemoryResourceOptions(numa_id=0)):
        resource = PinnedMemoryResource(options)
        buffer = resource.allocate(64, stream=stream)
        assert buffer.is_host_accessible and buffer.is_device_accessible
        numbers = np.from_dlpack(buffer).view(np.uint8)
        numbers[:] = 3
        assert (numbers == 3).all()
        buffer.close()


def managed_pools():
    device, stream = set_up()
    for options in (
        None,
        ManagedMemoryResourceOptions(preferred_location=0),
        ManagedMemoryResourceOptions(preferred_location_type="host"),
        ManagedMemoryResourceOptions(preferred_location=0, preferred_location_type="device"),
    ):
        fill_and_read(ManagedMemoryResource(options), device, stream)
    buffer = ManagedMemoryResource().allocate(4096, stream=stream)
    assert buffer.is_managed
    buffer.prefetch(device, stream=stream)
    stream.sync()


def virtual_memory():
    device, stream = set_up()
    resource = VirtualMemoryResource(device, VirtualMemoryResourceOptions())
    buffer = resource.allocate(4096)
    size = buffer.size
    assert size >= 4096
    buffer.fill(1, stream=stream)
    stream.sync()
    grown = resource.modify_allocation(buffer, 3 * size)
    assert grown.size >= 3 * size
    grown.fill(2, stream=stream)
    stream.sync()
    grown.close()
    fill_and_read(VirtualMemoryResource(device, VirtualMemoryResourceOptions(handle_type=None)), device, stream)


def texture_objects():
    from cuda.core.texture import ResourceDescriptor

    device, stream = set_up()
    array = device.create_opaque_array({"shape": (8, 4), "format": "float32", "num_channels": 1})
    data = np.arange(32, dtype=np.float32)
    array.copy_from(data, stream=stream)
    back = np.zeros(32, dtype=np.float32)
    array.copy_to(back, stream=stream)
    stream.sync()
    assert np.array_equal(data, back)
    texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array), options={})
    assert texture.handle != 0
    surfaced = device.create_opaque_array(
        {"shape": (8, 4), "format": "float32", "num_channels": 1, "is_surface_load_store": True}
    )
    surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(surfaced))
    mipmapped = device.create_mipmapped_array({"shape": (8, 8), "format": "uint8", "num_channels": 4, "num_levels": 3})
    assert mipmapped.get_level(2).shape == (2, 2)
    for each in (texture, surface, array, surfaced, mipmapped):
        each.close()


def green_contexts():
    from cuda.core import ContextOptions, SMResourceOptions

    device, stream = set_up()
    whole = device.resources.sm
    assert whole.sm_count == device.properties.multiprocessor_count
    groups, rest = whole.split(SMResourceOptions(count=whole.min_partition_size))
    assert groups[0].sm_count >= whole.min_partition_size
    context = device.create_context(ContextOptions(resources=[groups[0]]))
    assert context.is_green
    own = context.create_stream()
    fill_and_read(DeviceMemoryResource(device), device, own)
    assert own.context.is_green
    own.close()
    context.close()


def checkpoint_is_refused():
    from cuda.core.checkpoint import Process

    set_up()
    try:
        Process(os.getpid()).lock()
    except Exception as error:
        assert "checkpoint" in str(error).lower() or "NOT_SUPPORTED" in str(error), error
    else:
        raise AssertionError("lock() went through")


def child_reads(queue, replies):
    device, stream = set_up()
    buffer = queue.get()
    back = LegacyPinnedMemoryResource().allocate(64)
    buffer.copy_to(back, stream=stream)
    stream.sync()
    replies.put(bytes(np.from_dlpack(back).view(np.uint8)))
    np.from_dlpack(back).view(np.uint8)[:] = 9
    buffer.copy_from(back, stream=stream)
    stream.sync()
    buffer.close()
    replies.put(b"written")


def sharing(resource):
    device, stream = set_up()
    buffer = resource(device).allocate(64, stream=stream)
    five = LegacyPinnedMemoryResource().allocate(64)
    np.from_dlpack(five).view(np.uint8)[:] = 5
    buffer.copy_from(five, stream=stream)
    stream.sync()
    spawn = multiprocessing.get_context("spawn")
    queue, replies = spawn.Queue(), spawn.Queue()
    child = spawn.Process(target=child_reads, args=(queue, replies))
    child.start()
    queue.put(buffer)
    assert replies.get(timeout=60) == b"\x05" * 64
    assert replies.get(timeout=60) == b"written"
    back = LegacyPinnedMemoryResource().allocate(64)
    buffer.copy_to(back, stream=stream)
    stream.sync()
    assert (np.from_dlpack(back).view(np.uint8) == 9).all()
    child.join(60)
    assert child.exitcode == 0


def shared_device_memory():
    sharing(lambda device: DeviceMemoryResource(device, DeviceMemoryResourceOptions(ipc_enabled=True)))


def shared_pinned_memory():
    sharing(lambda device: PinnedMemoryResource(PinnedMemoryResourceOptions(ipc_enabled=True)))


def child_waits(queue, replies):
    device, stream = set_up()
    event = queue.get()
    stream.wait(event)
    event.sync()
    stream.sync()
    replies.put(event.is_done)


def shared_events():
    device, stream = set_up()
    event = stream.record(options={"ipc_enabled": True})
    spawn = multiprocessing.get_context("spawn")
    queue, replies = spawn.Queue(), spawn.Queue()
    child = spawn.Process(target=child_waits, args=(queue, replies))
    child.start()
    queue.put(event)
    assert replies.get(timeout=60)
    child.join(60)


def occupancy_and_attributes():
    device, stream = set_up()
    source = '__device__ int table[4] = {1, 2, 3, 4}; extern "C" __global__ void k(int* p) { *p = table[2]; }'
    code = Program(source, "c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    kernel = code.get_kernel("k")
    assert kernel.attributes.max_threads_per_block == 1024 and kernel.num_arguments == 1
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(128, 0) > 0
    assert kernel.occupancy.max_potential_block_size(0, 0).max_block_size > 0
    assert kernel.occupancy.available_dynamic_shared_memory_per_block(1, 128) > 0
    host = LegacyPinnedMemoryResource().allocate(4)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, host)
    stream.sync()
    assert np.from_dlpack(host).view(np.int32)[0] == 3
    cooperative = LaunchConfig(grid=1, block=32, is_cooperative=True)
    launch(stream, cooperative, kernel, host)
    stream.sync()
    assert Buffer.from_handle(host.handle, 4).is_host_accessible


def every_property():
    device, _ = set_up()
    names = [name for name in dir(device.properties) if not name.startswith("_")]
    assert len(names) >= 140
    for name in names:
        getattr(device.properties, name)


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    for part in (
        every_property,
        device_pools,
        pinned_pools,
        managed_pools,
        virtual_memory,
        texture_objects,
        green_contexts,
        checkpoint_is_refused,
        occupancy_and_attributes,
        shared_device_memory,
        shared_pinned_memory,
        shared_events,
    ):
        checked(part.__name__, part)
