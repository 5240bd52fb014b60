"""However a process ends: exit status as asked, nothing on stderr."""

import pytest
from conftest import run_python

START = """
import atexit, gc, os, sys, threading, weakref
import cucore
device = cucore.Device()
device.set_current()
stream = device.create_stream()
event = stream.record(options={"timing_enabled": True})
buffer = device.allocate(1 << 16, stream=stream)
pinned = cucore.LegacyPinnedMemoryResource().allocate(64)
code = cucore.ObjectCode.from_ptx(
    b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k(.param .u64 p)\\n{\\n  ret;\\n}\\n")
kernel = code.get_kernel("k")
config = cucore.LaunchConfig(grid=1, block=1)
cucore.launch(stream, config, kernel, buffer)
"""

SCENARIOS = {
    "globals are alive": "",
    "globals are alive and everything is in a cycle": """
class Holder: pass
holder = Holder(); holder.me = holder
holder.everything = [device, stream, event, buffer, pinned, code, kernel, device.context, device.memory_resource]
stream.holder = holder; buffer.holder = holder; gc.disable()
""",
    "the module is torn out": """
sys.modules.pop("cucore"); sys.modules.pop("cucore._core"); del cucore
""",
    "finalizers read handles": """
class Last:
    def __del__(self):
        assert stream.handle is None or isinstance(stream.handle, int)
        event.handle; buffer.handle; kernel.handle; device.context.handle
keep = Last(); keep.cycle = keep
""",
    "finalizers raise quietly elsewhere": """
weakref.finalize(stream, lambda: buffer.close())
weakref.finalize(buffer, lambda: None)
""",
    "atexit uses everything": """
def last():
    cucore.launch(stream, config, kernel, buffer); stream.sync(); buffer.close(); stream.close(); event.close()
atexit.register(last)
""",
    "objects are closed in a foolish order": """
device.memory_resource.close(); stream.close(); buffer.close(); event.close(); del code, kernel
""",
    "sys.exit in a thread": """
def work():
    cucore.Device().set_current(); mine = cucore.Device().create_stream(); cucore.launch(mine, config, kernel, buffer)
    sys.exit(3)
thread = threading.Thread(target=work); thread.start(); thread.join()
""",
    "a daemon thread is launching": """
ready = threading.Event()
def work():
    cucore.Device().set_current(); mine = cucore.Device().create_stream()
    while True:
        cucore.launch(mine, config, kernel, buffer); mine.sync(); ready.set()
threading.Thread(target=work, daemon=True).start(); ready.wait()
""",
    "a daemon thread is creating and dropping": """
ready = threading.Event()
def work():
    d = cucore.Device(); d.set_current()
    while True:
        s = d.create_stream(); d.allocate(4096, stream=s); s.record(); ready.set()
threading.Thread(target=work, daemon=True).start(); ready.wait()
""",
    "a daemon thread waits": """
def work():
    cucore.Device().set_current(); stream.sync(); threading.Event().wait()
threading.Thread(target=work, daemon=True).start()
""",
    "a thread that is not a daemon outlives main": """
def work():
    import time
    time.sleep(0.2); cucore.Device().set_current(); cucore.Device().create_stream().sync()
threading.Thread(target=work).start()
""",
    "a resource written in Python is alive": """
class Mine(cucore.MemoryResource):
    is_device_accessible = False; is_host_accessible = True; device_id = -1
    def deallocate(self, ptr, size, *, stream): pass
kept = cucore.Buffer.from_handle(4096, 16, mr=Mine(), stream=stream)
kept.me = kept
""",
    "a foreign stream is alive": """
class Foreign:
    def __cuda_stream__(self): return 0, int(stream.handle)
foreign = Foreign(); wrapped = device.create_stream(foreign); foreign.wrapped = wrapped
""",
    "a context manager is left by an exception that is caught": """
try:
    with device.create_stream() as s, device.allocate(64, stream=s) as b:
        raise SystemExit(0)
except SystemExit: pass
""",
    "dlpack exports are alive": """
capsule = pinned.__dlpack__(); view = memoryview(pinned)
""",
    "work is pending": """
for _ in range(50): cucore.launch(stream, config, kernel, buffer)
""",
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_exit_is_silent(scenario):
    done = run_python(START + SCENARIOS[scenario])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("ending", "status"),
    [("os._exit(7)", 7), ("sys.exit(5)", 5), ("raise SystemExit(4)", 4), ("sys.exit()", 0)],
)
def test_exit_status_is_as_asked(ending, status):
    done = run_python(START + ending)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_an_uncaught_exception_prints_itself_and_nothing_else():
    done = run_python(START + "raise KeyError('mine')")
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == "KeyError: 'mine'"
    assert done.stderr.count("Error") == 1
