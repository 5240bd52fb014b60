"""Short programs on the CPU device, compiles included: the kernels of strangers.cu, each problem a program of its own
with an empty folder of compiled kernels, whose launches are made once and --times times. Sides, which are drivers and
forms of code (CUCORE_CPU_FORM), take turns: processor time of the process and time by the clock, from cuModuleLoadData
to the end of the last launch, in milliseconds, the least of --rounds.

Results of all sides are compared, to the bit; it is said where they differ, as they may where atomics add floats.
Usage: short_programs.py --side NAME=FOLDER[,FORM] [--side ...] [--times N] [--rounds N] [PROBLEM ...]
"""

import argparse
import ctypes
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from plain_driver import Driver

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
SECONDS = 600  # for one program


def shape(given):
    """Three sizes of a grid or block."""
    sizes = (given,) if not isinstance(given, tuple) else given
    return (*map(int, sizes), *(1,) * (3 - len(sizes)))


def in_bytes(value, arrays):
    import numpy as np

    return (np.uint64(arrays[value].ctypes.data) if isinstance(value, str) else value).tobytes()


def worker(name, image, times):
    """One problem, in a process that has nothing of the driver yet."""
    from strangers_problems import PROBLEMS

    problem = PROBLEMS[name]()
    driver, context, module = Driver(), ctypes.c_void_p(), ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    code, functions = Path(image).read_bytes(), {}
    before = time.process_time(), time.perf_counter()
    driver.cuModuleLoadData(ctypes.byref(module), code)
    for _ in range(times):
        for kernel, grid, block, arguments in problem.launches:
            if kernel not in functions:
                functions[kernel] = ctypes.c_void_p()
                driver.cuModuleGetFunction(ctypes.byref(functions[kernel]), module, kernel.encode())
            values = [ctypes.create_string_buffer(in_bytes(each, problem.arrays)) for each in arguments]
            pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
            driver.cuLaunchKernel(functions[kernel], *shape(grid), *shape(block), 0, None, pointers, None)
    driver.cuCtxSynchronize()
    after = time.process_time(), time.perf_counter()
    digest = hashlib.sha256()
    for result in problem.results:
        digest.update(problem.arrays[result].tobytes())
    cpu, clock = (round(1e3 * (b - a), 3) for a, b in zip(before, after, strict=True))
    print(json.dumps({"cpu": cpu, "clock": clock, "digest": digest.hexdigest()}), flush=True)
    os._exit(0)  # what is still compiled is of no use


def measured(side, name, image, times):
    folder, form = side
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {
            "LD_LIBRARY_PATH": folder,
            "CUCORE_CPU_FORM": form,
            "CUCORE_CPU_CACHE": cache,
        }
        command = [sys.executable, __file__, "--worker", name, str(image), str(times)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=True)
    return json.loads(done.stdout)


def cells(row):
    return f"{row['cpu']:10.1f}{row['clock']:10.1f}"


def compiled(file):
    from strangers import Device

    Path(file).write_bytes(Device().code.code)


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    if sys.argv[1:2] == ["--compile"]:
        return compiled(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--side", action="append", required=True)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    options = parser.parse_args()
    from machine import machine
    from strangers_problems import PROBLEMS

    sides = {}
    for each in options.side:
        name, place = each.split("=", 1)
        folder, _, form = place.partition(",")
        sides[name] = folder, form or "auto"
    lines = [*machine(), f"milliseconds, processor and clock; least of {options.rounds}"]
    lines.append(f"{'':22}" + "".join(f"{name:>20}" for name in sides))
    print(*lines, sep="\n", flush=True)
    logs = {(side, key, times): 0.0 for side in sides for key in ("cpu", "clock") for times in (1, options.times)}
    problems = options.problems or list(PROBLEMS)
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image"
        subprocess.run([sys.executable, __file__, "--compile", str(image)], check=True)
        for name in problems:
            for times in (1, options.times):
                rows = {side: [] for side in sides}
                for _ in range(options.rounds):
                    for side, place in sides.items():
                        rows[side].append(measured(place, name, image, times))
                least = {side: {key: min(row[key] for row in rows[side]) for key in ("cpu", "clock")} for side in sides}
                digests = {row["digest"] for of_side in rows.values() for row in of_side}
                row = f"{name:16}{times:4} x" + "".join(map(cells, least.values()))
                lines.append(row + ("" if len(digests) == 1 else "  results differ"))
                print(lines[-1], flush=True)
                for side, it in least.items():
                    for key, value in it.items():
                        logs[side, key, times] += math.log(value) / len(problems)
    for times in (1, options.times):
        means = ({key: math.exp(logs[side, key, times]) for key in ("cpu", "clock")} for side in sides)
        lines.append(f"{'geometric mean':16}{times:4} x" + "".join(map(cells, means)))
        print(lines[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
