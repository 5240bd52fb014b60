"""Objects made, used, closed and dropped in any order and from any thread."""

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from conftest import run_python
from exit_scenarios import START
from exit_threads import SPINNING

import cucore

SEED = os.environ.get("CUCORE_TEST_SEED", "20261121")


def test_random_sequences_from_eight_threads_neither_fail_nor_leak(tmp_path):
    """CUCORE_TEST_SEED replays one run; what is printed names the sequence that failed, to be run alone."""
    program = Path(__file__).with_name("random_sequences.py")
    environment = {**os.environ, "CUCORE_CPU_REPORT_LEAKS": "1"}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", program, tmp_path, SEED],
        capture_output=True,
        text=True,
        env=environment,
        timeout=900,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("all well\n", "", 0)


@pytest.mark.parametrize("how", ["allocated", "adopted", "moved to it"])
def test_a_cycle_through_a_foreign_stream_and_a_buffer_in_its_order_is_collected(device, how):
    class Foreign:
        def __cuda_stream__(self):
            return 0, 2

    foreign, resource = Foreign(), cucore.DeviceMemoryResource(device, cucore.DeviceMemoryResourceOptions())
    wrapped = device.create_stream(foreign)
    if how == "allocated":
        foreign.buffer = resource.allocate(4096, stream=wrapped)
    elif how == "adopted":
        borrowed = resource.allocate(4096, stream=device.default_stream)
        foreign.buffer = cucore.Buffer.from_handle(borrowed.handle, 4096, mr=NoRelease(), stream=wrapped)
    else:
        foreign.buffer = resource.allocate(4096, stream=device.default_stream)
        foreign.buffer.set_deallocation_stream(wrapped)
    gone = weakref.ref(foreign)
    del foreign
    gc.collect()
    assert gone() is not None  # the open wrapper keeps it
    del wrapped
    gc.collect()
    device.sync()
    assert gone() is None
    assert how == "adopted" or resource.attributes.used_mem_current == 0


class NoRelease(cucore.MemoryResource):
    is_device_accessible = True
    is_host_accessible = False
    device_id = 0

    def deallocate(self, ptr, size, *, stream):
        pass


def test_an_object_without_a_value_in_the_memory_of_an_earlier_one_is_a_closed_one(device, stream):
    """Objects of some classes are made in the memory of earlier ones."""
    device.create_event(), device.create_stream()  # drops them
    event, other = cucore.Event.__new__(cucore.Event), cucore.Stream.__new__(cucore.Stream)
    with pytest.warns(RuntimeWarning, match="uninitialized"), pytest.raises(TypeError, match="Event"):
        stream.record(event)
    with pytest.raises(RuntimeError, match="closed"):
        device.event_pool.put(event)
    with pytest.raises(TypeError, match="made by __new__ alone"):
        other.record(device.create_event())
    code = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"
    kernel = cucore.ObjectCode.from_ptx(code).get_kernel("k")
    with pytest.raises(RuntimeError, match="the Stream has been closed"):
        cucore.launch(other, cucore.LaunchConfig(grid=1, block=1), kernel)
    gc.collect()
    del event, other
    assert device.create_event() and device.create_stream()


def test_a_dropped_object_leaves_nothing_to_the_next_one_in_its_memory(device):
    first = device.create_stream()
    dead, address = weakref.ref(first), id(first)
    del first
    assert dead() is None
    second = device.create_stream()
    if id(second) != address and sys.version_info < (3, 14) and not getattr(sys, "_is_gil_enabled", lambda: True)():
        pytest.skip("no memory of objects is kept to be used again on a free-threaded Python before 3.14")
    assert id(second) == address  # so that this test says something
    assert weakref.getweakrefcount(second) == 0 and dead() is None
    assert gc.is_tracked(second)


