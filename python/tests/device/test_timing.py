"""Event pools, timers, futures of events, and three uses of events that are made apart from recording."""

import asyncio
import concurrent.futures
import datetime
import gc
import threading
import weakref

import pytest
from conftest import compile_cubin

import cucore

TIMED = {"timing_enabled": True}


@pytest.fixture(scope="module")
def wait_kernel():
    source = 'extern "C" __global__ void wait_for(volatile int* flag) { while (*flag == 0) {} }'
    return compile_cubin(source).get_kernel("wait_for")


@pytest.fixture
def blocked(device, stream, pinned, wait_kernel):
    """A stream that works until the function it comes with is called."""
    flag = pinned.allocate(4)
    view = memoryview(flag).cast("I")
    view[0] = 0
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), wait_kernel, flag)

    def release():
        view[0] = 1

    yield stream, release
    release()
    stream.sync()
    view.release()


def test_a_pool_lends_its_events_again(device, stream):
    pool = cucore.EventPool(device)
    event = pool.get()
    handle = int(event.handle)
    stream.record(event)
    pool.put(event)
    assert event.is_closed and pool.idle == 1
    with pytest.raises(RuntimeError, match="has been closed"):
        event.sync()
    again = pool.get()
    assert int(again.handle) == handle and again is not event and event.is_closed
    again.close()
    assert pool.idle == 1
    with pool.get() as third:
        assert int(third.handle) == handle
    assert pool.idle == 1 and third.is_closed
    del third
    dropped = pool.get()
    del dropped
    gc.collect()
    assert pool.idle == 1


def test_an_object_of_an_event_is_used_again_only_when_nobody_has_it(device):
    pool = cucore.EventPool(device)
    stale = pool.get()
    pool.put(stale)
    for _ in range(50):
        event = pool.get()
        assert event is not stale
        pool.put(event)
        assert stale.is_closed


def test_a_weak_reference_to_an_event_ends_with_its_loan(device):
    pool = cucore.EventPool(device)
    ended = []
    event = pool.get()
    weakref.finalize(event, ended.append, "before put")
    pool.put(event)
    del event
    assert ended == ["before put"]
    event = pool.get()
    pool.put(event)
    reference = weakref.ref(event, lambda _: ended.append(pool.idle))
    del event
    assert pool.get() is not None and reference() is None
    assert ended in (["before put", 0], ["before put", 1])  # where nothing is kept but the event: before get()


def test_a_pool_knows_kinds_and_bounds(device):
    pool = cucore.EventPool(device, capacity=2)
    events = [pool.get() for _ in range(5)] + [
        pool.get(TIMED),
        pool.get(options=cucore.EventOptions(blocking_sync=True)),
    ]
    assert events[5].is_timing_enabled and events[6].is_blocking_sync and not events[0].is_timing_enabled
    for event in events:
        pool.put(event)
    assert pool.idle == 4 and pool.capacity == 2 and pool.device is device
    pool.trim(1)
    assert pool.idle == 3
    pool.trim()
    assert pool.idle == 0 and "idle=0" in repr(pool)


def test_what_a_pool_refuses(device, stream):
    pool, other = cucore.EventPool(device), cucore.EventPool(device)
    event = pool.get()
    with pytest.raises(ValueError, match="not on loan"):
        other.put(event)
    with pytest.raises(ValueError, match="not on loan"):
        pool.put(device.create_event())
    pool.put(event)
    with pytest.raises(RuntimeError, match="closed"):
        pool.put(event)
    for wrong in (None, 5, stream):
        with pytest.raises(TypeError):
            pool.put(wrong)
    with pytest.raises(TypeError, match="IPC"):
        pool.get({"ipc_enabled": True})
    with pytest.raises(TypeError):
        pool.get(TIMED, TIMED)
    with pytest.raises(TypeError):
        pool.get(kind=TIMED)
    lent = pool.get()
    pool.close()
    pool.close()
    assert pool.is_closed and not pool and "closed" in repr(pool)
    for use in (pool.get, pool.trim, lambda: pool.idle, lambda: pool.device):
        with pytest.raises(RuntimeError, match="closed"):
            use()
    lent.record(stream)
    lent.sync()  # stays usable


