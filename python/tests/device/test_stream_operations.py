"""What a stream does besides ordering: host functions, values in memory, attributes; limits, peers, error classes."""

import datetime
import gc
import sys
import threading
import weakref

import pytest
from conftest import run_python

import cucore


def test_a_callback_runs_between_the_work_before_and_after_it(device, stream):
    order = []
    done = threading.Event()
    stream.callback(lambda: order.append("first"))
    stream.callback(lambda: (order.append("second"), done.set()))
    stream.sync()
    assert done.is_set() and order == ["first", "second"]
    for wrong in (None, 5):
        with pytest.raises(TypeError, match="callable"):
            stream.callback(wrong)


def test_a_callback_is_dropped_when_it_has_run(stream):
    class Function:
        def __call__(self):
            self.called = True

    function = Function()
    watch = weakref.ref(function)
    stream.callback(function)
    stream.sync()
    assert function.called
    del function
    for _ in range(1000):
        if watch() is None:
            break
        stream.callback(lambda: None)
        stream.sync()
        gc.collect()
    assert watch() is None


def test_what_a_callback_raises_goes_to_the_unraisable_hook(stream, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: raised.append(repr(what.exc_value)))
    stream.callback(lambda: 1 / 0)
    stream.sync()
    assert raised == ["ZeroDivisionError('division by zero')"]


def test_a_process_ends_quietly_with_a_callback_pending():
    finished = run_python(
        """
        import cucore, time
        device = cucore.Device(); device.set_current()
        stream = device.create_stream()
        stream.callback(lambda: time.sleep(0.2))
        stream.callback(lambda: print("late"))
        """
    )
    assert finished.returncode == 0 and finished.stderr == ""


def test_one_stream_waits_for_what_another_writes(device, stream):
    other = device.create_stream()
    words = cucore.LegacyPinnedMemoryResource().allocate(16)
    words.fill(0, stream=stream)
    stream.sync()
    other.wait_value(words, 3)
    other.wait_value(int(words.handle) + 8, 1 << 40, "&", bits=64)
    after = other.record()
    stream.write_value(words, 3)
    stream.sync()
    assert not after.is_done
    stream.write_value(int(words.handle) + 8, -1, bits=64)
    other.sync()
    assert after.is_done
    other.wait_value(words, 3, "==")
    other.sync()


def test_words_in_memory_of_a_pool_are_refused_with_advice(device, stream):
    words = device.allocate(16, stream=stream)
    for refused in (stream.wait_value, stream.write_value):
        with pytest.raises(cucore.CUDAError, match="of a pool"):
            refused(words, 1)
    words.close(stream)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s, b: s.wait_value(b, 1, "!="), ValueError),
        (lambda s, b: s.wait_value(b, 1, bits=16), ValueError),
        (lambda s, b: s.wait_value(b, 1.5), TypeError),
        (lambda s, b: s.wait_value("here", 1), TypeError),
        (lambda s, b: s.wait_value(b, 1 << 32), OverflowError),
        (lambda s, b: s.write_value(b, -(1 << 31) - 1), OverflowError),
        (lambda s, b: s.write_value(b, 1 << 64, bits=64), OverflowError),
        (lambda s, b: s.write_value(int(b.handle) + 1, 1), cucore.CUDAError),
        (lambda s, b: s.record(external=True), TypeError),
        (lambda s, b: s.wait(s, external=True), TypeError),
        (lambda s, b: s.record(s.device.create_event(), external=True), cucore.CUDAError),
        (lambda s, b: s.wait(s.device.create_event(), external=True), cucore.CUDAError),
        (lambda s, b: s.record(None, sideways=True), TypeError),
        (lambda s, b: setattr(s, "sync_policy", "sometimes"), ValueError),
        (lambda s, b: setattr(s, "mem_sync_domain", "far"), ValueError),
    ],
)
def test_wrong_operations_are_refused(device, stream, call, error):
    with cucore.LegacyPinnedMemoryResource().allocate(16) as buffer, pytest.raises(error):
        call(stream, buffer)
    stream.sync()


