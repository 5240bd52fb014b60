"""Host, ManagedMemoryResource, and the advice of ManagedBuffer."""

import copy
import gc
import pickle
import threading
import warnings

import numpy as np
import pytest

import cucore
from cucore import Host, ManagedBuffer, ManagedMemoryResource, ManagedMemoryResourceOptions, _managed

KERNEL = 'extern "C" __global__ void add_one(int* p, int n) { if (threadIdx.x < n) ++p[threadIdx.x]; }'


@pytest.fixture
def unpooled(device):
    return ManagedMemoryResource({"pooled": False})


@pytest.fixture
def buffer(unpooled, stream):
    with unpooled.allocate(1 << 16, stream=stream) as buffer:
        yield buffer


def test_hosts_are_one_object_for_each_place():
    assert Host() is Host() and Host(numa_id=1) is Host(1) and Host.numa_current() is Host(is_numa_current=True)
    assert len({Host(), Host(0), Host(1), Host.numa_current(), Host()}) == 4
    assert (Host().numa_id, Host(2).numa_id, Host.numa_current().numa_id) == (None, 2, None)
    assert [host.is_numa_current for host in (Host(), Host(2), Host.numa_current())] == [False, False, True]
    assert [repr(host) for host in (Host(), Host(2), Host.numa_current())] == [
        "Host()",
        "Host(numa_id=2)",
        "Host.numa_current()",
    ]
    for host in (Host(), Host(3), Host.numa_current()):
        assert pickle.loads(pickle.dumps(host)) is host and copy.deepcopy(host) is host
    with pytest.raises(AttributeError):
        Host().numa_id = 1


def test_hosts_are_one_object_from_many_threads():
    made, barrier = [], threading.Barrier(4)

    def make():
        barrier.wait()
        made.append(Host(77))

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(host is made[0] for host in made)


@pytest.mark.parametrize("node", [True, -1, 1.0, "0"])
def test_a_host_refuses_what_is_no_node(node):
    with pytest.raises(ValueError, match="numa_id must be an int of 0 or more"):
        Host(node)
    with pytest.raises(ValueError, match="not both"):
        Host(0, is_numa_current=True)


def test_both_sides_use_managed_memory_at_one_address(device, stream):
    kernel = cucore.Program(KERNEL, "c++", {"arch": f"sm_{device.arch}"}).compile("cubin").get_kernel("add_one")
    for options in (None, ManagedMemoryResourceOptions(), {"pooled": False}):
        resource = ManagedMemoryResource(options)
        assert (resource.is_device_accessible, resource.is_host_accessible, resource.is_managed) == (True, True, True)
        assert resource.device_id == -1 and resource.preferred_location is None and not resource.is_ipc_enabled
        buffer = resource.allocate(64, stream=stream)
        assert type(buffer) is ManagedBuffer and buffer.is_managed and buffer.memory_resource is resource
        assert buffer.__dlpack_device__() == (13, 0)  # kDLCUDAManaged, not pinned
        stream.sync()
        values = np.frombuffer(memoryview(buffer), np.int32)
        values[:] = range(16)
        cucore.launch(stream, cucore.LaunchConfig(grid=1, block=32), kernel, buffer, np.int32(16))
        stream.sync()
        assert values.tolist() == list(range(1, 17))
        del values
        buffer.close()


def test_a_pool_and_no_pool(device, stream):
    current, owned, none = (ManagedMemoryResource(o) for o in (None, {}, {"pooled": False}))
    assert (current.is_handle_owned, owned.is_handle_owned, none.is_handle_owned) == (False, True, False)
    assert int(none.handle) == 0 and none and not none.is_pooled and current.is_pooled
    buffer = owned.allocate(4096, stream=stream)
    assert owned.attributes.used_mem_current >= 4096
    with pytest.raises(RuntimeError, match="has no pool"):
        none.attributes.used_mem_current  # noqa: B018
    owned.close()
    none.close()
    buffer.fill(1, stream=stream)
    for closed in (owned, none):
        assert closed.is_closed
        with pytest.raises(RuntimeError, match="has been closed"):
            closed.allocate(1, stream=stream)


@pytest.mark.parametrize(
    ("options", "location", "device_id"),
    [
        ({"preferred_location": 0}, ("device", 0), 0),
        ({"preferred_location": -1}, ("host", None), -1),
        ({"preferred_location": 0, "preferred_location_type": "device"}, ("device", 0), 0),
        ({"preferred_location_type": "host"}, ("host", None), -1),
    ],
)
@pytest.mark.parametrize("pooled", [True, False])
def test_a_resource_prefers_a_location(device, stream, options, location, device_id, pooled):
    resource = ManagedMemoryResource({**options, "pooled": pooled})
    assert resource.preferred_location == location and resource.device_id == device_id
    with resource.allocate(4096, stream=stream) as buffer:
        if not pooled:
            assert buffer.preferred_location == (device if location[0] == "device" else Host())


