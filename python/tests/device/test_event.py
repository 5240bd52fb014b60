"""Events: made apart from recording; times, and why there is none."""

import gc
import weakref

import pytest
from conftest import compile_cubin

import cucore

TIMED = {"timing_enabled": True}


def test_options(device):
    plain = device.create_event()
    assert not (plain.is_timing_enabled or plain.is_blocking_sync or plain.is_ipc_enabled)
    event = device.create_event(cucore.EventOptions(timing_enabled=True, blocking_sync=True))
    assert event.is_timing_enabled and event.is_blocking_sync
    assert event.device is device and event.context == device.context
    assert type(event.handle).__name__ == "CUevent"
    assert repr(event) == f"<Event handle={int(event.handle):#x}>"
    with pytest.raises(TypeError):
        device.create_event({"ipc_enabled": True})
    with pytest.raises(TypeError):
        device.create_event("timing")
    with pytest.raises(RuntimeError, match="cannot be instantiated"):
        cucore.Event()


def test_an_event_never_recorded_is_done(device):
    event = device.create_event()
    assert event.is_done
    event.sync()


def test_elapsed_time_between_two_records(device, stream):
    start, end = device.create_event(TIMED), device.create_event(TIMED)
    start.record(stream)
    device.allocate(1 << 20, stream=stream).fill(1, stream=stream)
    assert stream.record(end) is end
    end.sync()
    elapsed = end - start
    assert isinstance(elapsed, float) and elapsed >= 0
    assert end.elapsed_time(start) == elapsed
    assert start - start == 0


def test_an_event_can_be_recorded_again_on_another_stream(device, stream):
    other = device.create_stream()
    start, end = device.create_event(TIMED), device.create_event(TIMED)
    for where in (stream, other, stream):
        start.record(where)
        end.record(where)
    end.sync()
    assert end - start >= 0


@pytest.mark.parametrize(("first", "second"), [(TIMED, None), (None, TIMED), (None, None)])
def test_no_time_without_timing(device, stream, first, second):
    start, end = stream.record(options=first), stream.record(options=second)
    end.sync()
    with pytest.raises(RuntimeError, match="^both events must have timing enabled"):
        _ = end - start
    never = device.create_event(TIMED)  # what is wrong for good is said before what could still be done
    for plain in (event for event, options in ((start, first), (end, second)) if options is None):
        with pytest.raises(RuntimeError, match="timing enabled"):
            _ = never - plain


@pytest.mark.parametrize("recorded", ["start", "end", "neither"])
def test_no_time_before_both_are_recorded(device, stream, recorded):
    start, end = device.create_event(TIMED), device.create_event(TIMED)
    if recorded == "start":
        start.record(stream)
    elif recorded == "end":
        end.record(stream)
    stream.sync()
    with pytest.raises(RuntimeError, match="^both events must be recorded"):
        _ = end - start


def test_no_time_before_both_have_completed(device, pinned):
    source = """
    extern "C" __global__ void wait_for(volatile int* flag) {
      while (*flag == 0) {}
    }
    """
    kernel = compile_cubin(source).get_kernel("wait_for")
    flag = pinned.allocate(4)
    view = memoryview(flag)
    view[:] = bytes(4)
    stream = device.create_stream()
    start = stream.record(options=TIMED)
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), kernel, flag)
    end = stream.record(options=TIMED)
    try:
        assert not end.is_done and not stream.is_done
        for one, other in ((end, start), (start, end)):
            with pytest.raises(RuntimeError, match="^one or both events have not completed"):
                _ = one - other
    finally:
        view[0] = 1
    end.sync()
    assert end.is_done and end - start >= 0
    view.release()


def test_subtracting_something_else(device, stream):
    event = stream.record(options=TIMED)
    for wrong in (5, None, "event"):
        with pytest.raises(TypeError):
            _ = event - wrong
        with pytest.raises(TypeError):
            _ = wrong - event
    assert event.__sub__(5) is event.__rsub__(5) is event.__isub__(event) is NotImplemented
    with pytest.raises(TypeError):
        event -= 5
    with pytest.raises(TypeError):
        event.elapsed_time(5)
    with pytest.raises(TypeError):
        event.record(None)


@pytest.mark.parametrize(
    "use",
    [
        lambda e, s: e.sync(),
        lambda e, s: e.is_done,
        lambda e, s: e.record(s),
        lambda e, s: e - e,
        lambda e, s: e.is_timing_enabled,
        lambda e, s: e.is_blocking_sync,
        lambda e, s: e.is_ipc_enabled,
        lambda e, s: e.ipc_descriptor,
        lambda e, s: e.context,
        lambda e, s: e.wait_on(s),
        lambda e, s: e.elapsed_time(s.record()),
        lambda e, s: s.record() - e,
        lambda e, s: e.future().result(),
        lambda e, s: e.__enter__(),
        lambda e, s: e.device,
        lambda e, s: s.wait(e),
        lambda e, s: s.record(e),
    ],
)
def test_a_closed_event_refuses_every_use(device, stream, use):
    event = device.create_event()
    before = hash(event)
    event.close()
    event.close()
    assert event.is_closed and event and int(event.handle) == 0 and hash(event) == before
    with pytest.raises(RuntimeError, match="has been closed"):
        use(event, stream)


def test_events_compare_and_die(device):
    event = device.create_event()
    assert event == event and event != device.create_event() and event != 5
    gone = weakref.ref(event)
    with event:
        pass
    assert event.is_closed
    del event
    gc.collect()
    assert gone() is None
