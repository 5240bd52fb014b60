"""When a driver call fails: the error with its code, nothing left behind, the caller's context as it was.

The programs run over a driver that refuses the calls they tell it to; the CPU device behind it writes to stderr what is
alive at exit.
"""

import os

import pytest
from conftest import build_stand_in, run_python

import cucore

PRELUDE = """
    import ctypes, gc, sys, warnings
    import cucore
    from contextlib import contextmanager
    driver = ctypes.CDLL(sys.argv[1])
    @contextmanager
    def refused(name, code, after=0):
        assert driver.refuse(name.encode(), code, after), name
        try: yield
        finally: driver.refuse(name.encode(), 0, 0)
    def error_of(call, kind=cucore.CUDAError):
        try: call()
        except kind as error: return error
        raise AssertionError("nothing was raised")
    def current(): return cucore._core._current_context()
    first, second = cucore.Device(0), cucore.Device(1)
    second.set_current(); first.set_current()
"""


@pytest.fixture(scope="module")
def refusing_driver(tmp_path_factory):
    return build_stand_in("refusing_driver.c", tmp_path_factory.mktemp("driver") / "librefusing_driver.so")


def passes(source, library, prelude=PRELUDE):
    environment = {
        "CUCORE_DEVICE": "cpu",
        "CUCORE_CPU_DRIVER": str(library),
        "CUCORE_CPU_DEVICES": "2",
        "CUCORE_CPU_REPORT_LEAKS": "1",
        "REAL_DRIVER": os.path.realpath(cucore.driver_info().path),
    }
    done = run_python(prelude + source + '\n    print("passed")', library, env=environment)
    assert (done.stdout, done.stderr, done.returncode) == ("passed\n", "", 0), done.stderr


def test_a_driver_that_cannot_start_says_why(refusing_driver):
    prelude = PRELUDE.split("    first, second")[0]
    source = """
    with refused("cuInit", 999):
        for ask in (cucore.Device, cucore.Device.get_all_devices, lambda: cucore.Device(0)):
            error = error_of(ask, Exception)
            assert "cuInit" in str(error) or "999" in str(error), error
    """
    passes(source, refusing_driver, prelude)


@pytest.mark.parametrize("code", [1, 801])
def test_properties_that_the_driver_does_not_know_have_their_defaults(refusing_driver, code):
    source = f"""
    with refused("cuDeviceGetAttribute", {code}):
        values = {{name: getattr(first.properties, name) for name in first.properties}}
    assert len(values) == 143
    for name, value in values.items():
        default = {{"mem_sync_domain_count": 1, "host_numa_id": -1}}.get(name, 0)
        assert value == default, (name, value)
    assert first.properties.warp_size == 0 and second.properties.warp_size == 32
    """
    passes(source, refusing_driver)


def test_a_property_that_cannot_be_asked_for_raises_and_is_asked_for_again(refusing_driver):
    source = """
    with refused("cuDeviceGetAttribute", 999):
        error = error_of(lambda: first.properties.warp_size)
        assert (error.code, error.name, error.call) == (999, "CUDA_ERROR_UNKNOWN", "cuDeviceGetAttribute"), error
    assert first.properties.warp_size == 32
    """
    passes(source, refusing_driver)


def test_what_cannot_be_made_leaves_nothing_and_the_callers_context(refusing_driver):
    source = """
    stream, there = first.create_stream(), second.create_stream()
    for call, make in (
        ("cuEventCreate", first.create_event), ("cuEventCreate", second.create_event),
        ("cuEventCreate", lambda: second.create_event({"timing_enabled": True})),
        ("cuEventCreate", there.record), ("cuEventCreate", lambda: stream.wait(there)),
        ("cuEventCreate", lambda: second.event_pool.get({"blocking_sync": True})),
        ("cuEventRecord", there.record), ("cuEventRecord", lambda: stream.wait(there)),
        ("cuStreamWaitEvent", lambda: stream.wait(there)), ("cuStreamWaitEvent", lambda: there.wait(stream)),
        ("cuStreamCreateWithPriority", first.create_stream), ("cuStreamCreateWithPriority", second.create_stream),
        ("cuStreamCreateWithPriority", lambda: second.create_stream(options={"nonblocking": False})),
    ):
        with refused(call, 2):
            error = error_of(make)
        assert (error.code, error.name, error.call) == (2, "CUDA_ERROR_OUT_OF_MEMORY", call), (call, error)
        assert error.api == call and not error.is_sticky
        assert str(error).startswith("CUDA_ERROR_OUT_OF_MEMORY: "), error
        assert current() == first.context and cucore.Device() is first
        make()  # and goes on working
    """
    passes(source, refusing_driver)


