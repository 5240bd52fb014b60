"""Device resources and green contexts: dividing a device, and streams that run on a part of it."""

import gc
import threading

import pytest
from conftest import run_python

import cucore
from cucore import ContextOptions, SMResource, SMResourceOptions, WorkqueueResource, WorkqueueResourceOptions
from cucore.typing import DeviceResourcesType, WorkqueueSharingScopeType


@pytest.fixture
def sm(device):
    try:
        return device.resources.sm
    except RuntimeError as error:
        pytest.skip(str(error))


@pytest.fixture
def workqueue(device):
    try:
        return device.resources.workqueue
    except RuntimeError as error:
        assert "13.1" in str(error)
        pytest.skip(str(error))


def unit(sm):
    """The SMs of the smallest group that every driver makes exactly."""
    return max(sm.min_partition_size, sm.coscheduled_alignment)


@pytest.fixture
def group(sm):
    return sm.split({"count": unit(sm)})[0][0]


@pytest.fixture
def green(device, group):
    with device.create_context(ContextOptions([group])) as context:
        yield context


def has_structured_split():
    driver = cucore.driver_info()
    return driver.kind == "cpu" or driver.version >= 13010


def test_nothing_is_made_directly():
    for cls in (cucore.DeviceResources, SMResource, WorkqueueResource):
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            cls()


@pytest.mark.parametrize(
    ("capability", "count", "smallest", "alignment"),
    [("9.0", 32, 8, 8), ("9.0", 12, 4, 4), ("9.0", 2, 1, 1), ("8.6", 32, 4, 2), ("7.5", 32, 2, 2), ("6.1", 32, 1, 1)],
)
def test_groups_are_as_large_as_those_of_gpus_where_there_are_two(capability, count, smallest, alignment):
    if cucore.driver_info().kind != "cpu":
        pytest.skip("the compute capability of a GPU cannot be chosen")
    program = """
        import cucore
        sm = cucore.Device().resources.sm
        print(sm.sm_count, sm.min_partition_size, sm.coscheduled_alignment)
    """
    environment = {"CUCORE_CPU_COMPUTE_CAPABILITY": capability, "CUCORE_CPU_MULTIPROCESSORS": str(count)}
    done = run_python(program, env=environment)
    assert done.stdout.split() == [str(count), str(smallest), str(alignment)], done.stderr


def test_a_device_has_all_its_multiprocessors(device, sm):
    assert sm.sm_count == device.properties.multiprocessor_count
    assert sm.device is device and device.resources is device.resources
    assert device.resources.sm is not device.resources.sm
    assert type(sm.handle) is int and sm.handle > 0 and type(sm.flags) is int
    assert sm.min_partition_size >= 1 and sm.coscheduled_alignment >= 1
    assert device.context.resources.sm.sm_count == sm.sm_count
    assert DeviceResourcesType.__args__ == (SMResource | WorkqueueResource,)


def test_a_split_gives_a_list_of_groups_and_a_remainder(sm):
    groups, remainder = sm.split(SMResourceOptions(count=unit(sm)))
    assert type(groups) is list and len(groups) == 1
    assert groups[0].sm_count == unit(sm) and groups[0].sm_count + remainder.sm_count == sm.sm_count
    if sm.sm_count >= 2 * unit(sm):
        two, rest = sm.split({"count": [unit(sm)] * 2, "backfill": [False, True]})
        assert [part.sm_count for part in two] == [unit(sm)] * 2 and rest.sm_count == sm.sm_count - 2 * unit(sm)


def test_discovery_lets_the_driver_choose(sm):
    for options in ({}, {"count": None}, SMResourceOptions()):
        groups, remainder = sm.split(options)
        assert len(groups) == 1 and groups[0].sm_count >= 1
        assert groups[0].sm_count + remainder.sm_count == sm.sm_count


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"count": []}, ValueError, "empty"),
        ({"count": -1}, ValueError, "negative"),
        ({"count": [1, -1]}, ValueError, "negative"),
        ({"count": 1, "backfill": [True]}, ValueError, "count is scalar"),
        ({"coscheduled_sm_count": [2, 2]}, ValueError, "count is scalar"),
        ({"count": [1, 1], "preferred_coscheduled_sm_count": [1]}, ValueError, "expected 2"),
        ({"count": [1, 1], "backfill": [True] * 3}, ValueError, "expected 2"),
        ({"count": 2.5}, TypeError, "count"),
        ({"count": "4"}, TypeError, "count"),
        ({"count": True}, TypeError, "count"),
        ({"count": ["4"]}, TypeError, "count"),
        ({"count": 1, "coscheduled_sm_count": 1.5}, TypeError, "coscheduled_sm_count"),
        ({"sm_count": 1}, TypeError, "sm_count"),
        (None, TypeError, "options"),
        (4, TypeError, "options"),
    ],
)
def test_the_shape_of_a_split_is_checked_before_the_driver_is_asked(sm, options, error, match):
    with pytest.raises(error, match=match):
        sm.split(options)