def test_the_devices_pool_is_shared_by_threads(device):
    assert device.event_pool is device.event_pool

    def work(results):
        mine = cucore.Device()
        mine.set_current()
        stream = mine.create_stream()
        for _ in range(300):
            with mine.event_pool.get() as event:
                event.record(stream)
                event.sync()
        results.append(mine.event_pool.idle)

    results = []
    threads = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and device.event_pool.idle >= 1
    assert device.event_pool.capacity == 256


def test_a_timer_needs_no_wait_until_it_is_read(blocked):
    stream, release = blocked
    with stream.timer() as timer:
        assert not stream.is_done
    assert not timer.is_done
    release()
    assert timer.ms >= 0 and timer.is_done and timer.times == [timer.ms]


def test_a_timer_says_why_it_has_no_time(device, stream):
    timer = cucore.Timer(stream)
    with pytest.raises(RuntimeError, match="has not timed anything"):
        _ = timer.ms
    with timer:
        with pytest.raises(RuntimeError, match="has not been left"):
            _ = timer.ms
        with pytest.raises(RuntimeError, match="is running"):
            timer.__enter__()
    assert timer.ms >= 0
    with pytest.raises(KeyError), timer:
        raise KeyError
    assert len(timer.times) == 2
    stream.close()
    with pytest.raises(RuntimeError, match="has been closed"), timer:
        pass


def test_a_timer_decorates_functions(device, stream):
    timer = stream.timer()

    @timer
    def step(x, *, y):
        """What it does."""
        stream.record()
        return x + y

    assert [step(i, y=1) for i in range(100)] == list(range(1, 101))
    assert step.__doc__ == "What it does." and step.timer is timer
    assert len(timer.times) == 100 and all(ms >= 0 for ms in timer.times)

    @timer
    async def later():
        return 7

    assert asyncio.run(later()) == 7 and len(timer.times) == 101


def test_a_timer_gives_its_events_back(device, stream):
    device.event_pool.trim()
    for _ in range(10):
        with stream.timer() as timer:
            pass
        assert timer.ms >= 0
    assert device.event_pool.idle == 2


def test_timers_and_events_are_awaited(blocked):
    stream, release = blocked
    ticks = []

    async def tick():
        while not ticks or len(ticks) < 5:
            ticks.append(1)
            await asyncio.sleep(0.001)
        release()

    async def main():
        async with stream.timer() as timer:
            pass
        event = stream.record()
        assert not event.is_done
        other = asyncio.ensure_future(tick())
        await event  # the loop goes on: the ticks are what lets the event complete
        await stream
        await other
        return await timer

    assert asyncio.run(main()) >= 0 and len(ticks) == 5


def test_events_give_futures(device, blocked):
    stream, release = blocked
    done = device.create_event().future()
    assert done.done() and done.result() is None
    futures = [stream.record().future() for _ in range(3)]
    assert not any(f.done() for f in futures)
    assert futures[2].cancel()
    with pytest.raises(concurrent.futures.TimeoutError):
        futures[0].result(timeout=0.01)
    release()
    assert [f.result(timeout=30) for f in futures[:2]] == [None, None]
    closed = device.create_event()
    closed.close()
    with pytest.raises(RuntimeError, match="has been closed"):
        closed.future().result()


def test_waits_end_at_their_timeout(blocked):
    stream, release = blocked
    event = stream.record()
    for wait in (stream.sync, event.sync):
        for timeout in (0, 0.02, datetime.timedelta(milliseconds=1)):
            with pytest.raises(TimeoutError):
                wait(timeout=timeout)
        with pytest.raises(ValueError):
            wait(timeout=-1)
        with pytest.raises(TypeError):
            wait(timeout="soon")
    release()
    assert event.sync(timeout=30) is None and stream.sync(timeout=datetime.timedelta(seconds=30)) is None