def test_a_context_that_cannot_be_restored_takes_what_was_made_with_it(refusing_driver):
    source = """
    there = second.create_stream()
    for make in (second.create_event, second.create_stream, there.record):
        with refused("cuCtxSetCurrent", 201, after=1):
            error = error_of(make)
        assert error.code == 201 and error.call == "cuCtxSetCurrent", error
        assert f"{int(second.context.handle):#x}" in str(error), error  # which context is current now
        assert current() == second.context
        first.set_current()
        make()
    """
    passes(source, refusing_driver)


def test_set_current_that_fails_changes_nothing(refusing_driver):
    source = """
    bound = first.context
    with refused("cuCtxSetCurrent", 201):
        for use in (first.set_current, second.set_current, lambda: second.set_current(second.context),
                    second.current().__enter__):
            error_of(use)
            assert current() == bound and first.context is bound
    assert second.set_current(second.context) == bound and first.set_current(bound) == second.context
    """
    passes(source, refusing_driver)


def test_a_stream_whose_context_cannot_be_asked_for_leaves_the_current_one(refusing_driver):
    source = """
    import os
    made, real = ctypes.c_void_p(), ctypes.CDLL(os.environ["REAL_DRIVER"])
    assert real.cuStreamCreate(ctypes.byref(made), 1) == 0
    foreign = cucore.Stream.from_handle(made.value)
    second.set_current()
    with refused("cuStreamGetCtx", 999):
        for ask in (lambda: foreign.device, lambda: foreign.context, lambda: foreign.priority, foreign.record):
            assert error_of(ask).code == 999
            assert current() == second.context
        foreign.sync()  # for which the driver seldom needs a context
        assert current() == second.context
    assert foreign.device is first and foreign.context == first.context and current() == second.context
    foreign.sync()
    real.cuStreamDestroy_v2(made)
    """
    passes(source, refusing_driver)


def test_a_driver_that_wants_a_context_for_a_stream_or_an_event_is_given_theirs(refusing_driver):
    source = """
    import threading
    stream = first.create_stream(); event = stream.record()
    done = []
    def without_context():
        for call, use in (
            ("cuStreamSynchronize", stream.sync), ("cuStreamQuery", lambda: stream.is_done),
            ("cuEventSynchronize", event.sync), ("cuEventQuery", lambda: event.is_done),
            ("cuStreamWaitEvent", lambda: stream.wait(event)),
        ):
            for code in (201, 400):
                with refused(call, -code): use()
                assert current() is None
            done.append(call)
    thread = threading.Thread(target=without_context); thread.start(); thread.join()
    assert len(done) == 5, done
    """
    passes(source, refusing_driver)


def test_an_asynchronous_error_is_not_taken_for_pending_work(refusing_driver):
    source = """
    import asyncio
    stream = first.create_stream(); event = stream.record(options={"timing_enabled": True}); stream.sync()
    async def wait(what): await what
    for call, uses in (
        ("cuEventQuery", [lambda: event.is_done, lambda: event.sync(timeout=1), lambda: event.future().result(),
                          lambda: asyncio.run(wait(event)), lambda: asyncio.run(wait(stream))]),
        ("cuStreamQuery", [lambda: stream.is_done, lambda: stream.sync(timeout=1)]),
        ("cuStreamSynchronize", [stream.sync]), ("cuEventSynchronize", [event.sync]),
        ("cuCtxSynchronize", [first.sync]), ("cuEventElapsedTime", [lambda: event - event]),
    ):
        for use in uses:
            with refused(call, 700):
                error = error_of(use)
            assert (error.code, error.name) == (700, "CUDA_ERROR_ILLEGAL_ADDRESS") and error.is_sticky, error
            use()
    """
    passes(source, refusing_driver)


def test_a_release_that_fails_warns_and_says_what_of_what(refusing_driver):
    source = """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = [first.create_event(), first.create_stream()]
        handles = [f"{int(one.handle):#x}" for one in kept]
        with refused("cuEventDestroy", 700), refused("cuStreamDestroy", 700):
            kept.clear()
        again = first.create_event()
        with refused("cuEventDestroy", 4):  # the driver is shutting down: silent
            del again
        gc.collect()
    assert [w.category for w in caught] == 2 * [cucore.CUDAWarning], [str(w.message) for w in caught]
    texts = [str(w.message) for w in caught]
    for handle, call in zip(handles, ("cuEventDestroy", "cuStreamDestroy")):
        assert any(handle in t and call in t and "CUDA_ERROR_ILLEGAL_ADDRESS" in t for t in texts), texts
    print("passed", flush=True)
    import os; os._exit(0)  # what was not destroyed is alive, as it should be
    """
    passes(source, refusing_driver)