def test_what_cannot_be_had_is_a_driver_error(sm):
    for count in (sm.sm_count + 64, 2**40):
        with pytest.raises(cucore.CUDAError, match="INVALID_") as caught:
            sm.split({"count": count})
        assert "in steps of" in caught.value.hint


def test_groups_of_different_sizes_need_a_driver_of_13_1(sm):
    if sm.sm_count < 3 * unit(sm):
        pytest.skip("too few multiprocessors for groups of one and two units")
    options = {"count": [unit(sm), 2 * unit(sm)]}
    if has_structured_split():
        groups, _ = sm.split(options)
        assert [group.sm_count for group in groups] == options["count"]
    else:
        with pytest.raises(RuntimeError, match="13.1"):
            sm.split(options)
        with pytest.raises(RuntimeError, match="13.1"):
            sm.split({"count": unit(sm), "coscheduled_sm_count": unit(sm)})


def test_fractions_and_even_splits(device, sm):
    groups, remainder = sm.split_fractions(1.0)
    assert groups[0].sm_count + remainder.sm_count == sm.sm_count
    if sm.sm_count >= 2 * unit(sm):
        halves, _ = sm.split_evenly(2)
        assert len(halves) == 2 and halves[0].sm_count == halves[1].sm_count >= unit(sm)
        assert [part.sm_count for part in sm.split_fractions(0.5, 0.5)[0]] == [part.sm_count for part in halves]
        assert halves[0].sm_count * 2 + sm.split_evenly(2, dry_run=True)[1].sm_count == sm.sm_count
    for wrong in ((), (0.0,), (-0.5,), (2.0,), (0.75, 0.75), (float("nan"),), (1e-9,)):
        with pytest.raises(ValueError):
            sm.split_fractions(*wrong)
    for wrong in (0, -1, 10**6):
        with pytest.raises(ValueError):
            sm.split_evenly(wrong)


def test_a_dry_run_counts_alike_and_makes_no_context(device, sm):
    groups, remainder = sm.split({"count": unit(sm)}, dry_run=True)
    assert groups[0].sm_count == unit(sm) and remainder.sm_count == sm.sm_count - unit(sm)
    assert groups[0].is_dry_run and remainder.is_dry_run and not sm.is_dry_run
    with pytest.raises(ValueError, match="dry-run"):
        device.create_context({"resources": groups})


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (None, ValueError),
        ({"resources": None}, ValueError),
        ({"resources": []}, ValueError),
        ({"resources": ["sm"]}, TypeError),
        ({"resources": "sm"}, TypeError),
        ({"resources": 5}, TypeError),
        ({}, TypeError),
        ({"sm": []}, TypeError),
        (5, TypeError),
        ([], TypeError),
    ],
)
def test_a_context_needs_resources(device, options, error):
    with pytest.raises(error):
        device.create_context(options)


def test_a_context_on_a_part_of_the_device(device, group):
    context = device.create_context(ContextOptions(resources=[group]))
    assert context.is_green and context and context != device.context and context.device is device
    assert context.resources.sm.sm_count == group.sm_count
    assert device.context.is_green is False and cucore._core._current_context() == device.context
    stream = context.create_stream()
    assert stream.context == context and stream.context.is_green and hash(stream.context) == hash(context)
    assert stream.is_nonblocking and stream.device is device
    assert stream.resources.sm.sm_count == group.sm_count
    context.close()
    context.close()
    assert context.is_closed and context.handle is None and context.is_green is False
    for use in (lambda: context.resources, context.create_stream, lambda: context.device):
        with pytest.raises(RuntimeError, match="has been closed"):
            use()
    assert stream.context.is_green, "a stream keeps its context"
    stream.record().sync()
    stream.close()


def test_its_streams_are_non_blocking_only(device, green):
    with pytest.raises(ValueError, match="must be non-blocking"):
        green.create_stream({"nonblocking": False})
    with pytest.raises(ValueError, match="out of range"):
        green.create_stream({"priority": 1000})
    with pytest.raises(TypeError):
        green.create_stream(5)
    highest = device.priority_range.highest
    assert green.create_stream(cucore.StreamOptions(priority=highest)).priority == highest


