"""Compiled code: what a hit of a program cache costs, a pickle round trip, `get_kernel` on code that is loaded, and a
first `get_kernel`, in microseconds, beside cuda.core on the same driver and beside the bare driver calls.

    python bench/cache_bench.py [--output FILE] [--rounds N]

Each number is the best of many short rounds; who is measured takes turns, so that what else the machine does hits all
alike. The compile that a hit saves is in the table too. On the CPU device cuda.core is given that driver as well.
"""

import argparse
import ctypes
import gc
import os
import pickle
import statistics
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from machine import machine  # noqa: E402

SOURCE = """template <class T> __global__ void axpy(T a, T* x) { x[threadIdx.x] *= a; }
template __global__ void axpy(float, float*);
"""
WITH_HEADERS = "#include <cuda/std/array>\n" + SOURCE
ARCH = "sm_80"  # until main() has asked the device
SYMBOL = "_Z4axpyIfEvT_PS0_"
# What the ratios of this table have to be: who, to whom, and how many times faster (below 1: how much slower).
TARGETS = {
    "memory hit, new Program": 1,
    "file hit": 3,
    "file hit, new Program": 1,
    "ProgramCache hit": 3,
    "memory hit": 5,
    "pickle round trip": 2,
    "get_kernel again": 2,
    "first get_kernel": 1 / 1.05,
}


def microseconds(operation, number):
    begin = time.perf_counter()
    for _ in range(number):
        operation()
    return (time.perf_counter() - begin) / number * 1e6


def program(core, source=SOURCE):
    return core.Program(source, "c++", core.ProgramOptions(arch=ARCH))


def hits(core, cache, source=SOURCE):
    """A compile that the cache answers, of one Program made before."""
    made = program(core, source)
    made.compile("cubin", cache=cache)
    return lambda: made.compile("cubin", cache=cache)


def anew(core, cache):
    """The same with the Program made anew each time."""

    def operation():
        program(core).compile("cubin", cache=cache)

    operation()
    return operation


class Plain:
    """What pickle itself takes for an object that holds the code and checks nothing."""

    def __init__(self, code):
        self.code = code

    def __reduce__(self):
        return Plain, (self.code,)


def cases(core, folder, code):
    """(name, operation, how many in a round) of one library."""
    utils = import_module(f"{core.__name__}.utils")
    memory = utils.InMemoryProgramCache()
    files = utils.FileStreamProgramCache(folder / core.__name__)
    yield "memory hit", hits(core, memory), 300
    yield "memory hit, new Program", anew(core, memory), 100
    yield "file hit", hits(core, files), 100
    yield "file hit, new Program", anew(core, files), 50
    own = core.ProgramCache(folder / "program-cache") if hasattr(core, "ProgramCache") else None
    yield "ProgramCache hit", hits(core, files if own is None else own), 100
    if own is not None:
        yield "ProgramCache hit, many headers", hits(core, own, WITH_HEADERS), 5
    yield "the compile it saves", lambda: program(core).compile("cubin"), 1
    made = core.ObjectCode.from_cubin(code, name="axpy", symbol_mapping={"axpy<float>": SYMBOL})
    yield "pickle round trip", lambda: pickle.loads(pickle.dumps(made)), 300
    plain = Plain(code)
    yield "the same bytes in a plain class", lambda: pickle.loads(pickle.dumps(plain)), 300
    loaded = core.ObjectCode.from_cubin(code)
    loaded.get_kernel(SYMBOL)
    yield "get_kernel again", lambda: loaded.get_kernel(SYMBOL), 1000