def test_attributes_and_names(device):
    stream = device.create_stream()
    assert stream.sync_policy == "auto" and stream.mem_sync_domain == "default"
    stream.sync_policy = "yield"
    assert stream.sync_policy == "yield"
    if device.properties.mem_sync_domain_count > 1:
        stream.mem_sync_domain = "remote"
        assert stream.mem_sync_domain == "remote"
    assert stream.name is None
    stream.name = "copies"
    assert stream.name == "copies" and "name='copies'" in repr(stream)
    stream.name = None
    assert "name" not in repr(stream)
    stream.close()
    for use in (lambda: stream.sync_policy, lambda: stream.callback(print), lambda: stream.write_value(8, 1)):
        with pytest.raises(RuntimeError, match="has been closed"):
            use()


def test_elapsed_is_a_timedelta(device, stream):
    start = stream.record(options={"timing_enabled": True})
    end = stream.record(options={"timing_enabled": True})
    time = end.elapsed(start, sync=True)
    assert isinstance(time, datetime.timedelta)
    assert abs(time / datetime.timedelta(milliseconds=1) - (end - start)) < 1e-3
    with pytest.raises(RuntimeError, match="timing enabled"):
        end.elapsed(device.create_event())


def test_limits_can_be_read_and_set(device):
    before = device.limits.stack_size
    try:
        device.limits.stack_size = before + 1024
        assert device.limits.stack_size >= before + 1024
    finally:
        device.limits.stack_size = before
    assert device.limits.malloc_heap_size > 0 and device.limits.printf_fifo_size > 0
    with pytest.raises(TypeError):
        device.limits.stack_size = "large"
    with pytest.raises(AttributeError):
        device.limits.stack = 1
    with pytest.raises(cucore.CUDAError, match="cuCtxGetLimit"):
        device._primary_context()._limit(77)


def test_peer_access_is_granted_and_taken_back(device):
    with pytest.raises(cucore.CUDAError):
        device.enable_peer_access(device)
    if len(cucore.Device.get_all_devices()) < 2 or not device.can_access_peer(1):
        pytest.skip("no second device that is a peer")
    for _ in range(2):
        device.enable_peer_access(1)
    for _ in range(2):
        device.disable_peer_access(cucore.Device(1))


def test_frequent_driver_errors_have_classes_of_their_own(device, stream):
    with pytest.raises(cucore.CUDAOutOfMemoryError) as caught:
        device.allocate(1 << 60, stream=stream)
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value, cucore.CUDAError)
    assert caught.value.code == 2 and not caught.value.is_sticky
    for cls in (cucore.CUDANotReadyError, cucore.CUDAInvalidContextError, cucore.CUDAStickyError):
        assert issubclass(cls, cucore.CUDAError) and cls.__module__ == "cucore"


def test_a_call_without_a_context_and_a_fault_say_so_by_their_class():
    finished = run_python(
        """
        import cucore
        PTX = b'''
        .version 7.0
        .target sm_70
        .address_size 64
        .visible .entry trap_now() { trap; ret; }
        '''
        device = cucore.Device()
        try:
            cucore.LEGACY_DEFAULT_STREAM.sync()
        except cucore.CUDAInvalidContextError as error:
            assert not error.is_sticky
        device.set_current()
        stream = device.create_stream()
        kernel = cucore.ObjectCode.from_ptx(PTX).get_kernel("trap_now")
        cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), kernel)
        for _ in range(2):
            try:
                stream.sync()
            except cucore.CUDAStickyError as error:
                assert error.is_sticky
            else:
                raise SystemExit("no error")
        print("both")
        """
    )
    assert finished.stdout.strip() == "both", finished.stderr


def test_devices_can_be_used_without_set_current_on_request():
    finished = run_python(
        """
        import cucore
        device = cucore.Device()
        try:
            device.create_stream()
        except cucore.CUDAError as error:
            assert "not yet initialized" in str(error)
        else:
            raise SystemExit("no error")
        cucore.Device.initializes_on_demand = True
        stream = device.create_stream()
        device.create_event().record(stream)
        device.allocate(16, stream=stream).close()
        device.sync()
        assert device.context == stream.context
        assert cucore._core._current_context() is None
        print("on demand")
        """
    )
    assert finished.stdout.strip() == "on demand", finished.stderr