def test_a_device_with_a_green_context_bound_makes_green_streams(device, green):
    primary = device.context
    assert device.set_current(green) is primary
    try:
        assert device.context is green
        stream = device.create_stream()
        assert stream.context == green and stream.context.is_green
        event = device.create_event()
        assert event.context == green
        stream.record(event)
        device.sync()
        assert event.is_done
        with pytest.raises(ValueError, match="must be non-blocking"):
            device.create_stream(options={"nonblocking": False})
        with pytest.raises(RuntimeError, match="while it is current"):
            green.close()
        assert cucore.LEGACY_DEFAULT_STREAM.context == green
    finally:
        assert device.set_current(primary) is green
    assert device.context is primary and not device.create_stream().context.is_green


def test_current_scope_takes_a_green_context(device, green):
    with green.current() as context:
        assert context is green and cucore._core._current_context() == green
    assert cucore._core._current_context() == device.context


def test_kernels_memory_timers_and_waits_work_on_its_streams(device, green, stream, saxpy_code):
    kernel = saxpy_code.get_kernel("saxpy<float>")
    own = green.create_stream()
    x, out = (device.allocate(4 * 256, stream=own) for _ in range(2))
    x.fill(0, stream=own)
    config = cucore.LaunchConfig(grid=2, block=128)
    with own.timer() as timer:
        cucore.launch(own, config, kernel, 2.0, x, x, out, 256)
    stream.wait(own)
    own.wait(stream)
    assert timer.ms >= 0
    own.sync()
    for buffer in (x, out):
        buffer.close()


def test_a_context_goes_with_the_last_that_needs_it(device, group):
    context = device.create_context({"resources": [group]})
    event = context.create_stream().record()
    del context
    gc.collect()
    event.sync()
    assert event.context.is_green


def test_a_context_can_be_used_and_dropped_in_any_thread(device, group):
    failures = []

    def work():
        try:
            with device.create_context({"resources": [group]}) as context:
                stream = context.create_stream()
                stream.record().sync()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_partition_is_a_context_for_each_share(device, sm):
    if sm.sm_count < 2 * unit(sm):
        pytest.skip("too few multiprocessors for two groups")
    first, second = device.partition([unit(sm), unit(sm)])
    assert first.is_green and second.is_green and first != second
    assert first.resources.sm.sm_count == unit(sm)
    halves = device.partition([0.5, 0.5])
    assert sum(context.resources.sm.sm_count for context in halves) <= sm.sm_count
    for wrong in ([], [0.9, 0.9]):
        with pytest.raises(ValueError):
            device.partition(wrong)


def test_work_queues_are_configured_before_they_are_used(device, group, workqueue):
    assert workqueue.device is device and workqueue.concurrency_limit >= 1 and workqueue.handle > 0
    assert workqueue.sharing_scope is WorkqueueSharingScopeType.DEVICE_CTX
    assert workqueue.configure({}) is None and workqueue.sharing_scope == "device_ctx"
    workqueue.configure(WorkqueueResourceOptions("green_ctx_balanced", 3))
    assert workqueue.sharing_scope is WorkqueueSharingScopeType.GREEN_CTX_BALANCED
    assert workqueue.concurrency_limit == 3
    assert device.resources.workqueue.sharing_scope == "device_ctx", "each access asks anew"
    with device.create_context(ContextOptions([group, workqueue])) as context:
        assert context.resources.workqueue.concurrency_limit == 3
        assert context.resources.sm.sm_count == group.sm_count
    for wrong in (None, 5):
        with pytest.raises(TypeError):
            workqueue.configure(wrong)


def test_work_queue_options_are_checked_when_they_are_made():
    assert WorkqueueResourceOptions("device_ctx").sharing_scope == WorkqueueSharingScopeType.DEVICE_CTX
    with pytest.raises(ValueError, match="WorkqueueSharingScopeType.*'device_ctx', 'green_ctx_balanced'"):
        WorkqueueResourceOptions(sharing_scope="all")
    for limit in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            WorkqueueResourceOptions(concurrency_limit=limit)


def test_resources_of_another_device_are_refused(device, group):
    if len(cucore.Device.get_all_devices()) < 2:
        pytest.skip("one device only")
    with pytest.raises(ValueError, match="Device 0 cannot be used"):
        cucore.Device(1).create_context({"resources": [group]})