class BareDriver:
    """The calls of a load and of a look-up, as a program without any library writes them."""

    def __init__(self, path):
        self.driver = ctypes.CDLL(path)
        self.driver.cuLibraryLoadData.argtypes = [ctypes.c_void_p, ctypes.c_char_p, *[ctypes.c_void_p] * 2,
                                                  ctypes.c_uint, *[ctypes.c_void_p] * 2, ctypes.c_uint]  # fmt: skip
        self.driver.cuLibraryGetKernel.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]
        self.driver.cuLibraryUnload.argtypes = [ctypes.c_void_p]

    def first_kernel(self, ptx):
        library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        begin = time.perf_counter()
        failed = self.driver.cuLibraryLoadData(ctypes.byref(library), ptx, None, None, 0, None, None, 0)
        failed = failed or self.driver.cuLibraryGetKernel(ctypes.byref(kernel), library, SYMBOL.encode())
        end = time.perf_counter()
        if failed or self.driver.cuLibraryUnload(library):
            raise RuntimeError(f"the driver answers {failed}")
        return (end - begin) * 1e6


def first_kernel(core, ptx):
    """Microseconds of making an object and asking it for a kernel; letting it go is not counted."""
    begin = time.perf_counter()
    kernel = core.ObjectCode.from_ptx(ptx).get_kernel(SYMBOL)
    end = time.perf_counter()
    del kernel
    return (end - begin) * 1e6


def first_kernels(cores, bare, ptx, rounds):
    """{who: microseconds}; no two loads are of the same text, so that no cache of a driver answers."""
    ways = {who: lambda text, core=core: first_kernel(core, text) for who, core in cores.items()}
    ways["bare driver"] = bare.first_kernel
    times = {who: [] for who in ways}
    gc.disable()
    for index in range(rounds * 7):
        for turn, (who, load) in enumerate(ways.items()):
            times[who].append(load(b"%s\n// %d %d\n" % (ptx, index, turn)))
    gc.enable()
    return times


def rows_of(table):
    names = ("cucore", "cuda.core", "bare driver")
    yield f"{'us, best of the rounds (median)':34}" + "".join(f"{name:>20}" for name in names) + f"{'ratio':>8}  target"
    for name, times in table.items():
        cells = [
            f"{min(times[who]):.2f} ({statistics.median(times[who]):.2f})" if who in times else "" for who in names
        ]
        against = times.get("bare driver", times.get("cuda.core"))
        ratio = None if against is None else min(against) / min(times["cucore"])
        target = TARGETS.get(name)
        verdict = "" if target is None else f"{target:.2f} {'met' if ratio >= target else 'missed'}"
        shown = "" if ratio is None else f"{ratio:.2f}"
        yield f"{name:34}" + "".join(f"{cell:>20}" for cell in cells) + f"{shown:>8}  {verdict}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--rounds", type=int, default=31)
    arguments = parser.parse_args()
    import cucore

    info = cucore.driver_info()
    folder = str(Path(os.path.realpath(info.path)).parent)
    if info.kind == "cpu" and folder not in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        os.environ["LD_LIBRARY_PATH"] = folder  # read by the dynamic linker at the start only
        os.execv(sys.executable, [sys.executable, *sys.argv])
    import cuda.core

    cores = {"cucore": cucore, "cuda.core": cuda.core}
    for core in cores.values():
        core.Device(0).set_current()
    global ARCH
    ARCH = f"sm_{cucore.Device(0).arch}"
    code, ptx = (program(cucore).compile(target).code for target in ("cubin", "ptx"))
    with tempfile.TemporaryDirectory() as folder:
        operations = {}
        for who, core in cores.items():
            for name, operation, number in cases(core, Path(folder), code):
                operations.setdefault(name, {})[who] = (operation, number)
        table = {name: {who: [] for who in row} for name, row in operations.items()}
        for _ in range(arguments.rounds):
            for name, row in operations.items():
                for who, (operation, number) in row.items():
                    table[name][who].append(microseconds(operation, number))
    table["first get_kernel"] = first_kernels(cores, BareDriver(info.path), ptx, arguments.rounds)
    lines = [*machine(), f"driver: {info.kind}; cuda.core {cuda.core.__version__}", *rows_of(table)]
    print("\n".join(lines))
    if arguments.output is not None:
        arguments.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
