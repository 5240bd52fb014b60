"""The batches of cucore.utils: copies, prefetches and discards."""

import ctypes

import pytest

import cucore
from cucore import Host, ManagedMemoryResource
from cucore.typing import MemcpyOverlapMode, MemcpySrcAccessOrder
from cucore.utils import CopyOptions, copy_batch, discard_batch, discard_prefetch_batch, prefetch_batch


@pytest.fixture
def managed(device, stream):
    resource = ManagedMemoryResource({"pooled": False})
    return [resource.allocate(1 << 16, stream=stream) for _ in range(3)]


def contents(buffer):
    return bytes(memoryview(buffer))


def test_a_batch_prefetches_to_one_location_or_to_many(managed, device, stream):
    prefetch_batch(stream, managed, device)
    stream.sync()
    assert [buffer.last_prefetch_location for buffer in managed] == [device] * 3
    prefetch_batch(stream, managed, [Host(), device, Host()])
    stream.sync()
    assert [buffer.last_prefetch_location for buffer in managed] == [Host(), device, Host()]
    prefetch_batch(cucore.LEGACY_DEFAULT_STREAM, managed[:1], (device,))  # one by one: the driver takes no batch there
    device.sync()
    assert managed[0].last_prefetch_location == device


def test_a_batch_discards(managed, device, stream):
    managed[0].fill(1, stream=stream)
    discard_batch(stream, managed)
    discard_prefetch_batch(stream, managed, device)
    discard_prefetch_batch(stream, managed, [Host(), device, device])
    for buffer in managed:
        buffer.fill(5, stream=stream)
    stream.sync()
    assert all(contents(buffer)[::4096] == b"\5" * 16 for buffer in managed)
    for call in (lambda s: discard_batch(s, managed), lambda s: discard_prefetch_batch(s, managed, device)):
        with pytest.raises(cucore.CUDAError, match="INVALID_VALUE.*legacy default stream"):
            call(cucore.LEGACY_DEFAULT_STREAM)
        call(cucore.PER_THREAD_DEFAULT_STREAM)


@pytest.mark.parametrize(
    "call",
    [
        lambda stream, buffers: prefetch_batch(stream, buffers, Host()),
        discard_batch,
        lambda stream, buffers: discard_prefetch_batch(stream, buffers, Host()),
        lambda stream, buffers: copy_batch(stream, buffers, buffers),
    ],
)
def test_every_batch_refuses_what_is_no_sequence_of_buffers(managed, stream, call):
    with pytest.raises(TypeError, match="sequence of Buffers"):
        call(stream, managed[0])
    with pytest.raises(TypeError, match="sequence of Buffers"):
        call(stream, (buffer for buffer in managed))
    with pytest.raises(TypeError, match="must hold Buffers"):
        call(stream, [managed[0], 7])
    with pytest.raises(ValueError, match="at least one"):
        call(stream, [])
    with pytest.raises(TypeError, match="stream is required"):
        call(None, managed)
    managed[2].close()
    with pytest.raises(RuntimeError, match="closed"):
        call(stream, managed)


def test_locations_fit_the_buffers_and_the_buffers_are_managed(managed, device, stream):
    for call in (prefetch_batch, discard_prefetch_batch):
        for locations in ([device], [device] * 4, []):
            with pytest.raises(ValueError, match="one for each"):
                call(stream, managed, locations)
        for locations in (None, [device, None, device]):
            with pytest.raises(ValueError, match="location is required"):
                call(stream, managed, locations)
        with pytest.raises(TypeError, match="a Device or a Host"):
            call(stream, managed, 0)
        call(stream, managed[:1], [device])
    plain = device.allocate(64, stream=stream)
    for call in (lambda all: prefetch_batch(stream, all, device), lambda all: discard_batch(stream, all)):
        with pytest.raises(ValueError, match="not managed memory"):
            call([managed[0], plain])
    stream.sync()
    assert managed[1].last_prefetch_location is None  # nothing was done before everything was checked


