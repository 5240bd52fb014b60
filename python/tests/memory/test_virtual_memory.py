"""VirtualMemoryResource: allocations, growth in place and by moving, and what is left when either fails."""

import gc
import os

import numpy as np
import pytest

import cucore
from cucore import Buffer, Host, VirtualMemoryResource, VirtualMemoryResourceOptions
from cucore.typing import VirtualMemoryAccessType, VirtualMemoryGranularityType

STEP = 2 << 20  # of the CPU device, and of every GPU so far


@pytest.fixture
def resource(device):
    if not device.properties.virtual_memory_management_supported:
        pytest.skip("the device has no virtual memory management")
    return VirtualMemoryResource(device)


def contents(buffer, stream, pinned):
    """What is in a buffer."""
    with pinned.allocate(buffer.size) as host:
        buffer.copy_to(host, stream=stream)
        stream.sync()
        return np.frombuffer(memoryview(host), np.uint8).copy()


def test_memory_is_mapped_and_sizes_round_up(resource, device, stream, pinned):
    assert (resource.is_device_accessible, resource.is_host_accessible, resource.is_managed) == (True, False, False)
    assert resource.device_id == 0 and resource.device == device and not resource.is_ipc_enabled
    assert resource.config == VirtualMemoryResourceOptions()
    buffer = resource.allocate(1)
    assert buffer.size % STEP == 0 and buffer.handle % STEP == 0 and buffer.memory_resource is resource
    assert buffer.device_id == 0 and type(buffer) is Buffer
    buffer.fill(7, stream=stream)
    assert (contents(buffer, stream, pinned) == 7).all()
    buffer.close(stream)
    with resource.allocate(3 * STEP + 1, stream=stream) as larger:
        assert larger.size == 4 * STEP
    empty = resource.allocate(0)
    assert (empty.handle, empty.size) == (0, 0)


def test_kernels_use_it_over_the_seam_of_a_growth(resource, device, stream, pinned):
    kernel = (
        cucore.Program(
            'extern "C" __global__ void fill(unsigned* p, size_t n) {'
            "  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = i; }",
            "c++",
            {"arch": f"sm_{device.arch}"},
        )
        .compile("cubin")
        .get_kernel("fill")
    )
    buffer = resource.modify_allocation(resource.allocate(STEP, stream=stream), 2 * STEP)
    count = buffer.size // 4
    cucore.launch(stream, cucore.LaunchConfig(grid=4, block=128), kernel, buffer, np.uint64(count))
    values = contents(buffer, stream, pinned).view(np.uint32)
    assert (values == np.arange(count, dtype=np.uint32)).all()


def test_a_buffer_grows_and_keeps_what_is_in_it(resource, stream, pinned):
    buffer = resource.allocate(STEP, stream=stream)
    buffer.fill(3, stream=stream)
    for steps in (2, 3, 5):
        grown = resource.modify_allocation(buffer, steps * STEP)
        assert grown.size == steps * STEP and grown.memory_resource is resource
        assert grown is not buffer and buffer.is_closed and not grown.is_closed
        buffer = grown
        assert (contents(buffer, stream, pinned)[:STEP] == 3).all()
        buffer.fill(3, stream=stream)
    buffer.close()


def test_a_buffer_that_has_grown_is_as_long_as_was_asked_and_grows_on(resource, stream, pinned):
    buffer = resource.allocate(STEP, stream=stream)
    for size in (STEP + 1, STEP + 2, 2 * STEP, 2 * STEP + 1):
        buffer = resource.modify_allocation(buffer, size)
        assert buffer.size == size
    buffer.fill(3, stream=stream)
    assert (contents(buffer, stream, pinned) == 3).all()
    buffer.close()


def test_where_the_next_addresses_are_taken_the_buffer_moves(resource, stream, pinned):
    buffer = resource.allocate(STEP, stream=stream)
    buffer.fill(9, stream=stream)
    behind = VirtualMemoryResource(resource.device, {"addr_hint": buffer.handle + buffer.size})
    neighbour = behind.allocate(STEP, stream=stream)
    if neighbour.handle != buffer.handle + buffer.size:
        pytest.skip("the driver put the neighbour elsewhere")
    old = buffer.handle
    grown = resource.modify_allocation(buffer, 2 * STEP)
    assert grown is not buffer and grown.handle != old and buffer.is_closed and (buffer.handle, buffer.size) == (0, 0)
    assert (contents(grown, stream, pinned)[:STEP] == 9).all()
    with pytest.raises(RuntimeError, match="closed"):
        resource.modify_allocation(buffer, 3 * STEP)
    buffer.close()  # of what it was, nothing is freed again
    neighbour.fill(1, stream=stream)
    stream.sync()
    again = resource.modify_allocation(grown, 4 * STEP)
    assert (contents(again, stream, pinned)[:STEP] == 9).all()


