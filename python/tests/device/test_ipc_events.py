"""Events between processes: a consumer waits, on the device and on the host, for what a producer has submitted."""

import pickle
import subprocess
import sys

import pytest
from conftest import run_python

import cucore

PROGRAM = '''
import multiprocessing, sys
import cucore

SPIN = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 flag)
{
  .reg .u64 %a; .reg .u32 %v; .reg .pred %p;
  ld.param.u64 %a, [flag];
again:
  ld.volatile.u32 %v, [%a];
  setp.eq.u32 %p, %v, 0;
  @%p bra again;
  ret;
}
"""


def consumer(events, answers, go_on):
    device = cucore.Device()
    device.set_current()
    event = events.get()
    answers.put((event.is_done, event.is_ipc_enabled, event.is_timing_enabled, event.is_blocking_sync))
    with device.create_stream() as stream:
        stream.wait(event)
        after = stream.record()
        answers.put(after.is_done)
        go_on.wait()
        event.sync()
        after.sync()
        answers.put((event.is_done, after.is_done))
        answers.put((event.device, event.context))
        event.close()
        answers.put(event.is_closed)


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    events, answers, go_on = multiprocessing.Queue(), multiprocessing.Queue(), multiprocessing.Event()
    child = multiprocessing.Process(target=consumer, args=(events, answers, go_on), daemon=True)
    child.start()
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    flag = cucore.LegacyPinnedMemoryResource().allocate(64)
    with memoryview(flag).cast("I") as word:
        word[0] = 0
        kernel = cucore.ObjectCode.from_ptx(SPIN).get_kernel("spin")
        cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), kernel, flag)
        try:
            event = stream.record(options={"ipc_enabled": True, "blocking_sync": True})
            events.put(event)
            print(answers.get(timeout=90), answers.get(timeout=90))
        finally:
            word[0] = 1
        go_on.set()
    print(answers.get(timeout=90), answers.get(timeout=90), answers.get(timeout=90))
    child.join()
    print(child.exitcode, event.is_done)
'''


@pytest.fixture
def ipc_event(device, stream):
    if not device.properties.ipc_event_supported:
        pytest.skip("the device has no IPC events")
    with stream.record(options={"ipc_enabled": True}) as event:
        yield event


def test_another_process_waits_for_work_that_is_not_done(ipc_event, tmp_path):
    program = tmp_path / "program.py"  # multiprocessing imports it again in the child
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "(False, True, False, True) False",
        "(True, True) (None, None) True",
        "0 True",
    ]


def test_an_ipc_event_is_bound_for_life_and_never_timed(stream, ipc_event):
    assert ipc_event.is_ipc_enabled and not ipc_event.is_timing_enabled
    for record in (lambda: stream.record(ipc_event), lambda: ipc_event.record(stream)):
        with pytest.raises(TypeError, match="re-recorded"):
            record()
    with pytest.raises(RuntimeError, match="timing"):
        _ = stream.record(options={"timing_enabled": True}) - ipc_event


def test_a_descriptor_of_an_ipc_event_pickles_and_is_the_same_each_time(ipc_event):
    descriptor = ipc_event.ipc_descriptor
    assert descriptor is ipc_event.ipc_descriptor
    assert pickle.loads(pickle.dumps(descriptor)) == descriptor
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(ipc_event)


def test_a_descriptor_opens_as_the_class_it_is_asked_of(ipc_event):
    done = run_python(
        """
        import pickle, sys, weakref, cucore
        class Mine(cucore.Event): pass
        cucore.Device().set_current()
        descriptor = pickle.loads(bytes.fromhex(sys.argv[1]))
        with Mine.from_ipc_descriptor(ipc_descriptor=descriptor) as mine:
            print(type(mine) is Mine, mine.is_ipc_enabled, mine.device, mine.context, weakref.ref(mine)() is mine)
        with cucore.Event.from_ipc_descriptor(descriptor) as event:
            print(type(event) is cucore.Event)
        """,
        pickle.dumps(ipc_event.ipc_descriptor).hex(),
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True True None None True\nTrue\n", "", 0)


def test_an_event_of_another_process_is_sent_on_by_the_descriptor_it_came_from(ipc_event):
    done = run_python(
        """
        import pickle, subprocess, sys, cucore
        cucore.Device().set_current()
        descriptor = pickle.loads(bytes.fromhex(sys.argv[1]))
        event = cucore.Event.from_ipc_descriptor(descriptor)
        print(event.ipc_descriptor is descriptor, event.device, event.context)
        if sys.argv[2] == "on":
            again = [sys.executable, *sys.orig_argv[1:-2], pickle.dumps(event.ipc_descriptor).hex(), "end"]
            print(subprocess.run(again, capture_output=True, text=True).stdout.strip())
        event.sync()
        event.close()
        try:
            event.ipc_descriptor
        except RuntimeError as error:
            print("closed" in str(error))
        """,
        pickle.dumps(ipc_event.ipc_descriptor).hex(),
        "on",
    )
    assert (done.stdout, done.stderr) == ("True None None\nTrue None None\nTrue\nTrue\n", "")


def test_a_descriptor_is_not_for_the_process_that_made_it(ipc_event):
    with pytest.raises(cucore.CUDAError, match="CUDA_ERROR_INVALID_CONTEXT.*another process(.|\n)*made it"):
        cucore.Event.from_ipc_descriptor(ipc_event.ipc_descriptor)


def test_a_descriptor_of_nothing_is_refused_by_the_driver(ipc_event):
    from cucore import _ipc

    with pytest.raises(cucore.CUDAError, match="cuIpcOpenEventHandle"):
        cucore.Event.from_ipc_descriptor(_ipc.descriptor(bytes(range(1, 65)), False))


def test_a_shared_event_pickles_and_knows_its_device(ipc_event, device, stream):
    shared = cucore.SharedEvent(ipc_event)
    assert shared.event is ipc_event and shared.device is device
    done = run_python(
        """
        import pickle, sys, cucore
        shared = pickle.loads(bytes.fromhex(sys.argv[1]))
        event = shared.event
        event.sync()
        print(shared.device.uuid == sys.argv[2], event is shared.event, event.is_ipc_enabled, event.is_done)
        try:
            cucore.SharedEvent(event)
        except (ValueError, cucore.CUDAError):
            print("only its maker shares it")
        """,
        pickle.dumps(shared).hex(),
        device.uuid,
    )
    assert (done.stdout, done.stderr) == ("True True True True\nonly its maker shares it\n", "")
    for wrong, error in ((5, TypeError), (stream.record(), RuntimeError)):
        with pytest.raises(error):
            cucore.SharedEvent(wrong)