def test_a_resource_prefers_the_node_of_the_current_device(device, monkeypatch):
    options = ManagedMemoryResourceOptions(preferred_location_type="host_numa")
    node = device.properties.host_numa_id
    if node >= 0:
        assert ManagedMemoryResource(options).preferred_location == ("host_numa", node)
        explicit = {"preferred_location": node, "preferred_location_type": "host_numa"}
        assert ManagedMemoryResource(explicit).preferred_location == ("host_numa", node)
    unknown = type("Unknown", (), {"properties": type("Properties", (), {"host_numa_id": -1})})
    monkeypatch.setattr(_managed, "Device", unknown)
    with pytest.raises(RuntimeError, match="NUMA node of the current device"):
        _managed.preferred_location(options)


@pytest.mark.parametrize(
    "options",
    [
        {"preferred_location": -2},
        {"preferred_location_type": "device"},
        {"preferred_location": -1, "preferred_location_type": "device"},
        {"preferred_location": 0, "preferred_location_type": "host"},
        {"preferred_location": -1, "preferred_location_type": "host_numa"},
        {"preferred_location_type": "moon"},
    ],
)
def test_a_resource_refuses_a_location_that_does_not_fit(device, options):
    with pytest.raises(ValueError, match="preferred_location|numa_id"):
        ManagedMemoryResource(options)
    with pytest.raises(TypeError, match="preferred_location must be an int"):
        ManagedMemoryResource({**options, "preferred_location": "0"})


def test_stream_and_options_follow_the_normal_rules(unpooled, device):
    for kind in (TypeError, AssertionError):
        with pytest.raises(kind, match="stream must be a Stream"):
            unpooled.allocate(1, stream=None)
    with pytest.raises(TypeError):
        unpooled.allocate(1)
    with pytest.raises(TypeError, match="ManagedMemoryResourceOptions"):
        ManagedMemoryResource(7)
    with pytest.raises(RuntimeError, match="cannot be instantiated"):
        ManagedBuffer()


def test_it_warns_once_where_the_host_must_keep_away(device, monkeypatch):
    class Lacking:
        @staticmethod
        def get_all_devices():
            return [type("Device", (), {"properties": type("Properties", (), {"concurrent_managed_access": False})})]

    monkeypatch.setattr(_managed, "Device", Lacking)
    monkeypatch.setattr(_managed, "_warned", threading.Lock())
    with pytest.warns(UserWarning, match="concurrent managed access"):
        ManagedMemoryResource({"pooled": False})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ManagedMemoryResource({"pooled": False})


def test_read_mostly_is_advice_that_can_be_read_back(buffer):
    assert buffer.read_mostly is False
    buffer.read_mostly = True
    assert buffer.read_mostly is True
    buffer.read_mostly = False
    assert buffer.read_mostly is False


def test_the_preferred_location_can_be_read_back(buffer, device):
    assert buffer.preferred_location is None
    buffer.preferred_location = device
    assert buffer.preferred_location == device
    buffer.preferred_location = Host()
    assert buffer.preferred_location is Host()
    node = max(device.properties.host_numa_id, 0)
    buffer.preferred_location = Host(node)
    assert buffer.preferred_location in (Host(node), Host())  # drivers do not tell the only node from the host
    buffer.preferred_location = None
    assert buffer.preferred_location is None
    for wrong in (0, "host", object()):
        with pytest.raises(TypeError, match="a Device or a Host"):
            buffer.preferred_location = wrong


def test_accessed_by_is_a_live_set(buffer, device):
    advised = buffer.accessed_by
    assert len(advised) == 0 and device not in advised and "x" not in advised
    advised.add(device)
    assert device in buffer.accessed_by and set(advised) == {device}
    advised.add(Host())
    assert advised == {device, Host()} and len(advised) == 2
    assert repr(advised).startswith("AccessedBy([")
    assert type(advised | {device}) is set and advised & {Host()} == {Host()} and advised - {device} == {Host()}
    advised.discard(device)
    advised.discard(device)  # absent: the driver is told again, and does not mind
    advised.discard(Host(0))
    advised.discard("x")
    assert set(buffer.accessed_by) == {Host()}
    with pytest.raises(TypeError):
        advised.add(0)
    with pytest.raises(ValueError, match="NUMA"):
        advised.add(Host(0))


