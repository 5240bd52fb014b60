"""NVIDIA's cuda.core: what its classes say of themselves, their defaults, and what they refuse, class by class."""

import gc

import numpy as np
from checked import checked, refuses
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    GraphMemoryResource,
    Host,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    Stream,
    StreamOptions,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    launch,
)
from cuda.core.utils import copy_batch, discard_batch, discard_prefetch_batch, prefetch_batch

device = Device()
device.set_current()
stream = device.create_stream()


def devices_and_contexts():
    properties = device.properties
    assert device.compute_capability == (properties.compute_capability_major, properties.compute_capability_minor)
    assert device.arch == "{}{}".format(*device.compute_capability)
    assert len(device.uuid) == 36 and device.device_id == 0 and device.can_access_peer(device)
    assert not device.context.is_green and not device.context.is_closed
    assert device.resources.sm.sm_count == properties.multiprocessor_count
    assert device.default_stream.handle and Device(0) is device


def streams():
    assert stream.is_nonblocking and stream.device is device and stream.context is not None
    assert not device.create_stream(options=StreamOptions(nonblocking=False)).is_nonblocking
    assert [device.create_stream(options=StreamOptions(priority=each)).priority for each in (0, -1)] == [0, -1]
    refuses(ValueError, lambda: device.create_stream(options=StreamOptions(priority=1000)), "1000")
    for default in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM):
        default.sync()
        assert default.priority == 0 and not default.is_nonblocking and default.device is device
    assert Stream.from_handle(int(stream.handle)).device is device
    stream.wait(device.create_stream())


def events():
    timed = EventOptions(timing_enabled=True)
    begin, end = stream.record(options=timed), stream.record(options=timed)
    stream.sync()
    assert end - begin >= 0 and begin.is_done and begin.is_timing_enabled
    assert not begin.is_blocking_sync and not begin.is_ipc_enabled and begin.device is device
    refuses(RuntimeError, lambda: stream.record() - stream.record(), "timing")
    refuses(RuntimeError, lambda: device.create_event(timed) - begin, "recorded")
    refuses(RuntimeError, lambda: begin.ipc_descriptor)
    stream.wait(begin)


def memory_resources():
    for resource, host_too, is_managed in (
        (DeviceMemoryResource(device), False, False),
        (DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 24)), False, False),
        (DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 24, ipc_enabled=True)), False, False),
        (PinnedMemoryResource(), True, False),
        (ManagedMemoryResource(), True, True),
        (LegacyPinnedMemoryResource(), True, False),
    ):
        first, second = resource.allocate(1000, stream=stream), resource.allocate(1000, stream=stream)
        first.copy_to(second, stream=stream)
        copy = second.copy_to(stream=stream)
        empty = resource.allocate(0, stream=stream)
        stream.sync()
        assert first.size == copy.size == 1000 and empty.size == 0 and not first.is_mapped
        assert (first.is_device_accessible, first.is_host_accessible, first.is_managed) == (True, host_too, is_managed)
        for buffer in (first, second, copy, empty):
            buffer.close(stream)
    graph = GraphMemoryResource(device)
    graph.trim()
    assert graph.attributes.used_mem_current == 0 and graph.attributes.reserved_mem_current == 0


def what_cannot_be_allocated():
    small = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 21))
    for resource, size in ((DeviceMemoryResource(device), 1 << 60), (small, 1 << 26)):
        refuses(Exception, lambda: resource.allocate(size, stream=stream), "OUT_OF_MEMORY")  # noqa: B023
    buffer = device.allocate(64, stream=stream)
    refuses(OverflowError, lambda: buffer.fill(256, stream=stream))
    refuses(ValueError, lambda: buffer.fill(b"abc", stream=stream))
    refuses(ValueError, lambda: buffer.copy_to(device.allocate(8, stream=stream), stream=stream))


