"""Many threads that use the same objects at once, with no lock of their own, with a GIL and without one."""

import random
import sys
import threading

import numpy as np
import pytest
from conftest import run_python

import cucore

THREADS = 8
KERNELS = """
extern "C" __global__ void count(unsigned long long* sum, int n, float) { atomicAdd(sum, n); }
extern "C" __global__ void ignore(void*) {}
"""


def at_once(work, threads=THREADS):
    """Runs work(number) in so many threads from one moment on; what one of them raises is raised here."""
    start, failures = threading.Barrier(threads), []

    def run(number):
        try:
            cucore.Device().set_current()
            start.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if failures:
        raise failures[0]


@pytest.fixture(scope="module")
def ptx():
    return bytes(cucore.Program(KERNELS, "c++", {"arch": "sm_80"}).compile("ptx").code)


@pytest.fixture
def total(device):
    """A number that kernels add to, and the host reads."""
    buffer = cucore.LegacyPinnedMemoryResource().allocate(8)
    np.frombuffer(buffer, np.uint64)[0] = 0
    return buffer


def value(total, device):
    device.sync()
    return int(np.frombuffer(total, np.uint64)[0])


def test_one_kernel_and_config_are_launched_in_every_way_from_many_threads(device, stream, ptx, total):
    code = cucore.ObjectCode.from_ptx(ptx)
    config = cucore.LaunchConfig(grid=1, block=1)
    kernels = []

    def work(_):
        kernel = code.get_kernel("count")  # all at once: one of them loads it
        kernels.append(kernel)
        launcher = kernel.launcher(config)
        for _ in range(50):
            cucore.launch(stream, config, kernel, total, 1, 0.5)
            cucore.launch(stream, config, kernel, total, np.int32(1), np.float32(0.5))
            launcher(stream, total, 1, 0.5)
            kernel[1, 1, 0, stream](total, 1, 0.5)
            launcher.batch(stream, [(total, 1, 0.5)] * 3)

    at_once(work)
    assert value(total, device) == THREADS * 50 * 7
    assert len(set(kernels)) == 1


def test_launchers_and_argument_lists_are_shared(device, stream, ptx, total):
    launcher = cucore.ObjectCode.from_ptx(ptx).get_kernel("count").launcher(cucore.LaunchConfig(grid=1, block=1))
    rows = [(total, 1, 0.5)]

    def work(number):
        for _ in range(100):
            if number % 2:
                launcher.batch(stream, rows)
            else:
                rows.append([total, 1, 0.5])
                del rows[1:]

    at_once(work)
    device.sync()


def test_what_is_made_when_it_is_first_asked_for_is_made_once(ptx):
    def loaded():
        code = cucore.ObjectCode.from_ptx(ptx)
        return cucore.ObjectCode.deserialize(code.serialize())

    for _ in range(20):
        code = loaded()
        kernel = code.get_kernel("count")
        seen = []
        at_once(
            lambda _, code=code, kernel=kernel, seen=seen: seen.append(
                (id(code.code), id(kernel.attributes), id(kernel.occupancy), code.get_kernel("count").num_arguments)
            )
        )
        assert len(set(seen)) == 1


def test_events_of_one_pool(device, stream):
    pool = cucore.EventPool(device, capacity=4)

    def work(_):
        for _ in range(200):
            with pool.get() as event:
                assert event
                stream.record(event)
                event.sync()
            given = pool.get({"timing_enabled": True})
            pool.put(given)
            assert pool.idle <= 4 * 4

    at_once(work)
    assert pool.idle <= 2 * 4


class Shared:
    """An object of each kind that threads use, close and replace."""

    def __init__(self, device, ptx):
        self.device, self.ptx = device, ptx
        self.memory = cucore.LegacyPinnedMemoryResource()
        self.sum = self.memory.allocate(8)
        self.config = cucore.LaunchConfig(grid=1, block=1)
        self.renew()

    def renew(self):
        device = self.device
        self.stream = device.create_stream()
        self.event = device.create_event()
        self.pool = cucore.EventPool(device)
        self.lent = self.pool.get()
        self.buffer = self.memory.allocate(64, stream=self.stream)
        self.pooled = device.allocate(64, stream=self.stream)
        self.code = cucore.ObjectCode.from_ptx(self.ptx)
        self.kernel = self.code.get_kernel("count")
        self.launcher = self.kernel[self.config, self.stream]
        self.ignore = self.code.get_kernel("ignore")  # no kernel touches memory that may have been freed


