"""What a free-threaded Python must bear: threads that share a kernel, a config, a launcher, an object and a pool, with
no lock of their own. Prints "ok" if the GIL stayed off and nothing was lost. Needs no NumPy."""

import ctypes
import sys
import threading

import cucore

THREADS, ROUNDS = 8, 300
SOURCE = 'extern "C" __global__ void add(unsigned long long* sum, int n) { atomicAdd(sum, n); }'

assert not sys._is_gil_enabled(), "the import turned the GIL on"
device = cucore.Device()
device.set_current()
stream = device.create_stream()
code = cucore.Program(SOURCE, "c++", {"arch": "sm_80"}).compile("ptx")
config = cucore.LaunchConfig(grid=1, block=1)
total = device.allocate(8, stream=stream)
total.fill(0, stream=stream)
stream.sync()
start, failures, kernels = threading.Barrier(THREADS), [], []


def work():
    try:
        device.set_current()
        own = device.create_stream()
        start.wait()
        kernel = code.get_kernel("add")  # all at once: the object is loaded by one of them
        kernels.append(kernel)
        launcher = kernel.launcher(config)
        for _ in range(ROUNDS):
            cucore.launch(own, config, kernel, total, 1)
            launcher(own, total, 2)
            with device.event_pool.get() as event:
                own.record(event)
                event.sync()
            device.create_event().close()
        own.sync()
    except BaseException as error:
        failures.append(error)


threads = [threading.Thread(target=work) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
assert len(set(kernels)) == 1, "the object was loaded more than once"
pinned = cucore.LegacyPinnedMemoryResource().allocate(8)
total.copy_to(pinned, stream=stream)
stream.sync()
found = ctypes.c_uint64.from_address(int(pinned.handle)).value
assert found == THREADS * ROUNDS * 3, found
assert not sys._is_gil_enabled()
print("ok")
