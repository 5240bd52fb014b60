"""Kernels as strangers write them (strangers.cu: of PolyBench's, Rodinia's, machine learning's and CUB's kinds) on the
CPU device, beside the same problems in C++ with OpenMP (strangers.cpp, g++ -O3 -march=native): processor time of both
for one step of the innermost loop, in nanoseconds, their ratio, and the form of code that each kernel got.

Results of both are compared; the exit status is 1 if they differ.
Usage: strangers.py [PROBLEM ...] [--rounds N] [--output FILE]
"""

import argparse
import ctypes
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))


def measured(launch, native, arrays, rounds):
    """The least processor time of each, in turns, and what each left in the arrays, which start as given each time."""
    at_hand = {name: array.copy() for name, array in arrays.items()}
    least, results = [math.inf] * 2, []
    # Before its turns, the device compiles, and once more after it has seen how many threads run.
    for turn in range(rounds + 2):
        for side, run in enumerate((launch, native)):
            for name, array in arrays.items():
                at_hand[name][...] = array
            start = time.process_time()
            run(at_hand)
            took = time.process_time() - start
            if turn >= 2:
                least[side] = min(least[side], took)
            if turn == rounds + 1:
                results.append({name: array.copy() for name, array in at_hand.items()})
    return least, results


class Device:
    def __init__(self):
        import nvidia

        import cucore

        cucore.Device().set_current()
        self.cucore, self.stream, self.launchers = cucore, cucore.Device().create_stream(), {}
        includes = [str(Path(place, "cu13", "include", "cccl")) for place in nvidia.__path__]
        options = cucore.ProgramOptions(arch=f"sm_{cucore.Device().arch}", std="c++17", include_path=includes)
        self.code = cucore.Program((HERE / "strangers.cu").read_text(), "c++", options).compile("cubin")

    def run(self, launches, arrays):
        import numpy as np

        for kernel, grid, block, arguments in launches:
            key = kernel, grid, block
            if key not in self.launchers:
                config = self.cucore.LaunchConfig(grid=grid, block=block)
                self.launchers[key] = self.code.get_kernel(kernel).launcher(config)
            values = (np.uint64(arrays[a].ctypes.data) if isinstance(a, str) else a for a in arguments)
            self.launchers[key](self.stream, *values)
        self.stream.sync()


def reference(folder):
    library = Path(folder, "strangers.so")
    source = HERE / "strangers.cpp"
    subprocess.run(["g++", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def same(problem, left, right):
    import numpy as np

    if problem.check:
        return problem.check(left, right)
    return all(
        np.allclose(left[name], right[name], rtol=2e-3, atol=2e-4 * max(1, float(np.abs(right[name]).max())))
        for name in problem.results
    )


def forms(report):
    """Of the kernels in what the device reported: the last form of each, and why it is not in vectors."""
    last = dict(re.findall(r"kernel (\w+): (.*)", report))
    scalar = [f"{kernel}: {form}" for kernel, form in last.items() if form.startswith("scalar")]
    return "; ".join(scalar) if scalar else "vector"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    options = parser.parse_args()
    os.environ.setdefault("CUCORE_DEVICE", "cpu")
    os.environ["CUCORE_CPU_REPORT"] = "forms"
    os.environ.setdefault("CUCORE_CPU_FORM", "auto-at-once")
    # Idle threads sleep: their waiting would count as processor time.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    from machine import machine
    from strangers_problems import PROBLEMS

    device = Device()
    how = f"processor time, ns for a step of the innermost loop; least of {options.rounds}"
    lines = [*machine(), how, f"{'':16}{'steps':>11}{'device':>9}{'C++':>9}{'ratio':>7}  form"]
    print(*lines, sep="\n", flush=True)
    ratios, all_right = [], True
    with tempfile.TemporaryDirectory() as folder:
        library = reference(folder)
        for name in options.problems or PROBLEMS:
            problem = PROBLEMS[name]()
            function = getattr(library, name)

            def native(arrays, function=function, problem=problem):
                function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays.values()), *problem.numbers)

            with tempfile.TemporaryFile(mode="w+") as report:
                before = os.dup(2)
                os.dup2(report.fileno(), 2)
                try:
                    (of_device, of_native), results = measured(
                        lambda arrays, problem=problem: device.run(problem.launches, arrays),
                        native,
                        problem.arrays,
                        options.rounds,
                    )
                finally:
                    os.dup2(before, 2)
                    os.close(before)
                report.seek(0)
                form = forms(report.read())
            right = same(problem, *results)
            all_right &= right
            ratios.append(of_device / of_native)
            step = 1e9 / problem.steps
            row = f"{name:16}{problem.steps:11}{of_device * step:9.3f}{of_native * step:9.3f}{ratios[-1]:7.2f}  {form}"
            lines.append(row + ("" if right else "  WRONG"))
            print(lines[-1], flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lines.append(f"geometric mean of the ratios {mean:.2f}; above 1.5: {sum(r > 1.5 for r in ratios)} of {len(ratios)}")
    print(lines[-1])
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