def test_a_growth_that_fails_leaves_the_buffer_as_it_was(resource, stream, pinned):
    buffer = resource.allocate(STEP, stream=stream)
    buffer.fill(5, stream=stream)
    handle = buffer.handle
    for size in (1 << 45, 1 << 62, 2**64 - 1):
        with pytest.raises((cucore.CUDAError, ValueError)):
            resource.modify_allocation(buffer, size)
    assert (buffer.handle, buffer.size) == (handle, STEP)
    assert (contents(buffer, stream, pinned) == 5).all()
    buffer.fill(6, stream=stream)
    assert (contents(resource.modify_allocation(buffer, 2 * STEP), stream, pinned)[:STEP] == 6).all()


def test_there_is_no_shrinking(resource, stream):
    buffer = resource.allocate(2 * STEP, stream=stream)
    for size in (0, 1, STEP, 2 * STEP):
        assert resource.modify_allocation(buffer, size) is buffer and buffer.size == 2 * STEP


def test_options_keep_how_sizes_round_and_who_may_do_what_as_they_were_given():
    options = VirtualMemoryResourceOptions(granularity="minimum", self_access="r", peer_access=None)
    assert type(options.granularity) is str and type(options.self_access) is str and options.peer_access is None
    options = VirtualMemoryResourceOptions(allocation_type="pinned", location_type="device", handle_type="posix_fd")
    assert type(options.allocation_type) is type(options.location_type) is type(options.handle_type) is str
    member = VirtualMemoryGranularityType.MINIMUM
    assert VirtualMemoryResourceOptions(granularity=member).granularity is member


def test_defaults_are_members_of_their_enumerations():
    options = VirtualMemoryResourceOptions()
    assert options.granularity is VirtualMemoryGranularityType.RECOMMENDED
    assert options.self_access is options.peer_access is VirtualMemoryAccessType.READ_WRITE
    for value in (options.allocation_type, options.location_type, options.handle_type):
        assert type(value) is not str and isinstance(value, str)


def test_no_device_is_the_current_one(device):
    assert VirtualMemoryResource(None).device is device
    assert cucore.DeviceMemoryResource(None).device_id == device.device_id


def test_options_of_a_change_are_the_resource_s_from_then_on(resource, stream):
    buffer = resource.allocate(STEP, stream=stream)
    changed = VirtualMemoryResourceOptions(granularity="minimum", self_access="r")
    grown = resource.modify_allocation(buffer, 2 * STEP, changed)
    assert resource.config is changed and type(resource.config.granularity) is str
    with pytest.raises(cucore.CUDAError):  # the rights of what it allocates from now on, too: to read
        resource.allocate(STEP, stream=stream).fill(1, stream=stream)
    assert resource.modify_allocation(grown, 1, VirtualMemoryResourceOptions()) is grown
    grown.fill(1, stream=stream)
    stream.sync()
    with pytest.raises(TypeError):
        resource.modify_allocation(grown, 1, 5)
    assert resource.config == VirtualMemoryResourceOptions()


def test_other_buffers_are_refused(resource, device, stream):
    other = VirtualMemoryResource(device)
    for buffer in (device.allocate(64, stream=stream), other.allocate(STEP), resource.allocate(0)):
        with pytest.raises(ValueError, match="not an allocation of this resource"):
            resource.modify_allocation(buffer, 2 * STEP)
    with pytest.raises(TypeError, match="must be a Buffer"):
        resource.modify_allocation(7, 2 * STEP)
    closed = resource.allocate(STEP)
    closed.close()
    with pytest.raises(RuntimeError, match="has been closed") as caught:
        resource.modify_allocation(closed, 2 * STEP)
    assert type(caught.value) is RuntimeError
    with pytest.raises(ValueError, match="not of this resource"):
        resource.deallocate(STEP, STEP)


