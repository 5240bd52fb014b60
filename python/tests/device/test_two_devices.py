"""Objects act on their own device, whatever is current. On the CPU device: CUCORE_CPU_DEVICES=2."""

import threading

import pytest

import cucore

TIMED = {"timing_enabled": True}


@pytest.fixture
def devices():
    found = cucore.Device.get_all_devices()
    if len(found) < 2:
        pytest.skip("there is one device")
    first, second = found[:2]
    second.set_current()
    first.set_current()
    yield first, second
    first.set_current()


def test_devices_are_told_apart(devices):
    first, second = devices
    assert (first.device_id, second.device_id) == (0, 1) and first != second and cucore.Device(1) is second
    assert first.uuid != second.uuid and first.pci_bus_id != second.pci_bus_id
    assert cucore.Device.from_uuid(second.uuid) is second
    assert cucore.Device.from_pci_bus_id(second.pci_bus_id) is second
    assert first.context != second.context and second.context.device is second
    with pytest.raises(ValueError, match="there is no device"):
        cucore.Device(len(cucore.Device.get_all_devices()))


def test_what_a_device_makes_belongs_to_it_while_another_is_current(devices):
    first, second = devices
    with second.create_stream() as stream, second.create_event(TIMED) as event:
        assert stream.device is second and stream.context == second.context and event.device is second
        assert stream.record(event).context == second.context
        with second.allocate(4096, stream=stream) as buffer:
            assert buffer.device_id == 1
            buffer.fill(7, stream=stream)
        assert second.event_pool.get().device is second
        with stream.timer() as timer:
            pass
        assert timer.ms >= 0
        second.sync()
    assert cucore.Device() is first


def test_set_current_with_a_context_of_another_device_is_refused(devices):
    first, second = devices
    with pytest.raises(RuntimeError, match="the context is of device 1, not of device 0"):
        first.set_current(second.context)
    previous = second.set_current(second.context)
    assert previous == first.context and cucore.Device() is second
    assert first.set_current(previous) == second.context and cucore.Device() is first
    with second.current() as context:
        assert cucore.Device() is second and context == second.context
        with first.context.current():
            assert cucore.Device() is first
        assert cucore.Device() is second
    assert cucore.Device() is first


def test_default_streams_are_those_of_the_current_device(devices):
    first, second = devices
    for stream in (cucore.LEGACY_DEFAULT_STREAM, cucore.PER_THREAD_DEFAULT_STREAM):
        assert stream.device is first
        with second.current():
            assert stream.device is second and stream.record().device is second


def test_a_stream_waits_for_one_of_another_device(devices):
    first, second = devices
    flag = cucore.LegacyPinnedMemoryResource().allocate(64)
    word = memoryview(flag).cast("I")
    word[0] = 0
    spin = cucore.ObjectCode.from_ptx(
        b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry spin(.param .u64 flag)\n{\n"
        b"  .reg .u64 %a; .reg .u32 %v; .reg .pred %p;\n  ld.param.u64 %a, [flag];\nagain:\n"
        b"  ld.volatile.u32 %v, [%a];\n  setp.eq.u32 %p, %v, 0;\n  @%p bra again;\n  ret;\n}\n"
    ).get_kernel("spin")
    with first.create_stream() as here, second.create_stream() as there:
        try:
            cucore.launch(here, cucore.LaunchConfig(grid=1, block=1), spin, flag)
            there.wait(here)
            assert not there.record().is_done
        finally:
            word[0] = 1
        there.sync()
        assert here.is_done
    word.release()


def test_the_time_between_two_devices_is_refused_with_the_reason(devices):
    first, second = devices
    with first.create_stream() as here, second.create_stream() as there:
        start, end = here.record(options=TIMED), there.record(options=TIMED)
        cucore.Device.wait_all([here, there])
        for ask in (lambda: end - start, lambda: end.elapsed_time(start, sync=True)):
            with pytest.raises(RuntimeError, match="device"):
                ask()


def test_a_pool_takes_back_events_of_its_own_device_only(devices):
    first, second = devices
    pool = cucore.EventPool(second)
    mine, other = pool.get(), first.create_event()
    pool.put(mine)
    with pytest.raises(ValueError, match="not on loan"):
        pool.put(other)
    assert pool.idle == 1 and not other.is_closed


def test_every_thread_has_devices_of_its_own(devices):
    first, second = devices
    seen = []

    def work():
        mine = cucore.Device(1)
        mine.set_current()
        with mine.create_stream() as stream:
            seen.append((mine, cucore.Device() is mine, stream.device is mine))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(second, True, True)] and seen[0][0] is not second and hash(seen[0][0]) == hash(second)
    assert cucore.Device() is first
