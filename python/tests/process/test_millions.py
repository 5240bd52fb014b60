"""A million objects of each class, made, used and closed: memory stays as it was after the first tenth of them.

Each class has a process of its own, and as many run at once as there are cores. CUCORE_TEST_SCALE=0.05 makes 50,000.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import run_python

import cucore

MILLION = 1_000_000
START = """
import gc, os, sys
import cucore
PTX = b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k(.param .u64 p)\\n{\\n  ret;\\n}\\n"
SOURCE = 'extern "C" __global__ void k() {}'
device = cucore.Device(); device.set_current(); stream = device.create_stream()
events = cucore.EventPool(device); pinned = cucore.LegacyPinnedMemoryResource()
code = cucore.ObjectCode.from_ptx(PTX); kernel = code.get_kernel("k"); config = cucore.LaunchConfig(grid=1, block=1)
buffer = device.allocate(64, stream=stream); own_pool = cucore.DeviceMemoryResourceOptions()
class Foreign:
    def __cuda_stream__(self): return 0, 2
def loaded():
    own = cucore.ObjectCode.from_ptx(PTX)
    own.get_kernel("k").attributes
def timer():
    with stream.timer() as timer: pass
    timer.ms
def program():
    cucore.Program(SOURCE, "c++", {"arch": "sm_80"}).close()
def linker():
    cucore.Linker(code, options=cucore.LinkerOptions(arch="sm_80")).close()
def ipc_event():
    with stream.record(options={"ipc_enabled": True}) as event: event.ipc_descriptor
def resident():
    gc.collect()
    with open("/proc/self/statm") as statm: return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def loop(make, count):
    for _ in range(max(5000, count // 10)): make()
    stream.sync()
    before = resident()
    for _ in range(count): make()
    stream.sync()
    grown = resident() - before
    print("flat" if grown <= 1 << 20 else f"{grown} bytes more after {count}")
"""

# How each class is made and used up, and how many times on a GPU, where a driver call of some takes very much longer.
# All together are about a minute of one core on the CPU device; an event between processes, which is a file there, is
# made 100,000 times.
CLASSES = {
    "Stream": ("device.create_stream().close()", 100_000),
    "Stream, blocking": ("device.create_stream(options={'nonblocking': False}).close()", 100_000),
    "Stream, foreign": ("device.create_stream(Foreign()).close()", MILLION),
    "Stream, by handle": ("cucore.Stream.from_handle(int(stream.handle)).close()", MILLION),
    "Event": ("device.create_event().close()", MILLION),
    "Event, recorded": ("stream.record(options={'timing_enabled': True}).close()", 100_000),
    "Event, dropped": ("stream.record()", 100_000),
    "Event, of a pool": ("events.put(events.get())", MILLION),
    "Event, between processes": ("ipc_event()", 10_000),
    "EventPool": ("cucore.EventPool(device).close()", MILLION),
    "Timer": ("timer()", 20_000),
    "Future": ("device.create_event().future().result()", 100_000),
    "Context": ("stream.context", MILLION),
    "DeviceProperties": ("cucore._core._device_properties(0).warp_size", MILLION),
    "Buffer": ("device.allocate(4096, stream=stream).close()", 100_000),
    "Buffer, pinned": ("pinned.allocate(4096).close()", 5_000),
    "Buffer, borrowed": ("cucore.Buffer.from_handle(int(buffer.handle), 64).close()", 100_000),
    "DeviceMemoryResource": ("cucore.DeviceMemoryResource(device, own_pool).close()", 1_000),
    "PinnedMemoryResource": ("cucore.PinnedMemoryResource().close()", 100_000),
    "LegacyPinnedMemoryResource": ("cucore.LegacyPinnedMemoryResource().close()", MILLION),
    "ObjectCode": ("cucore.ObjectCode.from_ptx(PTX)", MILLION),
    "ObjectCode, loaded": ("loaded()", 1_000),
    "Kernel": ("code.get_kernel('k')", MILLION),
    "LaunchConfig": ("cucore.LaunchConfig(grid=1, block=1, shmem_size=64)", MILLION),
    "Launcher": ("kernel.launcher(config)", MILLION),
    "Program": ("program()", 100_000),
    "ProgramCache": ("cucore.ProgramCache(sys.argv[1])", MILLION),
    "Linker": ("linker()", 20_000),
}


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    """A function of a class's name: what its process says. The processes of all that were asked for run at once, unless
    pytest-xdist runs tests beside each other already."""
    scale = float(os.environ.get("CUCORE_TEST_SCALE", "1"))
    on_gpu = cucore.driver_info().kind == "gpu"
    folder = tmp_path_factory.mktemp("cache")

    def run(name):
        make, on_a_gpu = CLASSES[name]
        on_a_cpu = MILLION // 10 if name == "Event, between processes" else MILLION
        count = int((on_a_gpu if on_gpu else on_a_cpu) * scale)
        return run_python(f"{START}\nloop(lambda: {make}, {count})", folder, timeout=900)

    asked = [item.callspec.params["name"] for item in request.session.items if item.fspath == request.fspath]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        if "PYTEST_XDIST_WORKER" in os.environ:
            yield run
        else:
            started = {name: workers.submit(run, name) for name in asked}
            yield lambda name: started[name].result()


@pytest.mark.parametrize("name", CLASSES)
def test_a_million_leave_memory_as_it_was(runs, name):
    done = runs(name)
    assert (done.stdout, done.stderr, done.returncode) == ("flat\n", "", 0)