def test_nothing_is_left_of_what_was_freed(resource, device, stream):
    def files():  # the CPU device's physical memory is a file each
        return len(os.listdir("/proc/self/fd"))

    def cycle():
        buffer = resource.allocate(4 * STEP, stream=stream)
        behind = resource.allocate(STEP, stream=stream)
        grown = resource.modify_allocation(buffer, 8 * STEP)
        again = resource.modify_allocation(grown, 9 * STEP)
        for one in (again, behind):
            one.close()

    cycle()
    gc.collect()
    stream.sync()
    before, memory = files(), device.memory_info.free
    for _ in range(20):
        cycle()
    stream.sync()
    assert files() == before
    assert device.memory_info.free >= memory - (64 << 20)  # the 20 rounds are 360 MiB; others use the device, too


def test_free_waits_for_its_stream(resource, device, stream):
    spin = 'extern "C" __global__ void spin(volatile unsigned* p, int n) { for (int i = 0; i < n; ++i) *p = *p + 1; }'
    kernel = cucore.Program(spin, "c++", {"arch": f"sm_{device.arch}"}).compile("cubin").get_kernel("spin")
    buffer = resource.allocate(STEP, stream=stream)
    buffer.fill(0, stream=stream)
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), kernel, buffer, np.int32(200_000))
    buffer.close()  # unmapped too early, the kernel would fault
    assert stream.is_done
    stream.sync()


@pytest.mark.parametrize("location", ["host", "host_numa", "host_numa_current"])
def test_memory_of_the_host_is_reached_from_the_host(device, stream, location):
    if device.properties.host_numa_id < 0 and location == "host_numa":
        pytest.skip("the driver does not know the node")
    supported = device.properties.host_virtual_memory_management_supported
    if not (supported and device.properties.host_numa_virtual_memory_management_supported):
        pytest.skip("no virtual memory of the host")
    resource = VirtualMemoryResource(device, {"location_type": location, "handle_type": None, "peers": [device]})
    assert resource.is_host_accessible and resource.is_device_accessible and resource.device_id == -1
    assert not VirtualMemoryResource(device, {"location_type": location, "handle_type": None}).is_device_accessible
    with resource.allocate(STEP, stream=stream) as buffer:
        view = memoryview(buffer)
        view[0] = 42
        buffer.fill(7, stream=stream)
        stream.sync()
        assert view[0] == 7 and view[STEP - 1] == 7
        del view


def test_memory_of_the_whole_host_cannot_be_exported(device):
    if not device.properties.host_virtual_memory_management_supported:
        pytest.skip("no virtual memory of the host")
    resource = VirtualMemoryResource(device, {"location_type": "host"})
    with pytest.raises(cucore.CUDAError, match="handle_type none, or a NUMA node"):
        resource.allocate(STEP)


def test_options_are_checked(device, resource):
    options = VirtualMemoryResourceOptions(location_type="host_numa", numa_id=0)
    assert options._location(device) is Host(0)
    for wrong in (
        {"allocation_type": "x"},
        {"location_type": None},
        {"handle_type": "x"},
        {"granularity": None},
        {"self_access": "w"},
        {"peer_access": "x"},
        {"numa_id": 0},
    ):
        refused = VirtualMemoryResource(device, VirtualMemoryResourceOptions(**wrong))
        with pytest.raises(ValueError, match=next(iter(wrong))):
            refused.allocate(STEP)
    refused = VirtualMemoryResource(device, VirtualMemoryResourceOptions(handle_type="win32"))
    with pytest.raises(NotImplementedError, match="win32"):
        refused.allocate(STEP)
    refused.config.handle_type = None
    with pytest.raises(ValueError, match="make another"):
        refused.allocate(STEP)
    with pytest.raises(ValueError, match="power of two"):
        VirtualMemoryResource(device, {"addr_align": 3}).allocate(STEP)
    with pytest.raises(TypeError, match="VirtualMemoryResourceOptions"):
        VirtualMemoryResource(device, 7)
    aligned = VirtualMemoryResource(device, {"addr_align": 16 * STEP}).allocate(STEP)
    assert aligned.handle % (16 * STEP) == 0
    if not device.properties.gpu_direct_rdma_with_cuda_vmm_supported:
        with pytest.raises(RuntimeError, match="GPUDirect RDMA"):
            VirtualMemoryResource(device, {"gpu_direct_rdma": True})
