"""The operations of CuPy that programs use most, on the CPU device, beside NumPy: both in one process, in turns; the
best of several rounds by the clock, and the ratio; below 1 the CPU device is faster. NumPy uses one core; the ratio of
processor time is also what counts on a machine that has other work. What is computed is compared; the exit status is 1
if something is wrong.

For operations that move memory and compute next to nothing, `roofline` is the time in which copies on all cores move as
many bytes, and the last column how much longer the operation takes.

Usage: LD_LIBRARY_PATH=FOLDER_OF_THE_CPU_DEVICE cupy_operations.py [--sizes N ...] [--rounds N] [--output FILE]
       [NAME ...]
"""

import argparse
import os
import platform
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

TOLERANCE = 2e-4
SETTLING = 0.1  # seconds
WORK_BEFORE = 1.5  # seconds of processor time, in which every kernel has asked for its last form
LONGEST_COMPILE = 20
KEPT = 128 << 20  # bytes: larger than caches


def operations(n):
    """Name: function of a module and its arrays, bytes moved for an element or None. `a` and `b` are floats, `d`
    doubles, `m` a matrix, `i` integers, `x` places, `s` some of the values in order."""
    return {
        "add": (lambda p, v: v.a + v.b, 12),
        "multiply": (lambda p, v: v.a * v.b, 12),
        "add a number": (lambda p, v: v.a + 1, 8),
        "a * x + b": (lambda p, v: v.a * 2 + v.b, 20),
        "true_divide": (lambda p, v: v.a / v.b, 12),
        "add doubles": (lambda p, v: v.d + v.d, 16),
        "sqrt": (lambda p, v: p.sqrt(v.a), 8),
        "exp": (lambda p, v: p.exp(v.a), None),
        "log": (lambda p, v: p.log(v.a), None),
        "sin": (lambda p, v: p.sin(v.a), None),
        "tanh": (lambda p, v: p.tanh(v.a), None),
        "power": (lambda p, v: v.a**v.b, None),
        "maximum": (lambda p, v: p.maximum(v.a, v.b), 12),
        "greater": (lambda p, v: v.a > v.b, 9),
        "where": (lambda p, v: p.where(v.a > 1, v.a, v.b), 22),
        "clip": (lambda p, v: p.clip(v.a, 0.5, 1.5), 8),
        "astype": (lambda p, v: v.a.astype(p.float64), 12),
        "copy": (lambda p, v: v.a.copy(), 8),
        "zeros": (lambda p, v: p.zeros(n, p.float32), 4),
        "arange": (lambda p, v: p.arange(n, dtype=p.float32), 4),
        "concatenate": (lambda p, v: p.concatenate([v.a, v.b]), 16),
        "transpose": (lambda p, v: p.ascontiguousarray(v.m.T), 8),
        "sum": (lambda p, v: v.a.sum(), 4),
        "mean": (lambda p, v: v.a.mean(), 4),
        "max": (lambda p, v: v.a.max(), 4),
        "argmax": (lambda p, v: v.a.argmax(), 4),
        "sum of rows": (lambda p, v: v.m.sum(axis=1), 4),
        "sum of columns": (lambda p, v: v.m.sum(axis=0), 4),
        "cumsum": (lambda p, v: p.cumsum(v.d), 16),
        "take": (lambda p, v: v.a[v.x], None),
        "boolean mask": (lambda p, v: v.a[v.a > 1], None),
        "sort": (lambda p, v: p.sort(v.a), None),
        "argsort": (lambda p, v: p.argsort(v.a), None),
        "unique": (lambda p, v: p.unique(v.i), None),
        "bincount": (lambda p, v: p.bincount(v.i), None),
        "searchsorted": (lambda p, v: p.searchsorted(v.s, v.a), None),
        "dot of rows": (lambda p, v: (v.m * v.m).sum(axis=1), None),
        "standard deviation": (lambda p, v: v.a.std(), None),
    }