def test_a_batch_copies_between_all_kinds_of_memory(device, stream, pinned, managed):
    device_buffer = device.allocate(1 << 16, stream=stream)
    sources = [pinned.allocate(1 << 16) for _ in range(2)]
    for i, source in enumerate(sources):
        source.fill(i + 1, stream=stream)
    copy_batch(stream, sources, [device_buffer, managed[0]])
    host = pinned.allocate(1 << 16)
    copy_batch(stream, [device_buffer], [host], options=CopyOptions(src_access_order="stream"))
    stream.sync()
    assert contents(host) == b"\1" * (1 << 16) and contents(managed[0]) == b"\2" * (1 << 16)


def test_options_are_for_all_or_for_each(device, stream, pinned, managed):
    sources = [pinned.allocate(256) for _ in range(3)]
    targets = [pinned.allocate(256) for _ in range(3)]
    for i, source in enumerate(sources):
        memoryview(source)[:] = bytes([i + 1]) * 256
    at_once = CopyOptions(src_access_order="during_api_call", src_location_hint=Host())
    overlapping = CopyOptions(overlap_mode="prefer_overlap_with_compute", dst_location_hint=device)
    copy_batch(stream, sources, targets, options=[at_once, at_once, CopyOptions("any")])
    memoryview(sources[0])[:] = bytes(256)  # it was read during the call
    stream.sync()
    assert [contents(target)[0] for target in targets] == [1, 2, 3]
    copy_batch(stream, targets, sources, options=overlapping)
    stream.sync()
    assert [contents(source)[0] for source in sources] == [1, 2, 3]
    with pytest.raises(ValueError, match="one for each"):
        copy_batch(stream, sources, targets, options=[at_once])
    with pytest.raises(TypeError, match="CopyOptions"):
        copy_batch(stream, sources, targets, options=7)


def test_a_batch_of_copies_refuses_what_does_not_fit(device, stream, pinned):
    small, large = pinned.allocate(16), pinned.allocate(32)
    with pytest.raises(ValueError, match="1 destinations"):
        copy_batch(stream, [small, small], [small])
    with pytest.raises(ValueError, match="item 1 differ"):
        copy_batch(stream, [small, large], [small, small])
    with pytest.raises(TypeError, match="legacy default stream"):
        copy_batch(cucore.LEGACY_DEFAULT_STREAM, [small], [small])
    copy_batch(cucore.PER_THREAD_DEFAULT_STREAM, [small], [pinned.allocate(16)])
    nothing = pinned.allocate(0)
    copy_batch(stream, [nothing], [nothing])


def test_a_batch_of_copies_cannot_be_captured(device, stream, pinned):
    driver, handle, graph = (
        ctypes.CDLL(cucore.driver_info().path),
        ctypes.c_void_p(int(stream.handle)),
        ctypes.c_void_p(),
    )
    buffer = pinned.allocate(16)
    assert driver.cuStreamBeginCapture_v2(handle, 2) == 0
    with pytest.raises(TypeError, match="being captured"):
        copy_batch(stream, [buffer], [buffer])
    assert driver.cuStreamEndCapture(handle, ctypes.byref(graph)) == 0
    driver.cuGraphDestroy(graph)


def test_copy_options_are_a_frozen_value():
    options = CopyOptions(src_access_order="any", overlap_mode="prefer_overlap_with_compute")
    assert options.src_access_order is MemcpySrcAccessOrder.ANY
    assert options.overlap_mode is MemcpyOverlapMode.PREFER_OVERLAP_WITH_COMPUTE
    assert hash(options) == hash(CopyOptions(MemcpySrcAccessOrder.ANY, overlap_mode="prefer_overlap_with_compute"))
    assert CopyOptions() == CopyOptions("stream", None, None, "default")
    with pytest.raises(AttributeError):
        options.src_access_order = "stream"
    for wrong in ({"src_access_order": "later"}, {"overlap_mode": "never"}):
        with pytest.raises(ValueError, match="must be one of"):
            CopyOptions(**wrong)
    assert CopyOptions(src_location_hint=0).src_location_hint == 0  # which hints at nothing
