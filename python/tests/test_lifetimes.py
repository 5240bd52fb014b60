"""Objects made, used, closed and dropped in any order, from any thread, and a million times."""

import gc
import os
import random
import threading
import warnings
from functools import partial

import pytest
from conftest import run_python

import cucore

PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n  ret;\n}\n"
SEED = int(os.environ.get("CUCORE_TEST_SEED", "20261121"))
CONFIG = cucore.LaunchConfig(grid=1, block=1)


class Sequence:
    """A random program over all classes; the same seed gives the same program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.device = cucore.Device()
        self.device.set_current()
        self.pool = cucore.EventPool(self.device, capacity=2)
        self.objects = []
        self.makers = [
            lambda: self.device.create_stream(options={"nonblocking": self.random.random() < 0.5}),
            lambda: self.device.create_event({"timing_enabled": self.random.random() < 0.5}),
            lambda: self.pool.get({"timing_enabled": self.random.random() < 0.5}),
            lambda: self.device.event_pool.get(),
            lambda: self.device.allocate(self.random.choice((0, 1, 4096, 1 << 20)), stream=self.stream()),
            lambda: cucore.LegacyPinnedMemoryResource().allocate(64),
            lambda: cucore.DeviceMemoryResource(self.device, cucore.DeviceMemoryResourceOptions()),
            lambda: cucore.ObjectCode.from_ptx(PTX),
            lambda: cucore.ObjectCode.from_ptx(PTX).get_kernel("k"),
            lambda: self.stream().context,
            lambda: self.stream().record(options={"timing_enabled": self.random.random() < 0.5}),
            lambda: self.again(self.stream()),
            lambda: self.stream().timer(),
        ]
        self.uses = [
            lambda a, b: self.of(cucore.Stream, a).record(self.of(cucore.Event, b)),
            lambda a, b: self.of(cucore.Stream, a).wait(self.of(cucore.Event, b)),
            lambda a, b: self.of(cucore.Stream, a).wait(self.of(cucore.Stream, b)),
            lambda a, b: self.of(cucore.Stream, a).sync(),
            lambda a, b: self.of(cucore.Event, a).sync(),
            lambda a, b: self.of(cucore.Event, a) - self.of(cucore.Event, b),
            lambda a, b: self.of(cucore.Event, a).is_done,
            lambda a, b: self.of(cucore.Buffer, a).fill(7, stream=self.of(cucore.Stream, b)),
            lambda a, b: cucore.launch(
                self.of(cucore.Stream, a), CONFIG, self.of(cucore.Kernel, b), self.of(cucore.Buffer, None)
            ),
            lambda a, b: self.of(cucore.DeviceMemoryResource, a).allocate(512, stream=self.stream()).close(),
            lambda a, b: self.pool.put(self.of(cucore.Event, a)),
            lambda a, b: setattr(self.of(cucore.Stream, a), "kept", b),
            lambda a, b: repr(a) + repr(b),
            lambda a, b: (a == b, hash(a)),
        ]

    def stream(self):
        open_streams = [o for o in self.objects if isinstance(o, cucore.Stream) and o]
        return self.random.choice(open_streams) if open_streams else self.device.create_stream()

    @staticmethod
    def again(stream):
        """Another object of the same stream, made while the first still owns it."""
        return cucore.Stream.from_handle(int(stream.handle))

    def of(self, kind, preferred):
        if isinstance(preferred, kind):
            return preferred
        found = [o for o in self.objects if isinstance(o, kind)]
        if not found:
            raise LookupError(kind)
        return self.random.choice(found)

    def run(self, steps):
        for _ in range(steps):
            step = self.random.random()
            if step < 0.4 or not self.objects:
                self.objects.append(self.attempt(self.random.choice(self.makers)))
            elif step < 0.75:
                a, b = self.random.choice(self.objects), self.random.choice(self.objects)
                use = self.random.choice(self.uses)
                self.attempt(partial(use, a, b))
            elif step < 0.87:
                chosen = self.random.choice(self.objects)
                if hasattr(chosen, "close") and not isinstance(chosen, cucore.Context):
                    self.attempt(chosen.close)
                    self.attempt(chosen.close)
            else:
                self.objects.pop(self.random.randrange(len(self.objects)))
        self.random.shuffle(self.objects)
        while self.objects:
            self.objects.pop()

    def attempt(self, call):
        """What is refused, is refused with a Python error that says why."""
        try:
            return call()
        except (RuntimeError, ValueError, TypeError, LookupError, cucore.CUDAError) as error:
            assert str(error)
            return None


def test_random_sequences_from_eight_threads_neither_fail_nor_leak(device):
    """CUCORE_TEST_SEED replays one run."""
    failures = []

    def work(thread):
        try:
            for number in range(125):
                Sequence(SEED + 1000 * thread + number).run(25)
        except BaseException as error:
            failures.append((SEED + 1000 * thread + number, error))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()
    assert not failures, failures[0]
    assert not [w for w in caught if issubclass(w.category, cucore.CUDAWarning)]


def test_a_million_objects_leave_memory_as_it_was():
    done = run_python(
        """
        import gc, os, sys
        import cucore
        device = cucore.Device(); device.set_current(); stream = device.create_stream()
        pool = cucore.EventPool(device)
        def resident():
            gc.collect()
            with open("/proc/self/statm") as statm: return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        def event(): device.create_event().close()
        def recorded(): stream.record()
        def pooled(): pool.put(pool.get())
        def made_stream(): device.create_stream().close()
        def borrowed(): cucore.Stream.from_handle(1).close()
        def buffer(): device.allocate(4096, stream=stream).close()
        def context(): stream.context
        resource = cucore.DeviceMemoryResource(device, cucore.DeviceMemoryResourceOptions())
        def attributes(): resource.attributes
        config = cucore.LaunchConfig(grid=1, block=1, launch_completion_event=device.create_event())
        def attribute(): config.launch_completion_event
        def timer():
            with stream.timer() as t: pass
            t.ms
        for make, count in ((event, 1000000), (recorded, 100000), (pooled, 1000000), (made_stream, 100000),
                            (borrowed, 100000), (buffer, 100000), (context, 1000000),
                            (attributes, 1000000), (attribute, 1000000), (timer, 20000)):
            count = int(count * float(os.environ.get("CUCORE_TEST_SCALE", "1")))
            for _ in range(max(5000, count // 10)): make()
            before = resident()
            for _ in range(count): make()
            grown = resident() - before
            assert grown <= 1 << 20, (make.__name__, grown)
        print("flat")
        """,
        timeout=900,
    )
    assert (done.stdout, done.stderr) == ("flat\n", "")


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
        except RuntimeError as error:
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
    assert (done.stdout, done.stderr, done.returncode) == (f"{answer}\n", "", 0)


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
