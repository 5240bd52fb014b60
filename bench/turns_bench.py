"""What calls from Python cost over the bare driver call: launch() and prepared launchers, events, streams; beside the
peers that are installed (cuda.core, CuPy, Triton), and beside the least a call from Python can cost: a C function that
does nothing but give the GIL up and make the driver call (least_calls.cpp, if built). All take turns in one process, so
that what the machine does meanwhile happens to each of them; a cost is the median over rounds of the difference to the
bare loop of that round.

Usage: turns_bench.py --loops-library LIBRARY [--rounds N] [--loops N]
"""

import argparse
import ctypes
import importlib.util
import statistics
import sys
from pathlib import Path

from python_bench import bare_operations, operations, pool_operations
from timed_loops import kernel_ptx, timed

import cucore

COUNTS = (0, 3, 16, 512)
MOST_OF_PEERS = 16  # parameters; theirs are written out


def cucore_ways(device, stream, count):
    kernel = cucore.ObjectCode.from_ptx(kernel_ptx(count).encode()).get_kernel("empty")
    config = cucore.LaunchConfig(grid=1, block=1)
    zeros = "".join([", zero"] * count)
    names = {"stream": stream, "zero": 0}
    yield (
        "cucore launch",
        timed(
            stream.sync,
            f"launch(stream, config, kernel{zeros})",
            launch=cucore.launch,
            config=config,
            kernel=kernel,
            **names,
        ),
    )
    yield "cucore launcher", timed(stream.sync, f"ready(stream{zeros})", ready=kernel.launcher(config), **names)


def least_ways(least, stream, kernel, count):
    least.prepare(cucore.driver_info().path, int(stream.handle), int(kernel.handle), count)
    zeros = ", ".join(["zero"] * count)
    yield "least of Python", timed(stream.sync, f"launch({zeros})", launch=least.launch, zero=0, kernel=kernel)


def least_calls(stream, least):
    """{operation: function} of what else there is the least of."""
    names = {"record": least.record, "create": least.create, "destroy": least.destroy}
    yield "event record", timed(stream.sync, "record()", **names)
    yield "event create and destroy", timed(stream.sync, "destroy(create())", **names)


def cuda_core_ways(count):
    import cuda.core as core

    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    names = {"launch": core.launch, "stream": stream, "config": core.LaunchConfig(grid=1, block=1), "zero": 0}
    kernel = core.ObjectCode.from_ptx(kernel_ptx(count).encode()).get_kernel("empty")
    zeros = "".join([", zero"] * count)
    yield "cuda.core launch", timed(stream.sync, f"launch(stream, config, kernel{zeros})", kernel=kernel, **names)


def cupy_ways(count):
    import cupy

    parameters = ", ".join(f"long long p{i}" for i in range(count))
    kernel = cupy.RawKernel(f'extern "C" __global__ void empty({parameters}) {{}}', "empty")
    stream = cupy.cuda.Stream(non_blocking=True)
    statement = f"kernel(one, one, ({'zero, ' * count}))"
    with stream:
        kernel((1,), (1,), (0,) * count)
    inside = timed(stream.synchronize, statement, kernel=kernel, one=(1,), zero=0)

    def run(loops):
        with stream:
            return inside(loops)

    yield "CuPy RawKernel", run


def triton_ways(count):
    import torch
    from triton_kernels import KERNELS

    kernel = KERNELS[count]
    kernel[(1,)](*[16] * count)
    yield (
        "Triton",
        timed(torch.cuda.synchronize, f"kernel[grid]({'value, ' * count})", kernel=kernel, grid=(1,), value=16),
    )


def launches(loops_library, least, device, stream, count):
    """(who, function of a number of launches that answers with their seconds), the bare loop first."""
    library = ctypes.CDLL(loops_library)
    library.bare_launch.restype = ctypes.c_double
    code = cucore.ObjectCode.from_ptx(kernel_ptx(count).encode())
    empty = code.get_kernel("empty")
    kernel = ctypes.c_void_p(int(empty.handle))
    path, handle = cucore.driver_info().path.encode(), ctypes.c_void_p(int(stream.handle))
    yield "bare", lambda loops, _code=code: library.bare_launch(path, handle, kernel, count, ctypes.c_long(loops))
    if least is not None:
        yield from least_ways(least, stream, empty, count)
    yield from cucore_ways(device, stream, count)
    if cucore.driver_info().kind != "gpu":
        return
    for peer in (cuda_core_ways, cupy_ways, triton_ways):
        if count > MOST_OF_PEERS and peer is not cuda_core_ways:
            continue
        try:
            yield from peer(count)
        except ImportError as error:
            print(f"  without {peer.__name__}: {error}")


def other_calls(loops_library, least, device, stream):
    """{operation: {who: function of a number of calls}} for what python_bench.py measures besides launches."""
    sources = [("bare", bare_operations(loops_library, cucore.driver_info().path, cucore, stream, device))]
    if least is not None:
        sources.append(("least of Python", least_calls(stream, least)))
    sources.append(("cucore", operations(cucore, stream, device)))
    if cucore.driver_info().kind == "gpu" and importlib.util.find_spec("cuda.core") is not None:
        import cuda.core as core

        peer = core.Device()
        peer.set_current()
        sources.append(("cuda.core", operations(core, peer.create_stream(), peer)))
    calls = {}
    for who, functions in sources:
        for operation, function in functions:
            if not operation.startswith("launch"):
                calls.setdefault(operation, {})[who] = function
    for name, function in pool_operations(device):
        operation, who = name.split("/")
        calls.setdefault(operation, {})[who] = function
    return calls


def take_turns(operation, functions, rounds, loops):
    seconds = {who: [] for who in functions}
    for _ in range(rounds):
        for who, function in functions.items():
            seconds[who].append(function(loops) / loops)
    bare = seconds["bare"]
    for who, times in seconds.items():
        over = statistics.median(a - b for a, b in zip(times, bare, strict=True))
        ratio = statistics.median(a / b for a, b in zip(times, bare, strict=True))
        cost = "" if who == "bare" else f"{over * 1e9:12.0f}{ratio:8.2f}"
        print(f"  {operation:<28}{who:<20}{statistics.median(times) * 1e9:8.0f}{cost}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops-library", required=True)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--loops", type=int, default=1024)
    arguments = parser.parse_args()
    sys.path.append(str(Path(arguments.loops_library).resolve().parent))
    least = importlib.import_module("least_calls") if importlib.util.find_spec("least_calls") is not None else None
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    print("Calls from Python that take turns in one process (medians)")
    print(f"  {'operation':<28}{'who':<20}{'ns':>8}{'over bare':>12}{'ratio':>8}")
    for count in COUNTS:
        ways = dict(launches(arguments.loops_library, least, device, stream, count))
        take_turns(f"launch, {count} arguments", ways, arguments.rounds, arguments.loops)
    for operation, functions in other_calls(arguments.loops_library, least, device, stream).items():
        take_turns(operation, functions, arguments.rounds, arguments.loops)


if __name__ == "__main__":
    main()