class Arrays:
    def __init__(self, n, module):
        rng = np.random.default_rng(1)
        side = int(n**0.5)
        made = {
            "a": rng.uniform(0.1, 3, n).astype(np.float32),
            "b": rng.uniform(0.1, 3, n).astype(np.float32),
            "d": rng.uniform(0, 1, n),
            "m": rng.uniform(0, 1, (side, side)).astype(np.float32),
            "i": rng.integers(0, 1000, n).astype(np.int32),
            "x": rng.integers(0, n, n),
            "s": np.sort(rng.uniform(0.1, 3, 1000).astype(np.float32)),
        }
        for name, array in made.items():
            setattr(self, name, module.asarray(array))


def timed(run):
    """By the clock, and of processors."""
    start = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def copy_rate():
    """Bytes read and written in a second by copies on all cores, of blocks that fit no cache."""
    threads = len(os.sched_getaffinity(0))
    pairs = [(np.ones(KEPT // threads, np.uint8), np.zeros(KEPT // threads, np.uint8)) for _ in range(threads)]

    def copy_all():
        running = [threading.Thread(target=np.copyto, args=(to, given)) for given, to in pairs]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    return 2 * KEPT / min(timed(copy_all)[0] for _ in range(5))


def is_right(found, expected):
    found = np.asarray(found)
    if found.dtype.kind in "iub" and found.shape == np.shape(expected):
        return bool(np.array_equal(found, expected))
    return bool(np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE))


def measure(cupy, name, operation, sides, rounds):
    on_device, on_host = sides
    wait = cupy.cuda.runtime.deviceSynchronize

    def device():
        operation(cupy, on_device)
        wait()

    def host():
        operation(np, on_host)

    found = operation(cupy, on_device)
    start = time.process_time()
    while time.process_time() - start < WORK_BEFORE:
        device()
    for _ in range(int(LONGEST_COMPILE / SETTLING)):  # until kernels have found their forms
        spent = time.process_time()
        time.sleep(SETTLING)
        device_idles = time.process_time() - spent < SETTLING / 10
        device()
        if device_idles:
            break
    expected = operation(np, on_host)
    right = is_right(cupy.asnumpy(found), expected)
    if name == "argsort" and not right:  # the order of equal values is free
        right = is_right(on_host.a[cupy.asnumpy(found)], np.sort(on_host.a))
    spent = 0.0
    times = [], []
    while len(times[0]) < rounds or (spent < 0.2 and len(times[0]) < 20 * rounds):
        for which, run in enumerate((device, host)):
            times[which].append(timed(run))
            spent += times[which][-1][0]
    best = [tuple(min(each) for each in zip(*side, strict=True)) for side in times]
    return *best, right


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**4, 10**6, 10**7])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--output")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import cupy

    rate = copy_rate()
    lines = [
        f"{os.cpu_count()} cores, {platform.platform()}, {platform.machine()}, CuPy {cupy.__version__}, "
        f"NumPy {np.__version__}; copies move {rate / 1e9:.1f} GB/s, read and written",
        f"{'':<20}{'elements':>10}{'CuPy, µs':>12}{'NumPy, µs':>12}{'ratio':>8}{'of CPU time':>13}{'roofline':>10}"
        f"{'over it':>9}",
    ]
    print(*lines, sep="\n", flush=True)
    all_right = True
    for n in options.sizes:
        sides = Arrays(n, cupy), Arrays(n, np)
        for name, (operation, moved) in operations(n).items():
            if options.names and name not in options.names:
                continue
            device, host, right = measure(cupy, name, operation, sides, options.rounds)
            row = f"{name:<20}{n:>10}{device[0] * 1e6:>12.0f}{host[0] * 1e6:>12.0f}"
            row += f"{device[0] / host[0]:>8.2f}{device[1] / host[1]:>13.2f}"
            if moved:
                least = moved * n / rate
                row += f"{least * 1e6:>10.0f}{device[0] / least:>9.2f}"
            row += "" if right else "  WRONG"
            all_right &= right
            lines.append(row)
            print(row, flush=True)
        del sides
        cupy.get_default_memory_pool().free_all_blocks()
    if options.output:
        Path(options.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
