"""What the CPU device's checker costs: processor time of kernels of the bench with one class of checks, relative to the
same kernels unchecked, in the form that the device chooses; and, apart from that, both in the scalar form.

Every class and form has processes of its own, in turns; the least time of each counts. The exit status is 1 if the
memory check takes more than twice the time of a kernel unchecked, in the forms that the device chooses.
Usage: check_costs.py [--output FILE] [--rounds N] [--classes memory,init] [--forms auto,scalar] [NAME ...]
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

RUNS = 3  # of each kernel in a process
# Mostly those whose threads do not meet: fibers would hide the cost of checks.
KERNELS = ["saxpy", "stencil", "threshold", "convolution", "heat", "spmv", "search", "find_pattern", "mandelbrot"]
KERNELS += ["small_matmul", "gather", "local_array"]
MOST = 2.0  # of the memory check
FORMS = ["auto", "scalar"]  # values of CUCORE_CPU_FORM
NAMES = {"auto": "default form", "scalar": "scalar form"}

# What kernels.cu has no pure case of: every access somewhere else, and arrays of the thread's own.
MORE_KERNELS = """
extern "C" __global__ void gather(float* out, const float* in, const int* at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[at[i]];
}
extern "C" __global__ void local_array(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float part[16];
  for (int k = 0; k < 16; ++k) part[(k * 5 + i) & 15] = in[(i + k) & (n - 1)];
  float sum = 0.0f;
  for (int k = 0; k < 64; ++k) sum += part[(k * 3 + i) & 15] * k;
  out[i] = sum;
}
"""


def gather(a, problems):
    n = 1 << 20
    x, places = a.uniform(n), a.of(a.random.integers(0, n, n), "int32")
    return problems.Problem(
        [a.empty(n)], lambda out: [problems.Launch("gather", (n // 256,), (256,), (out, x, places, n))]
    )


def small_matmul(a, problems):
    n = 256
    x, y = a.uniform((n, n)), a.uniform((n, n))
    return problems.Problem(
        [a.empty((n, n))], lambda out: [problems.Launch("matmul", (n // 16, n // 16), (16, 16), (out, x, y, n))]
    )


def local_array(a, problems):
    n = 1 << 18
    x = a.uniform(n)
    return problems.Problem(
        [a.empty(n)], lambda out: [problems.Launch("local_array", (n // 256,), (256,), (out, x, n))]
    )


def seconds_of_kernels(names):
    """Of this process, by problem: the least processor time."""
    import problems

    import cucore

    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    options = cucore.ProgramOptions(arch=f"sm_{device.arch}", std="c++17", lineinfo=True, name="kernels.cu")
    source = (HERE / "kernels.cu").read_text() + MORE_KERNELS
    code = cucore.Program(source, "c++", options).compile("cubin")
    made = {make.__name__: make for make in problems.PROBLEMS}
    made |= {make.__name__: lambda a, make=make: make(a, problems) for make in (gather, local_array, small_matmul)}
    found = {}
    for name in names:
        arrays = problems.Arrays()
        problem = made[name](arrays)
        buffers = {}  # in device memory, by the address of the array

        def on_device(argument, buffers=buffers, arrays=arrays):
            if not hasattr(argument, "ctypes"):
                return argument
            host = arrays.buffer(argument)
            if argument.ctypes.data not in buffers:
                buffers[argument.ctypes.data] = (device.allocate(host.size, stream=stream), host)
            return buffers[argument.ctypes.data][0]

        steps = []
        for launch in problem.launches(*problem.results):
            config = cucore.LaunchConfig(grid=launch.grid, block=launch.block)
            steps.append((code.get_kernel(launch.kernel).launcher(config), [on_device(a) for a in launch.arguments]))
        for variable, values in problem.constants.items():
            code.get_global(variable).copy_from(arrays.buffer(values), stream=stream)
        times = []
        for _ in range(RUNS + 1):
            problem.reset(*problem.results)
            for mine, host in buffers.values():
                mine.copy_from(host, stream=stream)
            stream.sync()
            start = time.process_time()
            for launcher, arguments in steps:
                launcher(stream, *arguments)
            stream.sync()
            times.append(time.process_time() - start)
        found[name] = min(times[1:])
        for mine, _ in buffers.values():
            mine.close(stream)
    return found


def measure(classes, form, names):
    environment = {**os.environ, "CUCORE_DEVICE": "cpu", "CUCORE_CPU_CHECK": classes}
    environment["CUCORE_CPU_FORM"] = "auto-at-once" if form == "auto" else form
    done = subprocess.run(
        [sys.executable, __file__, "--child", *names], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{classes or 'unchecked'}: {done.stderr}")
    alarms = [line for line in done.stderr.splitlines() if "SUMMARY" in line and " 0 errors" not in line]
    if alarms and classes != "fp":
        sys.exit(f"{classes}: a clean kernel gave an alarm:\n{done.stderr}")
    return json.loads(done.stdout), done.stderr


def reports_of(said):
    """The headlines of reports with their kernels and source lines, once each; of numbers they can be true."""
    found = re.findall(
        r"^========= ([A-Z].*)\n=========     in kernel (\w+).*? at \S*?:(\d+) \(PTX line \d+: (\S+)\)", said, re.M
    )
    return sorted(
        {f"{kernel}, line {line} ({instruction}): {headline}" for headline, kernel, line, instruction in found}
    )


def ratio(times, form, classes):
    return times[form, classes] / times[form, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", default=KERNELS, help="problems of problems.py and more; all: of all of them"
    )
    parser.add_argument("--output", type=Path, help="a file for the table, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--classes", default="memory,init", help="measured one by one")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(seconds_of_kernels(arguments.names)))
        return 0

    if arguments.names == ["all"]:
        import problems

        arguments.names = [make.__name__ for make in problems.PROBLEMS] + ["small_matmul", "gather", "local_array"]
    forms = arguments.forms.split(",")
    from machine import machine

    classes = ["", *arguments.classes.split(",")]
    best, reports = {}, {}
    for _ in range(arguments.rounds):
        for form in forms:
            for each in classes:
                seconds_by_name, said = measure(each, form, arguments.names)
                reports[each, form] = reports_of(said)
                for name, seconds in seconds_by_name.items():
                    times = best.setdefault(name, {})
                    times[form, each] = min(times.get((form, each), seconds), seconds)
    lines = [*machine(), "processor time with checks of one class, relative to the same form unchecked"]
    columns = "".join(f"{each:>9}" for each in classes[1:])
    heads = ["default form:", "scalar form:"] if forms == FORMS else [f"{NAMES[form]}:" for form in forms]
    lines.append(f"{'':<16}" + "   ".join(f"{head:<{14 + len(columns)}}" for head in heads).rstrip())
    lines.append(f"{'kernel':<16}" + "   ".join([f"{'unchecked ms':>14}{columns}"] * len(forms)))
    for name, times in best.items():
        parts = [
            f"{times[form, ''] * 1e3:14.2f}" + "".join(f"{ratio(times, form, each):9.2f}" for each in classes[1:])
            for form in forms
        ]
        lines.append(f"{name:<16}" + "   ".join(parts))
    for form in forms:
        for each in classes[1:]:
            ratios = [ratio(times, form, each) for times in best.values()]
            mean = statistics.geometric_mean(ratios)
            lines.append(
                f"{each}, {NAMES[form]}: median {statistics.median(ratios):.2f}, geometric mean {mean:.2f}, "
                f"worst {max(ratios):.2f}"
            )
            lines += [f"  reported: {line}" for line in reports[each, form]]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.output:
        arguments.output.write_text(text)
    return "memory" in classes and any(ratio(times, "auto", "memory") > MOST for times in best.values())


if __name__ == "__main__":
    sys.exit(main())
