"""Streams: options, order, the stream protocol, closing."""

import gc
import re
import warnings
import weakref

import pytest

import cucore


def test_defaults_and_options(device):
    stream = device.create_stream()
    assert stream.is_nonblocking and stream.priority == 0
    assert not device.create_stream(options={"nonblocking": False}).is_nonblocking
    assert device.create_stream(options=cucore.StreamOptions(priority=0)).priority == 0
    with pytest.raises(ValueError, match="priority"):
        device.create_stream(options={"priority": 10**6})
    with pytest.raises(TypeError):
        device.create_stream(options=5)
    with pytest.raises(TypeError):
        device.create_stream(options={"colour": 1})
    with pytest.raises(RuntimeError, match="cannot be instantiated"):
        cucore.Stream()


def test_a_stream_knows_where_it_is(device, stream):
    assert stream.device is device
    assert stream.context == device.context
    assert re.fullmatch(r"<Stream handle=0x[0-9a-f]+ context=0x[0-9a-f]+>", repr(stream))
    assert type(stream.handle).__name__ == "CUstream" and isinstance(stream.handle, int)
    assert stream.sync() is None and stream.is_done


def test_wrappers_of_one_handle_are_equal(stream):
    same = cucore.Stream.from_handle(int(stream.handle))
    assert same == stream and hash(same) == hash(stream) and same in {stream}
    assert stream != 5 and stream != None  # noqa: E711
    assert same.is_nonblocking and same.priority == stream.priority and same.device is stream.device
    same.close()
    stream.sync()  # the ownership was shared


def test_the_handle_of_our_own_stream_shares_its_ownership(device):
    stream = device.create_stream(options={"priority": device.priority_range.highest})
    handle = int(stream.handle)
    for same in (cucore.Stream.from_handle(handle), device.create_stream(Foreign((0, handle)))):
        assert same.priority == device.priority_range.highest and same.context == device.context
    stream.close()
    same.record().sync()
    same.close()
    if cucore.driver_info().kind == "cpu":  # NVIDIA's driver reads through a handle that it does not know
        with pytest.raises(cucore.CUDAError):  # the last one destroyed it; nothing is known of the number any more
            cucore.Stream.from_handle(handle).sync()


def test_default_streams_are_shared_and_cannot_be_closed(device):
    legacy, per_thread = cucore.LEGACY_DEFAULT_STREAM, cucore.PER_THREAD_DEFAULT_STREAM
    assert (int(legacy.handle), int(per_thread.handle)) == (1, 2)
    assert legacy != per_thread and legacy != cucore.Stream.from_handle(0)
    legacy.close()
    assert legacy and not legacy.is_closed
    wrapper = cucore.Stream.from_handle(1)
    wrapper.close()
    assert not wrapper and legacy
    assert legacy.device is device and legacy.context == device.context
    legacy.sync()
    repr(legacy)


def test_the_null_stream_is_open(device):
    null = cucore.Stream.from_handle(0)
    assert null and int(null.handle) == 0
    null.sync()


@pytest.mark.parametrize(
    "use",
    [
        lambda s, e: s.sync(),
        lambda s, e: s.record(),
        lambda s, e: s.record(e),
        lambda s, e: s.wait(e),
        lambda s, e: s.device,
        lambda s, e: s.context,
        lambda s, e: s.priority,
        lambda s, e: s.is_done,
        lambda s, e: s.__cuda_stream__(),
        lambda s, e: cucore.LEGACY_DEFAULT_STREAM.wait(s),
        lambda s, e: cucore.Device().allocate(16, stream=s),
        lambda s, e: e.record(s),
    ],
)
def test_a_closed_stream_refuses_every_use(device, use):
    stream, event = device.create_stream(), device.create_event()
    before = hash(stream)
    stream.close()
    stream.close()
    assert stream.is_closed and not stream and int(stream.handle) == 0
    with pytest.raises(RuntimeError, match="has been closed"):
        use(stream, event)
    assert hash(stream) == before and "closed" in repr(stream) and stream == stream
    assert stream != device.create_stream()


def test_with_closes(device):
    with device.create_stream() as stream:
        assert stream
    assert not stream
    with pytest.raises(KeyError), device.create_stream() as stream:
        raise KeyError
    assert stream.is_closed


def test_record_makes_or_takes_an_event(device, stream):
    event = stream.record()
    assert isinstance(event, cucore.Event) and event.context == device.context
    assert stream.record(event) is event
    timed = stream.record(options={"timing_enabled": True})
    assert timed.is_timing_enabled
    with pytest.raises(TypeError):
        stream.record("event")
    with pytest.raises(TypeError):
        stream.record(options={"timing_enabled": True, "ipc_enabled": True})


def test_wait_takes_events_and_streams(device, stream):
    other = device.create_stream()
    assert stream.wait(other.record()) is None
    stream.wait(other)
    stream.wait(device.create_event())  # never recorded: no wait
    stream.wait(cucore.LEGACY_DEFAULT_STREAM)
    stream.sync()
    for wrong in (5, None, "stream"):
        with pytest.raises(ValueError):
            stream.wait(wrong)


class Foreign:
    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


def test_foreign_streams_are_wrapped_and_kept_alive(device, stream):
    foreign = Foreign((0, 2))  # not one of cucore's own: the driver's per-thread stream
    wrapped = device.create_stream(foreign)
    assert wrapped == cucore.PER_THREAD_DEFAULT_STREAM
    stream.wait(foreign)
    gone = weakref.ref(foreign)
    del foreign
    gc.collect()
    assert gone() is not None
    wrapped.close()
    assert gone() is None


def test_a_stream_is_its_own_protocol(device, stream):
    assert stream.__cuda_stream__() == (0, int(stream.handle))
    shared = device.create_stream(stream)
    assert shared == stream
    stream.close()
    shared.sync()  # shares the ownership


@pytest.mark.parametrize("answer", [(1, 5), (0,), (0, 1, 2), 7])
def test_a_foreign_object_that_answers_wrongly(device, stream, answer):
    with pytest.raises(RuntimeError):
        device.create_stream(Foreign(answer))
    with pytest.raises(ValueError):
        stream.wait(Foreign(answer))


def test_an_object_without_the_protocol(device):
    with pytest.raises(TypeError, match="__cuda_stream__"):
        device.create_stream(object())
    with pytest.raises(ValueError):
        device.create_stream(Foreign((0, 1)), options={})


def test_a_protocol_attribute_that_is_a_value_warns(device, stream):
    class Value:
        __cuda_stream__ = (0, int(stream.handle))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert device.create_stream(Value()) == stream
    assert [w.category for w in caught] == [DeprecationWarning]


def test_streams_have_weak_references_and_attributes(device):
    stream = device.create_stream()
    calls = []
    weakref.finalize(stream, calls.append, "gone")
    stream.label = "mine"
    del stream
    gc.collect()
    assert calls == ["gone"]


def test_pending_work_outlives_the_stream(device, pinned):
    stream = device.create_stream()
    buffer = pinned.allocate(1 << 20)
    device_buffer = device.allocate(1 << 20, stream=stream)
    device_buffer.fill(7, stream=stream)
    device_buffer.copy_to(buffer, stream=stream)
    done = stream.record()
    stream.close()
    done.sync()
    assert bytes(memoryview(buffer)[-4:]) == b"\7\7\7\7"
