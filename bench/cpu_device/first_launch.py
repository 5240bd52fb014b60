"""First launches of strangers' kernels on the CPU device, with no compiled kernel on disk: processor time and time by
the clock until the result is there, and what the process then still does in the background.

Two kinds of kernels: those of CuPy, called as programs call them (functions and types of the sweep in
tests/clients/suites/programs/cupy_sweep.py, on arrays of --elements), which need a Python with CuPy; and all kernels in
the files given (PTX, cubins and fat binaries with PTX), launched with made-up arguments: buffers of zeros for pointers,
1000 for numbers. What fails or runs for a second or longer is counted and left out.

Usage: first_launch.py --driver NAME=FOLDER [--driver ...] [--elements N] [--output FILE] [IMAGE ...]
Sides are measured one after the other, each in processes of its own.
"""

import argparse
import ctypes
import itertools
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

from plain_driver import Driver

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1] / "tests" / "clients" / "suites" / "programs"
THREADS = 256
BLOCKS = 64
BUFFER_BYTES = 64 << 20
NUMBER = 1000


class Clock:
    """Both times of one call, and then of what goes on in the background until it is quiet."""

    def __init__(self):
        self._begin = time.process_time(), time.perf_counter()

    def read(self):
        return {"cpu": time.process_time() - self._begin[0], "clock": time.perf_counter() - self._begin[1]}

    @staticmethod
    def wait_until_quiet():
        before = time.process_time()
        last = before
        while True:
            time.sleep(0.01)
            now = time.process_time()
            if now - last < 0.002:
                return now - before
            last = now


def write(**row):
    print(json.dumps(row), flush=True)


# ---- kernels of CuPy -----------------------------------------------------------------------------------------------


def cupy_calls(elements):
    """Name and function of each call, with its arguments made."""
    sys.path.insert(0, str(PROGRAMS))
    import cupy
    import cupy_sweep
    import numpy as np

    rng = np.random.default_rng(1)

    def array(kind, between, shape):
        low, high = between
        made = rng.random(shape) * (high - low) + max(low, 0 if kind in "BHILQ?" else low)
        return cupy.asarray(made if kind != "?" else made > (low + high) / 2).astype(kind)

    line = elements
    side = int(elements**0.5)
    for table, operands in ((cupy_sweep.ONE, 1), (cupy_sweep.TWO, 2)):
        for name, (kinds, between) in table.items():
            for kind in kinds:
                given = [array(kind if name != "ldexp" or i == 0 else "i", between, line) for i in range(operands)]
                yield f"{name} {kind}", lambda n=name, g=given: getattr(cupy, n)(*g)
    for table in (cupy_sweep.REDUCTIONS, cupy_sweep.SCANS):
        for name, (kinds, between) in table.items():
            for kind in kinds:
                given = array(kind, between, (side, side))
                axes = (None, 0, 1) if name not in ("ediff1d", "diff", "gradient") else (None,)
                for axis in axes:
                    more = {} if axis is None else {"axis": axis}
                    yield f"{name} {kind} {axis}", lambda n=name, g=given, m=more: getattr(cupy, n)(g, **m)
    for name, (kinds, between) in cupy_sweep.SORTS.items():
        for kind in kinds:
            given = array(kind, between, line)
            if name == "partition":
                yield f"{name} {kind}", lambda g=given: cupy.partition(g, 5)
            elif name == "lexsort":
                yield f"{name} {kind}", lambda g=given: cupy.lexsort(cupy.stack([g, g]))
            elif name != "msort":
                yield f"{name} {kind}", lambda n=name, g=given: getattr(cupy, n)(g)


