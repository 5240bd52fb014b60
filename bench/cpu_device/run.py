"""The CPU device beside straightforward C++ and PoCL on as many threads, in one run: medians and their ratios, smaller
is faster. Also the device restricted to AVX2, what it needs of memory and threads, and whether the targets are met.

Results are checked; the exit status is 1 if one is wrong.
Usage: run.py [--build FOLDER] [--output FILE] [--rounds N] [NAME ...]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))

MOST_SECONDS = 1.0  # of one side of one problem
AVX2 = "x86-64-v3"
SIDES = ("C++", "device", "AVX2", "PoCL")
RATIOS = {"dev/C++": ("device", "C++"), "dev/PoCL": ("device", "PoCL"), "AVX2/dev": ("AVX2", "device")}
# Of one side's time to another's: the most that the geometric mean and the worst may be. Beside PoCL a tenth is noise;
# code for AVX2 may take 1.5 times what code for all of the processor may.
TARGETS = {
    ("device", "C++"): (0.6, 1.5),
    ("device", "PoCL"): (1 / 6, 1.1),
    ("AVX2", "C++"): (0.9, 2.25),
    ("AVX2", "PoCL"): (0.25, 1.65),
    ("AVX2", "device"): (1.5, None),
}


def make_sides(library):
    """By name, in the order of their turns; a line about PoCL; the kernels."""
    from opencl import OpenCLError, PoCL
    from sides import Device, Reference, compile_kernels

    import cucore

    kernels = compile_kernels(cucore)
    sides = {
        "C++": Reference(library),
        "device": Device(cucore, kernels, "native"),
        "AVX2": Device(cucore, kernels, AVX2),
    }
    try:
        sides["PoCL"] = PoCL()
        about = sides["PoCL"].name
    except (OSError, OpenCLError) as error:
        about = f"no PoCL ({error}): apt-get install pocl-opencl-icd ocl-icd-libopencl1"
    return sides, about, kernels


def seconds(run, reset):
    reset()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def largest_difference(problem, results, right):
    """Relative to the largest value, 0 if all are equal."""
    import numpy as np

    worst = 0.0
    for mine, theirs in zip(results, right, strict=True):
        a, b = problem.view(mine), problem.view(theirs)
        if np.array_equal(a, b):
            continue
        scale = float(np.max(np.abs(b))) or 1.0
        difference = float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))) / scale
        worst = max(worst, difference if difference >= 0 else float("inf"))  # not a number is wrong, too
    return worst


def measure(problem, sides, arrays, rounds):
    """By side: the median in seconds; and what is wrong. The sides take turns, so that the machine's moods hit all
    alike."""
    results = {name: [arrays.of(result) for result in problem.results] for name in sides}
    resets = {name: lambda own=own: problem.reset(*own) for name, own in results.items()}
    runs = {}
    for name, side in sides.items():
        resets[name]()
        runs[name] = side.prepare(problem, arrays, results[name])
    slowest = max(seconds(runs[name], resets[name]) for name in sides)
    times = {name: [] for name in sides}
    for _ in range(max(3, min(rounds, int(MOST_SECONDS / max(slowest, 1e-6))))):
        for name, own in times.items():
            own.append(seconds(runs[name], resets[name]))
    wrong = []
    for name in sides:
        difference = largest_difference(problem, results[name], results["C++"])
        if difference > problem.tolerance:
            wrong.append(f"{name} WRONG by {difference:.2g}")
    return {name: statistics.median(own) for name, own in times.items()}, wrong


def footprint(kernels, name):
    command = [sys.executable, HERE / "footprint.py", kernels, name]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def row(name, times, needs):
    def cell(width, digits, value):
        return f"{'-':>{width}}" if value is None else f"{value:{width}.{digits}f}"

    milliseconds = [times[side] * 1e3 if side in times else None for side in SIDES]
    ratios = [times[side] / times[beside] if beside in times else None for side, beside in RATIOS.values()]
    return (
        f"{name:<14}"
        + "".join(cell(11, 3, value) for value in milliseconds)
        + "".join(cell(9, 2, value) for value in ratios)
        + f"{needs['peak_mib']:6.1f}{needs['stacks_mib']:7.1f}{needs['threads']:8}"
    )


def verdicts(all_times):
    """A line for each target: whether it is met, and by how much."""
    for (side, beside), (most_mean, most) in TARGETS.items():
        ratios = {name: times[side] / times[beside] for name, times in all_times.items() if beside in times}
        if not ratios:
            continue
        mean = statistics.geometric_mean(ratios.values())
        worst = max(ratios, key=ratios.get)
        line = f"{side + ' / ' + beside:<16}geometric mean of {len(ratios)}: {mean:.3f} (at most {most_mean:.3f}: "
        line += f"{'met' if mean <= most_mean else 'missed'}), worst {ratios[worst]:.2f}, {worst}"
        if most:
            above = sum(ratio > most for ratio in ratios.values())
            line += f" (at most {most:.2f}: {f'missed by {above}' if above else 'met'})"
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="problems; all if none is named")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--output", type=Path, help="a file for the table, too")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    threads = str(os.cpu_count())
    os.environ.setdefault("CUCORE_CPU_FORM", "auto-at-once")
    os.environ |= {"CUCORE_DEVICE": "cpu", "CUCORE_BENCH_THREADS": threads, "POCL_MAX_PTHREAD_COUNT": threads}
    os.environ.pop("CUCORE_CPU_MARCH", None)

    import problems
    from machine import machine

    sides, about_pocl, kernels = make_sides(arguments.build / "bench/libcpu_device_reference.so")
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    for line in machine():
        say(line)
    say(f"threads: {threads} on all sides; form of code: {os.environ['CUCORE_CPU_FORM']}")
    say(about_pocl)
    say(f"medians; C++: -O3 -march=native; device: all of this processor; AVX2: the device, CUCORE_CPU_MARCH={AVX2}")
    say("MiB, stacks: the device's memory beside the data at its peak, code from the cache, and how much is stacks")
    say("threads: the device's, beside the caller's")
    say(
        f"{'problem':<14}"
        + "".join(f"{side + ' ms':>11}" for side in SIDES)
        + "".join(f"{ratio:>9}" for ratio in RATIOS)
        + "   MiB stacks threads  result"
    )
    all_times = {}
    with tempfile.NamedTemporaryFile() as file:
        file.write(kernels)
        file.flush()
        for make in problems.PROBLEMS:
            name = make.__name__
            if arguments.names and name not in arguments.names:
                continue
            arrays = problems.Arrays()
            times, wrong = measure(make(arrays), sides, arrays, arguments.rounds)
            del arrays
            all_times[name] = times
            say(row(name, times, footprint(file.name, name)) + f"  {', '.join(wrong) or 'ok'}")
    for line in verdicts(all_times):
        say(line)
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n")
    return any("WRONG" in line for line in lines)


if __name__ == "__main__":
    sys.exit(main())
