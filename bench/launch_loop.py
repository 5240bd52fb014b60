"""The Python side of the launch costs: each way to launch, in a loop between two marks (null_driver.cpp). Prints the
names in order; with --time, the nanoseconds of one launch, less those of an empty loop, as well."""

import ctypes
import sys
import time

import cucore

TIMED = "--time" in sys.argv
LOOPS = 200_000 if TIMED else 200


def kernel_ptx(parameters):
    listing = ", ".join(f".param .{kind} p{i}" for i, kind in enumerate(parameters))
    return f".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k({listing})\n{{\n  ret;\n}}\n".encode()


def measure(name, operation, *arguments):
    rounds = range(LOOPS)
    for _ in range(20):
        operation(*arguments)
    mark()
    start = time.perf_counter()
    for _ in rounds:
        operation(*arguments)
    stop = time.perf_counter()
    mark()
    print(name, LOOPS, f"{(stop - start) / LOOPS * 1e9:.1f}" if TIMED else 0, sep="\t", flush=True)


mark = ctypes.CDLL(cucore.driver_info().path).null_driver_mark
device = cucore.Device()
device.set_current()
stream = device.create_stream()
config = cucore.LaunchConfig(grid=2, block=64)
buffer = cucore.Buffer.from_handle(0x7F0000001000, 4096)
if TIMED:
    measure("Python empty call", lambda *_: None, stream, buffer, 1)
cases = {
    "no arguments": ((), ()),
    "3 arguments": (("u64", "f32", "u64"), (buffer, 2.0, 1000)),
    "16 arguments": (("u64",) * 6 + ("u32",) * 6 + ("f32",) * 4, (buffer,) * 6 + (1000,) * 6 + (2.0,) * 4),
    "512 arguments": (("u64",) * 512, (7,) * 512),
}
for name, (parameters, values) in cases.items():
    kernel = cucore.ObjectCode.from_ptx(kernel_ptx(parameters)).get_kernel("k")
    measure(f"Python launch, {name}", cucore.launch, stream, config, kernel, *values)
    measure(f"Python launcher, {name}", kernel.launcher(config), stream, *values)
    if name == "3 arguments":
        measure("Python kernel[...], 3 arguments", kernel[2, 64, 0, stream], *values)
        measure("Python batch of 100, 3 arguments", kernel.launcher(config).batch, stream, [values] * 100)
measure("Python Device()", cucore.Device)
event = device.create_event()
measure("Python stream.record(event)", stream.record, event)
measure("Python create and drop an event", device.create_event)
measure("Python create and drop a stream", device.create_stream)
get, put = device.event_pool.get, device.event_pool.put
measure("Python event from a pool and back", lambda: put(get()))
try:
    import numpy as np
except ImportError:
    pass
else:
    kernel = cucore.ObjectCode.from_ptx(kernel_ptx(("u64", "f32", "s32"))).get_kernel("k")
    scalars = (np.uint64(0x7F0000001000), np.float32(2), np.int32(1000))
    measure("Python launch, 3 NumPy scalars", cucore.launch, stream, config, kernel, *scalars)