def test_a_release_that_fails_is_a_warning_of_its_own():
    if cucore.driver_info().kind != "cpu":
        pytest.skip("NVIDIA's driver reads through a handle that it destroyed before")
    done = run_python("""
        import ctypes, gc, warnings, cucore
        device = cucore.Device(); device.set_current()
        driver = ctypes.CDLL(cucore.driver_info().path)
        made = [device.create_event(), device.create_stream(), device.create_event()]
        for event in (made[0], made[2]): driver.cuEventDestroy_v2(ctypes.c_void_p(int(event.handle)))
        driver.cuStreamDestroy_v2(ctypes.c_void_p(int(made[1].handle)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            del made, event
            gc.collect()
        for warning in caught:
            assert warning.category is cucore.CUDAWarning
            print(str(warning.message).split("(")[1].split(" ")[0])
        closed = device.create_event()
        driver.cuEventDestroy_v2(ctypes.c_void_p(int(closed.handle)))
        try:
            closed.close()
        except cucore.CUDAError as error:
            print("raised by close():", error.call, closed.is_closed)
        closed.close()
        """)
    lines = done.stdout.splitlines()
    assert sorted(lines[:3]) == ["cuEventDestroy", "cuEventDestroy", "cuStreamDestroy"], done.stderr
    assert lines[3:] == ["raised by close(): cuEventDestroy True"] and done.stderr == ""


def test_a_subinterpreter_is_refused():
    done = run_python("""
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        import cucore
        text = '''
        try:
            import cucore
        except ImportError as error:
            assert "subinterpreter" in str(error) or "single-phase" in str(error), error
            open(1, "w", closefd=False).write("refused\\\\n")
        '''
        import textwrap
        try:
            other = interpreters.create(isolated=False)
        except TypeError:
            other = interpreters.create("legacy")
        interpreters.run_string(other, textwrap.dedent(text))
        interpreters.destroy(other)
        cucore.Device().set_current()
        """)
    assert (done.stdout, done.stderr, done.returncode) == ("refused\n", "", 0)


FORKED = """
import multiprocessing, os, sys, cucore
def child(_):
    device = cucore.Device()
    device.set_current()
    return device.create_stream().sync()
if __name__ == "__main__":
    cucore.Device().set_current()
    stream = cucore.Device().create_stream()
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        try:
            print(pool.apply(child, (0,)))
        except cucore.CUDAError as error:
            print("fork" in str(error) and "spawn" in str(error))
    stream.sync()
"""


@pytest.mark.parametrize(("method", "answer"), [("spawn", "None"), ("forkserver", "None"), ("fork", "True")])
def test_processes_of_multiprocessing(tmp_path, method, answer):
    program = tmp_path / "program.py"
    program.write_text(FORKED)
    done = run_python(f"""
        import runpy, sys
        sys.argv = [{str(program)!r}, {method!r}]
        sys.path.insert(0, {str(tmp_path)!r})
        import subprocess
        sys.exit(subprocess.run([sys.executable, *sys.argv]).returncode)
        """)
    assert (done.stdout, done.returncode) == (f"{answer}\n", 0)
    assert (done.stderr == "") if method != "fork" else (done.stderr.count("UserWarning") == 1), done.stderr


FORKS = """
import os, warnings, cucore
warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, about fork with threads
def fork():
    with warnings.catch_warnings(record=True) as caught:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    return [(w.category.__name__, w.filename, "spawn" in str(w.message)) for w in caught]
"""


def test_fork_after_the_first_cuda_call_warns_once_and_where():
    done = run_python(f"{FORKS}\nprint(fork()); cucore.Device().set_current(); print(fork(), fork())")
    assert (done.stdout, done.stderr) == ("[]\n[('UserWarning', '<string>', True)] []\n", "")


def test_a_child_of_fork_compiles_and_is_told_what_it_cannot():
    done = run_python(
        """
        import os, warnings, cucore
        warnings.simplefilter("ignore")
        device = cucore.Device()
        device.set_current()
        stream = device.create_stream()
        child = os.fork()
        if child == 0:
            program = cucore.Program('extern "C" __global__ void k() {}', "c++", {"arch": "sm_90"})
            print(program.compile("ptx").code_type, program.compile("cubin").code_type)
            print(len(cucore.Device.get_all_devices()) > 0)
            for make in (stream.record, device.create_event, lambda: device.create_event({"timing_enabled": True})):
                try:
                    make()
                except RuntimeError as error:
                    print(isinstance(error, cucore.CUDAError), error.code, "spawn" in str(error), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        """,
        env={"CUCORE_CPU_DEVICES": "2"},
    )
    assert (done.stdout, done.stderr) == ("ptx cubin\nTrue\n" + 3 * "True 3 True\n", "")