def test_elapsed_time_waits_if_told_to(blocked):
    stream, release = blocked
    start, end = stream.record(options=TIMED), stream.record(options=TIMED)
    with pytest.raises(RuntimeError, match="not completed"):
        end.elapsed_time(start)
    threading.Timer(0.05, release).start()
    assert end.elapsed_time(start, sync=True) == end - start


def test_several_are_waited_for_at_once(device, stream):
    first, second = device.create_stream(), device.create_stream()
    stream.wait(first, second.record(), cucore.LEGACY_DEFAULT_STREAM)
    second.record().wait_on(stream)
    device.wait_all([first, second, stream])
    with pytest.raises(TypeError):
        stream.wait()


def test_events_are_found_by_their_handle(device, stream):
    event = device.create_event(TIMED)
    same = cucore.Event.from_handle(int(event.handle))
    assert same == event and same.is_timing_enabled and same.device is device
    event.close()
    same.record(stream)
    same.sync()
    foreign = cucore.Event.from_handle(12345 << 4, options=TIMED)
    assert foreign.device is None and foreign.context is None and foreign.is_timing_enabled
    with pytest.raises(ValueError):
        cucore.Event.from_handle(0)
    if cucore.driver_info().kind == "cpu":  # NVIDIA's driver reads through a handle that it does not know
        with pytest.raises(cucore.CUDAError):
            _ = foreign.is_done
    assert cucore.Context.from_handle(int(device.context.handle)) == device.context


def test_contexts_are_current_for_a_block(device):
    seen = []

    def work():
        fresh = cucore.Device(0)
        with fresh.current() as context:
            seen.append(cucore._core._current_context() == context)
            with context.current():
                fresh.create_stream()
        seen.append(cucore._core._current_context())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True, None]


# Snippets of the founding documents: a timing context that users write, a pool, and the stream chosen at run time.


class TimingContext:
    def __init__(self, device):
        self.start = device.create_event(options=cucore.EventOptions(timing_enabled=True))
        self.end = device.create_event(options=cucore.EventOptions(timing_enabled=True))

    def __call__(self, stream):
        self.stream = stream
        return self

    def __enter__(self):
        self.start.record(self.stream)
        return self

    def __exit__(self, *exception):
        self.end.record(self.stream)

    def elapsed_time(self):
        self.end.sync()
        return self.end.elapsed_time(self.start)


def test_the_documents_timing_context(device, stream):
    timing = TimingContext(device)
    for on in (stream, device.create_stream(), cucore.LEGACY_DEFAULT_STREAM):
        with timing(on):
            on.record()
        assert timing.elapsed_time() == timing.end - timing.start >= 0


def test_the_documents_pool_of_events(device, stream):
    with device.event_pool.get(TIMED) as start, device.event_pool.get(TIMED) as end:
        stream.record(start)
        stream.record(end)
        end.sync()
        assert end - start >= 0
    assert start.is_closed and end.is_closed


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d,
        lambda d: d.properties,
        lambda d: d.create_stream(),
        lambda d: d.create_event(),
        lambda d: d.create_stream().context,
        lambda d: cucore.EventPool(d),
        lambda d: d.create_stream().timer(),
        lambda d: d.allocate(16, stream=d.default_stream),
        lambda d: cucore.DeviceMemoryResource(d, cucore.DeviceMemoryResourceOptions()),
        lambda d: cucore.LegacyPinnedMemoryResource(),
        lambda d: cucore.compile_ptx('extern "C" __global__ void k() {}'),
        lambda d: cucore.compile_ptx('extern "C" __global__ void k() {}').get_kernel("k"),
        lambda d: cucore.LaunchConfig(grid=1, block=1),
        lambda d: cucore.Program('extern "C" __global__ void k() {}', "c++"),
    ],
)
def test_weak_references_and_finalizers_work_on_every_class(device, make):
    calls = []
    made = make(device)
    reference = weakref.ref(made)
    weakref.finalize(made, calls.append, "gone")
    is_device = made in (device, device.properties)
    del made
    gc.collect()
    if not is_device:
        assert reference() is None and calls == ["gone"]