def fills_of_each_width():
    for resource in (DeviceMemoryResource(device), ManagedMemoryResource(), LegacyPinnedMemoryResource()):
        buffer, host = resource.allocate(64, stream=stream), LegacyPinnedMemoryResource().allocate(64)
        for value in (7, b"\7", b"\1\2", b"\1\2\3\4"):
            buffer.fill(value, stream=stream)
            buffer.copy_to(host, stream=stream)
            stream.sync()
            pattern = bytes([value]) if isinstance(value, int) else value
            assert np.from_dlpack(host).tobytes() == pattern * (64 // len(pattern))


def managed_buffers():
    buffer = ManagedMemoryResource().allocate(1 << 16, stream=stream)
    buffer.read_mostly = True
    assert buffer.read_mostly
    for place in (device, Host(), Host(numa_id=0), None):
        buffer.preferred_location = place
        assert buffer.preferred_location == place
    buffer.accessed_by.add(device)
    assert set(buffer.accessed_by) == {device}
    buffer.accessed_by.discard(device)
    assert set(buffer.accessed_by) == set()
    for place in (device, Host(), Host(numa_id=0), Host.numa_current()):
        buffer.prefetch(place, stream=stream)
    buffer.discard(stream=stream)
    buffer.discard_prefetch(device, stream=stream)
    stream.sync()


def batches():
    resource = ManagedMemoryResource()
    buffers = [resource.allocate(4096, stream=stream) for _ in range(3)]
    prefetch_batch(stream, buffers, device)
    buffers[0].fill(5, stream=stream)
    copy_batch(stream, buffers[:1], buffers[1:2])
    stream.sync()
    assert (np.from_dlpack(buffers[1]).view(np.uint8) == 5).all()
    discard_batch(stream, buffers)
    discard_prefetch_batch(stream, buffers, device)
    stream.sync()


def virtual_memory_options():
    for options in (
        {"self_access": "rw"},
        {"self_access": "r"},
        {"self_access": None},
        {"location_type": "host", "handle_type": None},
        {"granularity": "recommended"},
        {"handle_type": "posix_fd"},
        {"handle_type": None},
        {"addr_align": 1 << 21},
    ):
        buffer = VirtualMemoryResource(device, config=VirtualMemoryResourceOptions(**options)).allocate(1 << 20)
        assert buffer.size == 2 << 20, options
        buffer.close()
    for place in ("host", "host_numa_current"):  # the host as a whole cannot be shared, a thread's place not be kept
        config = VirtualMemoryResourceOptions(location_type=place)
        refuses(Exception, lambda: VirtualMemoryResource(device, config=config).allocate(1), "INVALID_VALUE")  # noqa: B023
    for kind, reason in (("win32_kmt", "INVALID_VALUE"), ("fabric", "NOT_SUPPORTED")):
        config = VirtualMemoryResourceOptions(handle_type=kind)
        refuses(Exception, lambda: VirtualMemoryResource(device, config=config).allocate(1), reason)  # noqa: B023
    refuses(Exception, lambda: VirtualMemoryResource(device, config=VirtualMemoryResourceOptions(gpu_direct_rdma=True)))


def kernels():
    source = """
    extern "C" __global__ void four(int* p, float f, double d, char c) { if (p) p[threadIdx.x] = blockDim.x; }
    extern "C" __global__ void __launch_bounds__(128) bound(int* p) {
        __shared__ int x[100]; x[threadIdx.x] = *p; __syncthreads(); *p = x[99 - threadIdx.x]; }"""
    code = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    four, bound = code.get_kernel("four"), code.get_kernel("bound")
    assert [(each.offset, each.size) for each in four.arguments_info] == [(0, 8), (8, 4), (16, 8), (24, 1)]
    assert Kernel.from_handle(int(four.handle)).num_arguments == 4 and code.get_module()
    attributes = bound.attributes
    assert (attributes.max_threads_per_block, attributes.shared_size_bytes) == (128, 400)
    assert attributes.binary_version == int(device.arch)
    assert attributes.preferred_shared_memory_carveout == -1 and not attributes.cluster_size_must_be_set
    occupancy = bound.occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(128, 0) > 0
    assert occupancy.max_active_blocks_per_multiprocessor(2048, 0) == 0
    assert occupancy.max_potential_block_size(0, 0).max_block_size == 128
    assert occupancy.max_potential_block_size(0, 64).max_block_size == 64
    assert 0 < occupancy.available_dynamic_shared_memory_per_block(2, 64) < 1 << 17
    refuses(Exception, lambda: occupancy.max_active_blocks_per_multiprocessor(0, 0), "INVALID_VALUE")

    host = LegacyPinnedMemoryResource().allocate(4 * 32)
    arguments = (host, 1.0, 2.0, np.int8(1))
    for options in ({}, {"programmatic_stream_serialization": True}):
        launch(stream, LaunchConfig(grid=1, block=32, **options), four, *arguments)
    stream.sync()
    assert (np.from_dlpack(host).view(np.int32) == 32).all()
    for wrong in (LaunchConfig(grid=1, block=2048), LaunchConfig(grid=1, block=32, shmem_size=1 << 20)):
        refuses(Exception, lambda: launch(stream, wrong, four, *arguments), "INVALID_VALUE")  # noqa: B023
    refuses(Exception, lambda: code.get_kernel("missing"), "NOT_FOUND")
    refuses(Exception, lambda: ObjectCode.from_ptx(b".version 8.0 .target sm_80 nope").get_kernel("k"), "INVALID_PTX")


if __name__ == "__main__":
    for part in (
        devices_and_contexts,
        streams,
        events,
        memory_resources,
        what_cannot_be_allocated,
        fills_of_each_width,
        managed_buffers,
        batches,
        virtual_memory_options,
        kernels,
    ):
        checked(part.__name__, part)
        gc.collect()
    checked("nothing_went_wrong_on_the_way", stream.sync)
