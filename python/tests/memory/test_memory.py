"""Buffers and the resources they come from."""

import fractions
import gc
import math
import warnings
import weakref

import numpy as np
import pytest

import cucore


def contents(buffer, stream, pinned):
    """The bytes of a buffer, wherever it lies."""
    with pinned.allocate(buffer.size) as host:
        buffer.copy_to(host, stream=stream)
        stream.sync()
        return bytes(memoryview(host))


def test_allocate_copy_fill(device, stream, pinned):
    buffer = device.allocate(64, stream=stream)
    assert buffer.size == 64 and buffer.handle != 0 and type(buffer.handle) is int
    assert buffer.memory_resource is device.memory_resource and buffer.owner is None
    assert repr(buffer) == f"<Buffer ptr={buffer.handle:#x} size=64>"
    buffer.fill(0xAB, stream=stream)
    assert contents(buffer, stream, pinned) == b"\xab" * 64
    copy = buffer.copy_to(stream=stream)
    assert copy.memory_resource is buffer.memory_resource and copy != buffer
    assert contents(copy, stream, pinned) == b"\xab" * 64
    other = device.allocate(64, stream=stream)
    other.fill(0, stream=stream)
    assert buffer.copy_from(other, stream=stream) is None
    assert contents(buffer, stream, pinned) == bytes(64)
    assert other.copy_to(copy, stream=stream) is copy


