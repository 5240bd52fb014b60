"""The CPU device beside straightforward C++ on as many threads, in one run: ratios of medians, smaller is faster.

Results are checked; the exit status is 1 if one is wrong.
Usage: run.py [--build FOLDER] [--output FILE] [--rounds N] [NAME ...]
"""

import argparse
import ctypes
import os
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))

MOST_SECONDS = 1.0  # of one side of one problem


def machine_and_threads():
    from machine import machine

    form = os.environ.get("CUCORE_CPU_FORM", "the default")
    return [*machine(), f"threads: {os.cpu_count()} on both sides; form of code: {form}"]


class Mine:
    """Kernels on the CPU device."""

    def __init__(self, cucore):
        self._cucore = cucore
        self._device = cucore.Device()
        self._device.set_current()
        self._stream = self._device.create_stream()
        source = (HERE / "kernels.cu").read_text()
        options = cucore.ProgramOptions(arch=f"sm_{self._device.arch}", std="c++17")
        self._code = cucore.Program(source, "c++", options).compile("cubin")

    def prepare(self, problem, arrays):
        """A function that runs the problem once and waits for it."""
        for name, values in problem.constants.items():
            where = self._code.get_kernel(problem.launches[0].kernel) and self._code.get_global(name)
            where.copy_from(arrays.buffer(values), stream=self._stream)
        steps = []
        for launch in problem.launches:
            arguments = [arrays.buffer(a) if hasattr(a, "ctypes") else a for a in launch.arguments]
            config = self._cucore.LaunchConfig(grid=launch.grid, block=launch.block)
            steps.append((self._code.get_kernel(launch.kernel).launcher(config), arguments))

        def run():
            for launcher, arguments in steps:
                launcher(self._stream, *arguments)
            self._stream.sync()

        return run


def prepare_reference(library, problem):
    name, *arguments = problem.call
    function = getattr(library, name)
    converted = [ctypes.c_void_p(a.ctypes.data) if hasattr(a, "ctypes") else a for a in arguments]
    return lambda: function(*converted)


def seconds(run, before):
    before()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def largest_difference(problem, runs):
    """After one more run of each; relative to the largest value, 0 if all are equal."""
    import numpy as np

    problem.before()
    for run in runs:
        run()
    worst = 0.0
    for mine, theirs in zip(problem.mine, problem.theirs, strict=True):
        a, b = problem.view(mine), problem.view(theirs)
        if np.array_equal(a, b):
            continue
        scale = float(np.max(np.abs(b))) or 1.0
        worst = max(worst, float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))) / scale)
    return worst


def measure(problem, runs, rounds):
    """Medians in seconds, the sides in turn, so that the machine's moods hit all alike."""
    times = [[] for _ in runs]
    for each, run in zip(times, runs, strict=True):
        each.append(seconds(run, problem.before))
    slowest = max(t[0] for t in times)
    for _ in range(max(2, min(rounds, int(MOST_SECONDS / max(slowest, 1e-6))))):
        for each, run in zip(times, runs, strict=True):
            each.append(seconds(run, problem.before))
    return [statistics.median(each[1:]) for each in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="problems; all if none is named")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--output", type=Path, help="a file for the table, too")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    os.environ["CUCORE_DEVICE"] = "cpu"
    os.environ["CUCORE_BENCH_THREADS"] = str(os.cpu_count())
    sys.path.insert(0, str(HERE))

    import problems

    import cucore

    library = ctypes.CDLL(str(arguments.build / "bench/libcpu_device_reference.so"))
    mine = Mine(cucore)
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    for line in machine_and_threads():
        say(line)
    say(f"{'problem':<16}{'C++ ms':>10}{'device ms':>11}{'ratio':>8}   result")
    ratios = []
    for make in problems.PROBLEMS:
        if arguments.names and make.__name__ not in arguments.names:
            continue
        arrays = problems.Arrays()
        problem = make(arrays)
        runs = [prepare_reference(library, problem), mine.prepare(problem, arrays)]
        theirs, own = measure(problem, runs, arguments.rounds)
        difference = largest_difference(problem, runs)
        verdict = "ok" if difference <= problem.tolerance else f"WRONG by {difference:.2g}"
        ratios.append(own / theirs)
        say(f"{make.__name__:<16}{theirs * 1e3:10.3f}{own * 1e3:11.3f}{own / theirs:8.2f}   {verdict}")
    if ratios:
        say(f"geometric mean of {len(ratios)}: {statistics.geometric_mean(ratios):.2f}, worst {max(ratios):.2f}")
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n")
    return any("WRONG" in line for line in lines)


if __name__ == "__main__":
    sys.exit(main())