def test_a_bad_entry_leaves_accessed_by_as_it_was(buffer, device):
    buffer.accessed_by = [device]
    with pytest.raises(TypeError):
        buffer.accessed_by = [Host(), "device"]
    with pytest.raises(ValueError):
        buffer.accessed_by = [Host(), Host(0)]
    assert set(buffer.accessed_by) == {device}
    buffer.accessed_by = [Host()]
    assert set(buffer.accessed_by) == {Host()}
    buffer.accessed_by = []
    assert len(buffer.accessed_by) == 0


def test_advice_on_pooled_memory_is_taken_or_the_error_says_why(device, stream):
    buffer = ManagedMemoryResource({}).allocate(1 << 16, stream=stream)
    try:
        buffer.read_mostly = True  # the CPU device takes it
        assert buffer.read_mostly
    except cucore.CUDAError as error:  # a GPU does not
        assert error.name == "CUDA_ERROR_NOT_SUPPORTED" and "pooled" in str(error)


def test_prefetch_and_discard(device, stream):
    for options in ({}, {"pooled": False}):
        buffer = ManagedMemoryResource(options).allocate(1 << 16, stream=stream)
        buffer.fill(7, stream=stream)
        buffer.prefetch(device, stream=stream)
        stream.sync()
        assert buffer.last_prefetch_location == device
        buffer.prefetch(Host(), stream=stream)
        stream.sync()
        assert buffer.last_prefetch_location is Host()
        assert bytes(memoryview(buffer)[:4]) == b"\7" * 4
        buffer.discard(stream=stream)
        buffer.discard_prefetch(device, stream=stream)
        buffer.fill(9, stream=stream)
        stream.sync()
        assert bytes(memoryview(buffer)[-4:]) == b"\x09" * 4


def test_prefetch_and_discard_refuse_what_they_cannot_do(buffer, device, stream):
    for call in (buffer.prefetch, buffer.discard_prefetch):
        with pytest.raises(ValueError, match="location is required"):
            call(None, stream=stream)
        with pytest.raises(TypeError, match="a Device or a Host"):
            call(0, stream=stream)
        with pytest.raises(TypeError, match="stream is required"):
            call(device, stream=None)
    with pytest.raises(cucore.CUDAError, match="INVALID_VALUE.*legacy default stream"):
        buffer.discard(stream=cucore.LEGACY_DEFAULT_STREAM)
    buffer.discard(stream=cucore.PER_THREAD_DEFAULT_STREAM)
    buffer.prefetch(device, stream=cucore.LEGACY_DEFAULT_STREAM)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        buffer.read_mostly  # noqa: B018


def test_memory_that_is_not_managed_is_refused_at_first_use(device, stream):
    plain = device.allocate(64, stream=stream)
    wrapped = ManagedBuffer.from_handle(plain.handle, plain.size, owner=plain)
    assert type(wrapped) is ManagedBuffer and wrapped.owner is plain
    for use in (
        lambda: wrapped.read_mostly,
        lambda: wrapped.preferred_location,
        lambda: len(wrapped.accessed_by),
        lambda: wrapped.prefetch(device, stream=stream),
        lambda: wrapped.discard(stream=stream),
    ):
        with pytest.raises(ValueError, match="not managed memory"):
            use()


def test_foreign_managed_memory_is_wrapped(buffer, device):
    wrapped = ManagedBuffer.from_handle(buffer.handle, buffer.size, owner=buffer)
    wrapped.read_mostly = True
    assert buffer.read_mostly and wrapped == buffer
    assert repr(wrapped) == f"<ManagedBuffer ptr={buffer.handle:#x} size={buffer.size}>"


def test_nothing_of_nothing_takes_all_advice(device, stream):
    for options in ({}, {"pooled": False}):
        buffer = ManagedMemoryResource(options).allocate(0, stream=stream)
        assert (buffer.handle, buffer.size) == (0, 0)
        buffer.read_mostly = True
        buffer.preferred_location = device
        buffer.accessed_by = [device]
        buffer.prefetch(device, stream=stream)
        buffer.discard(stream=stream)
        assert buffer.preferred_location is None and not buffer.accessed_by and not buffer.read_mostly


def test_a_managed_buffer_in_a_garbage_cycle_is_freed(unpooled, stream):
    resource = ManagedMemoryResource({})
    buffer = resource.allocate(4096, stream=stream)
    cycle = [buffer]
    cycle.append(cycle)
    assert resource.attributes.used_mem_current > 0
    del buffer, cycle
    gc.collect()
    stream.sync()
    assert resource.attributes.used_mem_current == 0
