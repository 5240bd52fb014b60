"""Streams: options, order, the stream protocol, closing."""

import copy
import gc
import pickle
import re
import warnings
import weakref

import pytest
from conftest import run_python

import cucore


def test_defaults_and_options(device):
    stream = device.create_stream()
    assert stream.is_nonblocking and stream.priority == 0
    assert not device.create_stream(options={"nonblocking": False}).is_nonblocking
    assert device.create_stream(options=cucore.StreamOptions(priority=0)).priority == 0
    lowest, highest = device.priority_range
    for priority in (lowest + 1, highest - 1, 10**6, 10**30):
        with pytest.raises(ValueError, match="priority"):
            device.create_stream(options={"priority": priority})
    assert device.create_stream(options={"priority": -0.5}).priority == 0
    with pytest.raises(TypeError):
        device.create_stream(options={"priority": "high"})
    for priority in range(highest, lowest + 1):
        assert device.create_stream(options={"priority": priority}).priority == priority
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
    assert not legacy.is_closed
    wrapper = cucore.Stream.from_handle(1)
    wrapper.close()
    assert wrapper.is_closed and not legacy.is_closed
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
        lambda s, e: s.is_nonblocking,
        lambda s, e: s.is_capturing,
        lambda s, e: s.id,
        lambda s, e: s.timer(),
        lambda s, e: s.__enter__(),
        lambda s, e: s.__await__(),
        lambda s, e: s.__cuda_stream__(),
        lambda s, e: e.wait_on(s),
        lambda s, e: cucore.Device().create_stream(s),
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
    assert stream.is_closed and stream and int(stream.handle) == 0
    with pytest.raises(RuntimeError, match="has been closed"):
        use(stream, event)
    assert hash(stream) == before and repr(stream) == "<Stream handle=0x0 context=0x0>" and stream == stream
    assert stream != device.create_stream()


def test_with_closes(device):
    with device.create_stream() as stream:
        assert not stream.is_closed
    assert stream.is_closed
    with pytest.raises(KeyError), device.create_stream() as stream:
        raise KeyError
    assert stream.is_closed


def test_record_makes_or_takes_an_event(device, stream):
    event = stream.record()
    assert isinstance(event, cucore.Event) and event.context == device.context
    assert stream.record(event) is event
    assert stream.record(event, options="not looked at") is event
    timed = stream.record(options={"timing_enabled": True})
    assert timed.is_timing_enabled
    with pytest.raises(TypeError, match="timing_enabled must be a bool"):
        stream.record(options={"timing_enabled": "yes"})
    for wrong in (5, cucore.StreamOptions(), {"colour": 1}, cucore.EventOptions):
        with pytest.raises(TypeError):
            stream.record(options=wrong)
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
    stream.wait(None)  # nothing to wait for, as in cuda.core
    for wrong in (5, "stream"):
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


@pytest.mark.parametrize("version", ["0", None, 1, -1, 2**70])
def test_another_version_of_the_protocol(device, version):
    with pytest.raises(RuntimeError, match="version"):
        device.create_stream(Foreign((version, 2)))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, OSError])
@pytest.mark.parametrize("where", ["method", "attribute"])
def test_what_a_foreign_object_raises_is_not_hidden(device, stream, kind, where):
    def fail(self):
        raise kind("mine")

    foreign = type("Foreign", (), {"__cuda_stream__": fail if where == "method" else property(fail)})()
    with pytest.raises(kind, match="mine"):
        device.create_stream(foreign)
    waits = ValueError if kind is OSError else kind  # what ends a program is not about the object
    with pytest.raises(waits) as caught:
        stream.wait(foreign)
    assert kind is not OSError or isinstance(caught.value.__cause__, OSError)


def test_a_deprecation_leaves_the_warning_filters_as_they_are(device, stream):
    class Value:
        __cuda_stream__ = (0, int(stream.handle))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        with pytest.raises(DeprecationWarning):
            device.create_stream(Value())
        assert warnings.filters == before


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


def test_streams_have_weak_references(device):
    stream = device.create_stream()
    calls = []
    weakref.finalize(stream, calls.append, "gone")
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


def test_only_numbers_are_handles():
    for kind in (cucore.Stream, cucore.Event, cucore.Context):
        for wrong in ("5", None, b"5"):
            with pytest.raises(TypeError):
                kind.from_handle(wrong)
        for wrong in (-1, 2**64):
            with pytest.raises(OverflowError):
                kind.from_handle(wrong)


def test_streams_and_events_can_be_subclassed(device, stream):
    for kind in (cucore.Stream, cucore.Event):
        derived = type("Derived", (kind,), {})
        with pytest.raises(RuntimeError, match="cannot be instantiated"):
            derived()


def test_owners_are_neither_copied_nor_pickled(device, stream):
    for owner in (stream, device.create_event(), device.context, device.event_pool, stream.timer()):
        for take in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                take(owner)


def test_comparing_with_something_else_is_left_to_it(device, stream):
    for owner in (stream, device.create_event(), device.context):
        assert (
            owner.__eq__(5) is NotImplemented and owner != 5 and owner != "stream" and owner not in (None, 0, object())
        )


def test_two_closed_objects_are_not_equal_and_stay_where_they_are(device):
    streams, events = [device.create_stream() for _ in range(2)], [device.create_event() for _ in range(2)]
    for pair in (streams, events):
        kept = set(pair)
        for one in pair:
            one.close()
        assert pair[0] != pair[1] and pair[0] in kept and pair[1] in kept and len(kept) == 2


def test_the_default_streams_need_no_device():
    done = run_python("""
        import cucore
        legacy, other = cucore.LEGACY_DEFAULT_STREAM, cucore.PER_THREAD_DEFAULT_STREAM
        assert hash(legacy) != hash(other) and legacy != other and legacy == cucore.Stream.from_handle(1)
        assert legacy.__cuda_stream__() == (0, 1) and other.__cuda_stream__() == (0, 2) and repr(legacy) and bool(other)
        for ask in (lambda: legacy.context, lambda: legacy.record()):
            try:
                ask()
            except cucore.CUDAError as error:
                assert "none is current" in str(error) or "set_current" in str(error), error
            else:
                raise AssertionError
        print("ok")
        """)
    assert (done.stdout, done.stderr) == ("ok\n", "")
