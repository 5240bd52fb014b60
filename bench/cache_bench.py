"""Compiling through caches: what a hit costs, in microseconds, beside cuda.core's caches and the compile it saves.

    python bench/cache_bench.py

Needs no driver. Each number is the best of several rounds; the two libraries take turns.
"""

import statistics
import tempfile
import time
from pathlib import Path

SOURCE = """template <class T> __global__ void axpy(T a, T* x) { x[threadIdx.x] *= a; }
template __global__ void axpy(float, float*);
"""
WITH_HEADERS = "#include <cuda/std/array>\n" + SOURCE
ARCH = "sm_90"


def microseconds(operation, number):
    begin = time.perf_counter()
    for _ in range(number):
        operation()
    return (time.perf_counter() - begin) / number * 1e6


def hits(core, cache, source=SOURCE):
    """A compile that the cache answers, of one Program made before."""
    program = core.Program(source, "c++", core.ProgramOptions(arch=ARCH))
    program.compile("cubin", cache=cache)
    return lambda: program.compile("cubin", cache=cache)


def anew(core, cache, source=SOURCE):
    """The same with the Program made anew each time."""

    def operation():
        core.Program(source, "c++", core.ProgramOptions(arch=ARCH)).compile("cubin", cache=cache)

    operation()
    return operation


def cases(core, folder, own):
    from importlib import import_module

    utils = import_module(f"{core.__name__}.utils")
    memory = utils.InMemoryProgramCache()
    files = utils.FileStreamProgramCache(folder / f"{core.__name__}-files")
    yield "memory hit", hits(core, memory), 2000
    yield "memory hit, new Program", anew(core, memory), 1000
    yield "file hit", hits(core, files), 1000
    yield "file hit, new Program", anew(core, files), 1000
    if own:
        cache = core.ProgramCache(folder / "program-cache")
        yield "ProgramCache hit", hits(core, cache), 2000
        yield "ProgramCache hit, new Program", anew(core, cache), 1000
        yield "ProgramCache hit, many headers", hits(core, cache, WITH_HEADERS), 100


def main():
    import cuda.core

    import cucore

    with tempfile.TemporaryDirectory() as folder:
        table = {}
        for core in (cucore, cuda.core):
            for name, operation, number in cases(core, Path(folder), core is cucore):
                table.setdefault(name, {})[core.__name__] = (operation, number, [])
        for _ in range(7):
            for row in table.values():
                for operation, number, times in row.values():
                    times.append(microseconds(operation, number))
        print(f"{'':34}{'cucore':>10}{'cuda.core':>12}   (us, best of 7; median in brackets)")
        for name, row in table.items():
            cells = [row.get(core.__name__) for core in (cucore, cuda.core)]
            words = ["" if cell is None else f"{min(cell[2]):.2f} ({statistics.median(cell[2]):.2f})" for cell in cells]
            print(f"{name:30}{words[0]:>18}{words[1]:>18}")


if __name__ == "__main__":
    main()