@pytest.mark.parametrize(
    ("value", "element"),
    [
        (0, b"\0"),
        (255, b"\xff"),
        (True, b"\1"),
        (b"\1\2", b"\1\2"),
        (bytearray(b"abcd"), b"abcd"),
        (np.float32(1.5), np.float32(1.5).tobytes()),
        (np.int16(-2), np.int16(-2).tobytes()),
        (np.array([7], np.uint32), np.uint32(7).tobytes()),
    ],
)
def test_fill_values(device, stream, pinned, value, element):
    buffer = device.allocate(16, stream=stream)
    buffer.fill(value, stream=stream)
    assert contents(buffer, stream, pinned) == element * (16 // len(element))


@pytest.mark.parametrize(
    ("size", "value", "expected"),
    [
        (16, 256, OverflowError),
        (16, -1, OverflowError),
        (16, 10**30, OverflowError),
        (16, np.float64(1), ValueError),
        (16, b"", ValueError),
        (16, b"abc", ValueError),
        (16, "ab", TypeError),
        (16, 1.5, TypeError),
        (16, None, TypeError),
        (15, b"ab", ValueError),
        (18, b"abcd", ValueError),
    ],
)
def test_fill_refuses(device, stream, size, value, expected):
    buffer = device.allocate(size, stream=stream)
    with pytest.raises(expected):
        buffer.fill(value, stream=stream)


@pytest.mark.parametrize("value, expected", [(-1, OverflowError), (1 << 64, OverflowError), ("1", TypeError)])
def test_sizes_are_unsigned_numbers(device, stream, value, expected):
    pool = cucore.DeviceMemoryResource(device)
    for call in (
        lambda: device.allocate(value, stream=stream),
        lambda: pool.allocate(value, stream=stream),
        lambda: pool.deallocate(0, value, stream=stream),
        lambda: cucore.LegacyPinnedMemoryResource().allocate(value),
        lambda: cucore.Buffer.from_handle(0, value),
    ):
        with pytest.raises(expected):
            call()


def test_sizes_are_cut_off_as_int_does(device, stream):
    for value in (5.75, np.float32(5.75), fractions.Fraction(23, 4)):
        assert device.allocate(value, stream=stream).size == 5
    with pytest.raises(OverflowError):
        device.allocate(math.inf, stream=stream)


def test_sizes_must_agree(device, stream):
    small, large = device.allocate(8, stream=stream), device.allocate(16, stream=stream)
    with pytest.raises(ValueError):
        small.copy_to(large, stream=stream)
    with pytest.raises(ValueError):
        small.copy_from(large, stream=stream)
    with pytest.raises(TypeError):
        small.copy_to("there", stream=stream)
    reference = cucore.Buffer.from_handle(small.handle, 8)
    with pytest.raises(ValueError, match="no memory resource"):
        reference.copy_to(stream=stream)


@pytest.mark.parametrize("wrong", [None, 0, "stream", object()])
def test_a_stream_is_required(device, stream, wrong):
    buffer = device.allocate(8, stream=stream)
    for use in (
        lambda: device.allocate(8, stream=wrong),
        lambda: buffer.fill(0, stream=wrong),
        lambda: buffer.copy_to(stream=wrong),
        lambda: buffer.copy_from(buffer, stream=wrong),
        lambda: buffer.set_deallocation_stream(wrong),
    ):
        with pytest.raises(TypeError, match="stream"):
            use()
    with pytest.raises(TypeError):
        device.allocate(8)
    if wrong is not None:
        with pytest.raises(TypeError):
            buffer.close(wrong)


def test_empty_buffers(device, stream, pinned):
    for buffer in (device.allocate(0, stream=stream), pinned.allocate(0)):
        assert buffer.handle == 0 and buffer.size == 0 and buffer
        buffer.fill(1, stream=stream)
        buffer.close()


def test_where_a_buffer_is(device, stream, pinned):
    buffer = device.allocate(16, stream=stream)
    assert (buffer.is_device_accessible, buffer.is_host_accessible, buffer.is_managed) == (True, False, False)
    assert buffer.device_id == device.device_id and not buffer.is_mapped
    host = pinned.allocate(16)
    assert (host.is_device_accessible, host.is_host_accessible, host.is_managed) == (True, True, False)
    for of_no_device in (host, pinned):
        with pytest.raises(RuntimeError, match="of no device"):
            of_no_device.device_id  # noqa: B018
    array = np.zeros(4, np.int32)
    pageable = cucore.Buffer.from_handle(array.ctypes.data, array.nbytes, owner=array)
    assert (pageable.is_device_accessible, pageable.is_host_accessible) == (False, True)
    assert pageable.device_id == -1
    reference = cucore.Buffer.from_handle(buffer.handle, 16)
    assert (reference.is_device_accessible, reference.is_host_accessible) == (True, False)
    assert reference.device_id == device.device_id
    with pytest.raises(RuntimeError, match="IPC"):
        _ = buffer.ipc_descriptor


def test_pageable_memory_can_be_copied(device, stream):
    source, target = np.arange(1000, dtype=np.int32), np.zeros(1000, np.int32)
    wrap = lambda a: cucore.Buffer.from_handle(a.ctypes.data, a.nbytes, owner=a)  # noqa: E731
    buffer = device.allocate(source.nbytes, stream=stream)
    buffer.copy_from(wrap(source), stream=stream)
    buffer.copy_to(wrap(target), stream=stream)
    stream.sync()
    assert (source == target).all()


def test_close_is_final_and_may_be_repeated(device, stream):
    buffer = device.allocate(16, stream=stream)
    buffer.close(stream)
    buffer.close()
    assert (buffer.handle, buffer.size, buffer.memory_resource, buffer.owner) == (0, 0, None, None)
    assert buffer and buffer.is_closed
    for use in (
        lambda: buffer.fill(0, stream=stream),
        lambda: buffer.copy_to(stream=stream),
        lambda: buffer.set_deallocation_stream(stream),
        lambda: buffer.__dlpack__(),
    ):
        with pytest.raises((RuntimeError, ValueError)):
            use()
    with device.allocate(16, stream=stream) as inner:
        assert not inner.is_closed
    assert inner.is_closed
    with pytest.raises(RuntimeError, match="cannot be instantiated"):
        cucore.Buffer()


def test_equality_is_address_and_size(device, stream):
    buffer = device.allocate(16, stream=stream)
    same = cucore.Buffer.from_handle(buffer.handle, 16)
    assert same == buffer and hash(same) == hash(buffer)
    assert buffer != cucore.Buffer.from_handle(buffer.handle, 8) and buffer != 5


def test_an_owner_is_kept_and_cycles_are_collected():
    class Owner:
        pass

    owner = Owner()
    buffer = cucore.Buffer.from_handle(4096, 16, owner=owner)
    assert buffer.owner is owner
    owner.buffer = buffer
    gone = weakref.ref(owner)
    del owner, buffer
    gc.collect()
    assert gone() is None
    with pytest.raises(ValueError, match="not both"):
        cucore.Buffer.from_handle(0, 0, mr=cucore.LegacyPinnedMemoryResource(), owner=gone)
    with pytest.raises(TypeError):
        cucore.Buffer.from_handle(0, 0, mr="pool")


class HostResource(cucore.MemoryResource):
    """Host memory from NumPy; notes what is taken back."""

    is_device_accessible = False
    is_host_accessible = True
    device_id = -1

    def __init__(self, failing=False):
        self.arrays, self.freed, self.failing = {}, [], failing

    def allocate(self, size, *, stream):
        array = np.zeros(max(size, 1), np.uint8)
        self.arrays[array.ctypes.data] = array
        return cucore.Buffer.from_handle(array.ctypes.data, size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        assert type(ptr) is int and isinstance(stream, cucore.Stream)
        self.freed.append((ptr, size, stream))
        del self.arrays[ptr]
        if self.failing:
            raise LookupError("cannot take it back")


def test_a_resource_written_in_python(device, stream, pinned):
    resource = HostResource()
    buffer = resource.allocate(8, stream=stream)
    assert buffer.memory_resource is resource
    assert (buffer.is_device_accessible, buffer.is_host_accessible, buffer.device_id) == (False, True, -1)
    address = buffer.handle
    buffer.close()
    # What no device reaches is in the order of no stream.
    assert resource.freed == [(address, 8, cucore.LEGACY_DEFAULT_STREAM)] and not resource.arrays
    buffer = resource.allocate(8, stream=stream)
    del buffer
    gc.collect()
    assert len(resource.freed) == 2 and not resource.arrays
    other = device.create_stream()
    resource.allocate(8, stream=stream).close(other)
    assert resource.freed[-1][2] == other


def test_a_resource_in_a_cycle_with_its_buffer_is_collected(device, stream):
    resource = HostResource()
    resource.kept = resource.allocate(8, stream=stream)
    gone, freed = weakref.ref(resource), resource.freed
    del resource
    gc.collect()
    assert gone() is None
    assert len(freed) == 1


def test_a_failing_deallocate_is_raised_by_close_and_warned_of_by_the_collector(device, stream):
    resource = HostResource(failing=True)
    buffer = resource.allocate(8, stream=stream)
    with pytest.raises(LookupError, match="cannot take it back"):
        buffer.close()
    assert buffer.is_closed
    buffer = resource.allocate(8, stream=stream)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del buffer
        gc.collect()
    assert [w.category for w in caught] == [cucore.CUDAWarning]
    assert str(caught[0].message).endswith("LookupError: cannot take it back")


def test_a_warning_made_an_error_reaches_the_unraisable_hook(device, stream, monkeypatch):
    import sys

    caught = []
    monkeypatch.setattr(sys, "unraisablehook", caught.append)
    buffer = HostResource(failing=True).allocate(8, stream=stream)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del buffer
        gc.collect()
    assert [item.exc_type for item in caught] == [cucore.CUDAWarning]


def test_a_release_the_driver_refuses_is_raised_by_close_and_warned_of_by_the_collector(device):
    def unknown_to_the_driver():
        memory = np.zeros(64, np.uint8)  # pageable: cuMemFreeHost does not know it
        return cucore.Buffer.from_handle(memory.ctypes.data, 64, mr=cucore.LegacyPinnedMemoryResource())

    with pytest.raises(cucore.CUDAError, match="cuMemFreeHost"):
        unknown_to_the_driver().close()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):  # two failures are two warnings
            buffer = unknown_to_the_driver()
            del buffer
    assert [w.category for w in caught] == [cucore.CUDAWarning] * 2
    assert "cuMemFreeHost" in str(caught[0].message)


def test_a_warning_does_not_disturb_an_exception_in_flight(device, stream):
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")

        def fails():
            buffer = HostResource(failing=True).allocate(8, stream=stream)  # noqa: F841 - dies in the unwinding
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            fails()


def test_the_base_class_refuses_what_is_not_defined():
    class Incomplete(cucore.MemoryResource):
        pass

    resource = Incomplete()
    for use in (
        lambda: resource.allocate(1, stream=None),
        lambda: resource.deallocate(1, 1, stream=None),
        lambda: resource.is_device_accessible,
        lambda: resource.is_host_accessible,
        lambda: resource.device_id,
    ):
        with pytest.raises(TypeError, match="Incomplete"):
            use()
    assert resource.is_managed is False and resource.is_ipc_enabled is False
    with resource as entered:
        assert entered is resource


def test_the_devices_own_pool(device, stream):
    resource = cucore.DeviceMemoryResource(device)
    assert not resource.is_handle_owned and resource.device_id == device.device_id
    assert resource.is_device_accessible and not resource.is_host_accessible and not resource.is_ipc_enabled
    assert type(resource.handle).__name__ == "CUmemoryPool" and int(resource.handle)
    assert resource.uuid is None and not resource.is_mapped
    assert resource.attributes.release_threshold == 2**64 - 1


def test_the_attributes_of_a_closed_resource_cannot_be_had(device):
    resource = cucore.DeviceMemoryResource(device, {})
    resource.close()
    with pytest.raises(RuntimeError, match="closed"):
        resource.attributes  # noqa: B018
    with pytest.raises(RuntimeError, match="closed"):
        resource.peer_accessible_by  # noqa: B018
    assert not resource.is_mapped and not resource.is_ipc_enabled and resource.uuid is None


def test_a_closed_buffer_keeps_its_resource_no_longer(device, stream):
    resource = cucore.DeviceMemoryResource(device, {})
    buffer = resource.allocate(16, stream=stream)
    known = weakref.ref(resource)
    del resource
    gc.collect()
    assert known() is buffer.memory_resource
    buffer.close()
    gc.collect()
    assert known() is None and buffer.memory_resource is None


def test_a_pool_of_its_own(device, stream):
    resource = cucore.DeviceMemoryResource(device.device_id, {"max_size": 1 << 32})
    assert resource.is_handle_owned
    attributes = resource.attributes
    before = attributes.used_mem_current
    buffer = resource.allocate(1 << 20, stream=stream)
    assert attributes.used_mem_current >= before + (1 << 20)
    assert attributes.reserved_mem_high >= attributes.reserved_mem_current > 0
    assert type(attributes.reuse_allow_opportunistic) is bool
    assert repr(attributes).startswith("_MemPoolAttributes(release_threshold=")
    with pytest.raises(AttributeError):
        attributes.used_mem_high = 0
    assert attributes is resource.attributes
    resource.close()
    resource.close()
    assert attributes.used_mem_current >= 1 << 20 and attributes.release_threshold == 0  # it keeps the pool
    assert resource.is_closed and int(resource.handle) == 0
    with pytest.raises(RuntimeError, match="has been closed"):
        resource.allocate(16, stream=stream)
    buffer.fill(1, stream=stream)  # buffers outlive their pool's wrapper
    buffer.close()


def test_pool_options_are_checked(device):
    with pytest.raises(TypeError):
        cucore.DeviceMemoryResource(device, "large")
    with pytest.raises(TypeError):
        cucore.DeviceMemoryResource("device 0")
    with pytest.raises(ValueError):
        cucore.PinnedMemoryResource(cucore.PinnedMemoryResourceOptions(numa_id=-2))


def test_a_pool_that_is_full_says_so(device, stream):
    resource = cucore.DeviceMemoryResource(device, {"max_size": 64 << 20})
    with pytest.raises(cucore.CUDAError, match="OUT_OF_MEMORY") as caught:
        resource.allocate(1 << 33, stream=stream)
    assert caught.value.code == 2


def test_peers_are_a_live_set(device):
    resource = cucore.DeviceMemoryResource(device, {})
    peers = resource.peer_accessible_by
    peers.clear()
    assert len(peers) == 0 and list(peers) == [] and device not in peers and "x" not in peers
    peers.add(device)  # the owner is ignored
    resource.peer_accessible_by = [device]
    assert set(peers) == set() and peers | {1} == {1}
    peers.discard(10**4)


def test_pinned_pool_memory_is_for_host_and_device(device, stream):
    try:
        resource = cucore.PinnedMemoryResource()
    except (cucore.CUDAError, RuntimeError) as error:
        pytest.skip(f"no host pools here: {error}")
    assert resource.is_device_accessible and resource.is_host_accessible and resource.device_id == -1
    assert resource.numa_id == -1
    buffer = resource.allocate(64, stream=stream)
    buffer.fill(3, stream=stream)
    stream.sync()
    assert bytes(memoryview(buffer)) == b"\3" * 64
    own = cucore.PinnedMemoryResource(cucore.PinnedMemoryResourceOptions(max_size=1 << 26))
    assert own.is_handle_owned and own.allocate(64, stream=stream)


def test_legacy_pinned_memory_needs_no_stream(device, stream):
    resource = cucore.LegacyPinnedMemoryResource()
    for buffer in (resource.allocate(16), resource.allocate(16, stream=stream)):
        memoryview(buffer)[:] = b"x" * 16
        assert bytes(memoryview(buffer)) == b"x" * 16
        buffer.close()
    with pytest.raises(TypeError):
        resource.allocate(16, stream=5)


def test_dlpack(device, stream, pinned):
    host = pinned.allocate(16)
    assert host.__dlpack_device__() == (3, 0)
    array = np.from_dlpack(host)
    assert array.dtype == np.int8 and array.shape == (16,)
    array[:] = 5
    alive = weakref.ref(host)
    del host
    gc.collect()
    assert alive() is not None and (array == 5).all()
    del array
    gc.collect()
    assert alive() is None
    buffer = device.allocate(16, stream=stream)
    assert buffer.__dlpack_device__() == (2, device.device_id)
    assert "dltensor" in repr(buffer.__dlpack__())
    assert "dltensor_versioned" in repr(buffer.__dlpack__(max_version=(1, 0)))
    for arguments in ({"dl_device": (1, 0)}, {"copy": True}, {"max_version": (1,)}):
        with pytest.raises(BufferError):
            buffer.__dlpack__(**arguments)


def test_the_buffer_protocol_is_for_host_memory(device, stream, pinned):
    with pytest.raises(TypeError, match="not accessible from the host"):
        memoryview(device.allocate(16, stream=stream))
    host = pinned.allocate(16)
    view = np.frombuffer(host, np.int32)
    view[:] = 9
    assert bytes(memoryview(host)[:4]) == b"\x09\0\0\0"