def close(shared, choose):
    choose([shared.stream, shared.event, shared.pool, shared.lent, shared.buffer, shared.pooled]).close()


USES = (
    lambda s: s.renew(),
    lambda s: cucore.launch(s.stream, s.config, s.kernel, s.sum, 1, 0.5),
    lambda s: cucore.launch(s.stream, s.config, s.ignore, s.buffer),
    lambda s: s.ignore[1, 1, 0, s.stream](s.pooled),
    lambda s: s.launcher(s.sum, 1, 0.5),
    lambda s: s.launcher.batch([(s.sum, 1, 0.5), (s.sum, np.int32(1), 0.5)]),
    lambda s: s.stream.record(s.event),
    lambda s: s.stream.record(s.lent),
    lambda s: s.stream.record().sync(),
    lambda s: s.stream.wait(s.event, s.stream),
    lambda s: s.event.sync(),
    lambda s: s.lent.is_done,
    lambda s: s.pool.put(s.lent),
    lambda s: setattr(s, "lent", s.pool.get()),
    lambda s: s.pool.trim(),
    lambda s: (repr(s.stream), repr(s.event), repr(s.buffer), repr(s.pool), repr(s.kernel), repr(s.code)),
    lambda s: (hash(s.stream), s.stream == s.event, s.event.device, s.stream.context, s.buffer.owner),
    lambda s: (s.stream.handle, s.event.handle, s.buffer.handle, s.pooled.handle, s.stream.priority),
    lambda s: setattr(s.stream, "name", "some name that is too long to be kept in the string itself"),
    lambda s: (s.buffer.size, s.pooled.device_id, s.buffer.memory_resource, s.buffer == s.pooled),
    lambda s: s.pooled.set_deallocation_stream(s.stream),
    lambda s: s.pooled.close(s.stream),
    lambda s: memoryview(s.buffer).nbytes,
    lambda s: (s.device.properties.warp_size, s.device.properties.max_threads_per_block, s.code.code),
    lambda s: s.device.create_event().close(),
    lambda s: s.stream.sync(),
)


def test_objects_of_every_kind_are_used_while_others_close_them(device, ptx):
    shared = Shared(device, ptx)

    def work(number):
        chance = random.Random(number)
        for _ in range(400):
            use = chance.choice(USES)
            try:
                close(shared, chance.choice) if chance.random() < 0.1 else use(shared)
            except (RuntimeError, ValueError, TypeError, BufferError) as error:
                assert "closed" in str(error) or "back in its pool" in str(error) or "loan" in str(error), error

    at_once(work)
    shared.renew()
    shared.launcher(shared.sum, 1, 0.5)
    shared.stream.sync()


def test_a_library_of_scalars_that_another_thread_imports_just_now_is_known_afterwards(tmp_path):
    """The table of scalar types is made by the first launch that meets an unknown one."""
    (tmp_path / "ml_dtypes.py").write_text(
        "import sys, time\n"
        "sys.half_imported.set()\n"
        "time.sleep(0.5)\n"
        "class bfloat16:\n"
        "  def tobytes(self): return b'\\x80\\x3f'\n"
    )
    done = run_python(
        """
        import sys, threading
        sys.path.insert(0, sys.argv[1])
        import cucore
        sys.half_imported = threading.Event()
        device = cucore.Device(); device.set_current(); stream = device.create_stream()
        source = 'struct Half { short bits; }; extern "C" __global__ void k(Half x) {}'
        kernel = cucore.Program(source, "c++").compile("ptx").get_kernel("k")
        config = cucore.LaunchConfig(grid=1, block=1)
        other = threading.Thread(target=__import__, args=("ml_dtypes",)); other.start()
        sys.half_imported.wait()
        try:
            cucore.launch(stream, config, kernel, object())
        except TypeError:
            other.join()
            import ml_dtypes
            cucore.launch(stream, config, kernel, ml_dtypes.bfloat16())
            print("known")
        """,
        tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "known\n"), done.stderr


def test_the_import_leaves_the_gil_as_it_is():
    if not hasattr(sys, "_is_gil_enabled"):
        pytest.skip("this Python always has a GIL")
    done = run_python(
        "import sys; before = sys._is_gil_enabled(); import cucore; cucore.Device(); "
        "print(before == sys._is_gil_enabled())"
    )
    assert done.stdout == "True\n", done.stderr