def test_a_program_that_only_starts_others_is_not_warned_of_fork():
    done = run_python("""
        import subprocess, sys, cucore
        cucore.Device().set_current()
        print(subprocess.run([sys.executable, "-c", "print(7)"], capture_output=True, text=True).stdout.strip())
        """)
    assert (done.stdout, done.stderr) == ("7\n", "")


def test_live_handles_counts_what_is_owned_by_kind(device):
    counted = cucore.debug.live_handles

    def more():
        now = counted()
        return {kind: now[kind] - before[kind] for kind in now if now[kind] != before[kind]}

    gc.collect()
    before = counted()
    stream, other = device.create_stream(), device.create_stream()
    borrowed = cucore.Stream.from_handle(int(stream.handle))
    event, buffer = stream.record(), device.allocate(64, stream=stream)
    resource = cucore.DeviceMemoryResource(device, {"max_size": 33 << 20})  # such as no other test has left
    code = cucore.ObjectCode.from_ptx(
        b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"
    )
    made = {"Stream": 2, "Event": 1, "Buffer": 1, "MemoryPool": 1}
    assert more() == made
    kernel = code.get_kernel("k")
    assert more() == made | {"Library": 1}
    other.close()
    other.close()
    del code
    assert more() == made | {"Stream": 1, "Library": 1}
    buffer.close()
    event.close()
    resource.close()
    stream.close()
    del kernel, borrowed, stream
    assert more() == {}


def test_live_handles_opens_no_driver():
    done = run_python("""
        import cucore
        print(set(cucore.debug.live_handles().values()), cucore._core._driver_opened())
        """)
    assert (done.stdout, done.stderr) == ("{0} False\n", "")


def test_dropping_the_last_reference_lets_other_threads_run():
    """The driver frees host memory when the work that runs has ended, which takes another thread of Python here."""
    done = run_python(
        START
        + SPINNING
        + """
last = cucore.LegacyPinnedMemoryResource().allocate(64)  # NVIDIA's driver waits for kernels before it allocates, too
spin = cucore.ObjectCode.from_ptx(PTX).get_kernel("spin")  # nor does it unload what runs
stream, flag = spinning(spin)
word = memoryview(flag).cast("I")
threading.Timer(0.1, lambda: word.__setitem__(0, 1)).start()
del last
stream.sync()
print("freed")
""",
        timeout=60,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("freed\n", "", 0)


SENDS = """
import multiprocessing, sys, warnings, cucore
from multiprocessing.reduction import ForkingPickler
device = cucore.Device(); device.set_current()
event = device.create_stream().record(options={"ipc_enabled": True})
if sys.argv[1] != "unset": multiprocessing.set_start_method(sys.argv[1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2): ForkingPickler.dumps(event)
print([w.category.__name__ for w in caught if "spawn" in str(w.message)])
"""


@pytest.mark.parametrize(("method", "warned"), [("unset", ["UserWarning"]), ("fork", ["UserWarning"]), ("spawn", [])])
def test_sending_an_event_to_a_process_made_by_fork_warns_once(method, warned):
    done = run_python(SENDS, method)
    assert (done.stdout, done.stderr) == (f"{warned}\n", "")


def test_an_event_travels_only_as_its_descriptor(device, stream):
    import pickle

    from cucore import _ipc

    made = _ipc.descriptor(bytes(range(64)), True)
    assert pickle.loads(pickle.dumps(made)) == made and made != _ipc.descriptor(bytes(64), True) and made != 5
    for refused, error in ((lambda: hash(made), TypeError), (cucore.IPCEventDescriptor, RuntimeError)):
        with pytest.raises(error):
            refused()
    with pytest.raises(ValueError, match="64"):
        cucore.Event.from_ipc_descriptor(_ipc.descriptor(b"short", False))
    with pytest.raises(TypeError):
        cucore.Event.from_ipc_descriptor(b"bytes")
    event = device.create_event()
    with pytest.raises(RuntimeError, match="not IPC-enabled"):
        _ = event.ipc_descriptor
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(event)