def measure_cupy(elements, calls):
    import warnings

    import cupy

    warnings.simplefilter("ignore")
    driver = Driver()
    wait = cupy.cuda.runtime.deviceSynchronize
    for name, call in itertools.islice(cupy_calls(elements), calls):
        wait()
        Clock.wait_until_quiet()
        before = driver.counts()
        clock = Clock()
        try:
            call()
            wait()
        except Exception as error:
            write(name=f"cupy {name}", failed=f"{type(error).__name__}: {error}"[:200])
            continue
        times = clock.read()
        compiled = driver.counts() - before
        times["background"] = Clock.wait_until_quiet()
        write(name=f"cupy {name}", kernels=compiled, **times)
    write(memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


# ---- kernels in files ----------------------------------------------------------------------------------------------


def made_up_arguments(driver, function, buffer):
    """The array of pointers that cuLaunchKernel takes, and what keeps its parts."""
    kept = []
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    index = 0
    while True:
        try:
            driver.cuFuncGetParamInfo(function, ctypes.c_size_t(index), ctypes.byref(offset), ctypes.byref(size))
        except RuntimeError:
            break
        value = bytearray(size.value)
        if size.value == 4:
            value[:] = NUMBER.to_bytes(4, "little")
        else:
            for at in range(0, size.value - 7, 8):
                value[at : at + 8] = buffer.value.to_bytes(8, "little")
        kept.append((ctypes.c_char * max(1, len(value))).from_buffer(value or bytearray(1)))
        index += 1
    return (ctypes.c_void_p * max(1, len(kept)))(*[ctypes.addressof(each) for each in kept]), kept


def names_in(image):
    """Kernels of an image, each by its own load, since one that fails ends its context."""
    driver = Driver()
    driver.cuInit(0)
    context, module, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint()
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    driver.cuModuleLoad(ctypes.byref(module), str(image).encode())
    driver.cuModuleGetFunctionCount(ctypes.byref(count), module)
    functions = (ctypes.c_void_p * count.value)()
    driver.cuModuleEnumerateFunctions(functions, count, module)
    names = []
    for function in functions:
        name = ctypes.c_char_p()
        driver.cuFuncGetName(ctypes.byref(name), ctypes.c_void_p(function))
        names.append(name.value)
    driver.cuDevicePrimaryCtxRelease_v2(0)
    return names


def measure_image(driver, image, name):
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    function, buffer = ctypes.c_void_p(), ctypes.c_uint64()
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    driver.cuMemAlloc_v2(ctypes.byref(buffer), ctypes.c_size_t(BUFFER_BYTES))
    driver.cuMemsetD8_v2(buffer, 0, ctypes.c_size_t(BUFFER_BYTES))
    Clock.wait_until_quiet()
    before = driver.counts()
    clock = Clock()
    driver.cuModuleLoad(ctypes.byref(module), str(image).encode())
    driver.cuModuleGetFunction(ctypes.byref(function), module, name)
    arguments, kept = made_up_arguments(driver, function, buffer)
    failed = None
    try:
        driver.cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
        driver.cuCtxSynchronize()
    except RuntimeError as error:
        failed = str(error)
    del kept
    times = clock.read()
    compiled = driver.counts() - before
    times["background"] = Clock.wait_until_quiet()
    driver.cuDevicePrimaryCtxReset_v2(0)
    label = f"{Path(image).name} {name.decode()}"
    if failed and (compiled == 0 or ": 702" in failed):
        write(name=label, failed=failed)
    else:
        write(name=label, kernels=compiled, **times)


def measure_images(images):
    driver = Driver()
    driver.cuInit(0)
    for image in images:
        for name in names_in(image):
            try:
                measure_image(driver, image, name)
            except RuntimeError as error:
                write(name=f"{Path(image).name} {name.decode()}", failed=str(error))
                driver.cuDevicePrimaryCtxReset_v2(0)
    write(memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


# ---- the table -----------------------------------------------------------------------------------------------------


def run_worker(driver, arguments):
    paths = [str(driver), os.environ.get("LD_LIBRARY_PATH", "")]
    environment = os.environ | {
        "LD_LIBRARY_PATH": ":".join(filter(None, paths)),
        "CUCORE_CPU_CACHE": "0",
        "CUCORE_CPU_TIMEOUT": "1",
    }
    command = [sys.executable, __file__, "--worker", *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0:
        print(f"{' '.join(arguments)}: ended with {done.returncode}", file=sys.stderr)
    return rows


def side_of(driver, options):
    rows = []
    if not options.no_cupy:
        rows += run_worker(driver, ["--elements", str(options.elements), "--calls", str(options.calls)])
    if options.images:
        rows += run_worker(driver, ["--no-cupy", *map(str, options.images)])
    return rows


def at(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(sides):
    """Lines: of calls that made one kernel or more on every side, what quantiles each side has."""
    by_name = [{row["name"]: row for row in rows if row.get("kernels")} for _, rows in sides]
    common = [name for name in by_name[0] if all(name in rows for rows in by_name)]
    kernels = sum(by_name[0][name]["kernels"] for name in common)
    lines = [f"{len(common)} first calls, which compile {kernels} kernels on the first side; milliseconds"]
    lines.append(f"{'':<26}{'':<24}{'median':>9}{'90 %':>9}{'99 %':>9}{'worst':>9}{'sum, s':>9}")
    labels = {"cpu": "processor time", "clock": "by the clock", "background": "processor, afterwards"}
    for (driver, rows), named in zip(sides, by_name, strict=True):
        for key, label in labels.items():
            values = [named[name][key] for name in common]
            quantiles = "".join(f"{at(values, share) * 1e3:9.1f}" for share in (0.5, 0.9, 0.99, 1))
            lines.append(f"{driver:<26}{label:<24}{quantiles}{sum(values):9.1f}")
        failed = sum("failed" in row for row in rows)
        memory = max((row["memory"] for row in rows if "memory" in row), default=0) / 1024
        lines.append(f"{driver:<26}{failed} calls failed; at most {memory:.0f} MiB resident in a process of all")
    worst = sorted(common, key=lambda name: -max(named[name]["cpu"] for named in by_name))[:12]
    lines.append("the most processor time, ms: " + ", ".join(driver for driver, _ in sides))
    for name in worst:
        lines.append(f"  {name:<60}" + "".join(f"{named[name]['cpu'] * 1e3:9.1f}" for named in by_name))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--driver", action="append", metavar="NAME=FOLDER")
    parser.add_argument("--elements", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=10_000, help="of CuPy, at most")
    parser.add_argument("--no-cupy", action="store_true")
    parser.add_argument("--output")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("images", nargs="*", type=Path)
    options = parser.parse_args()
    if options.worker:
        return measure_images(options.images) if options.no_cupy else measure_cupy(options.elements, options.calls)
    sides = []
    for each in options.driver:
        name, folder = each.split("=", 1)
        sides.append((name, side_of(folder, options)))
    lines = [f"{os.cpu_count()} cores, {platform.platform()}, {platform.machine()}", *table(sides)]
    print(*lines, sep="\n")
    if options.output:
        Path(options.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
