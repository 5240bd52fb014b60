"""Functions of floats on the CPU device, element by element as array libraries write them, beside NumPy: processor
time of each for an element, in nanoseconds, and their ratio; smaller is faster. Also for a processor with AVX2 only,
and with fast math.

What is computed is compared with NumPy in double precision; the exit status is 1 if something is wrong.
Usage: elementwise.py [FUNCTION ...] [--sizes N ...] [--output FILE]
"""

import argparse
import os
import platform
import sys
import time

ROUNDS = 5
AVX2 = "x86-64-v3"
# name: of C, of NumPy (None: it has none)
FUNCTIONS = {
    "exp": ("expf(x)", "exp"),
    "log": ("logf(x)", "log"),
    "sin": ("sinf(x)", "sin"),
    "cos": ("cosf(x)", "cos"),
    "tanh": ("tanhf(x)", "tanh"),
    "sqrt": ("sqrtf(x)", "sqrt"),
    "cbrt": ("cbrtf(x)", "cbrt"),
    "log1p": ("log1pf(x)", "log1p"),
    "arctan": ("atanf(x)", "arctan"),
    "reciprocal": ("1.0f / x", "reciprocal"),
    "erf": ("erff(x)", None),
    "erfc": ("erfcf(x)", None),
    "lgamma": ("lgammaf(x)", None),
    "root, down": ("__fsqrt_rd(x)", None),
    "reciprocal, to zero": ("__frcp_rz(x)", None),
}
SOURCE = 'extern "C" __global__ void k(const float* in, float* out, int n) {{\n'
SOURCE += "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {{ float x = in[i]; out[i] = {0}; }}\n}}\n"


def best_of(run):
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def make_run(cucore, stream, expression, fast, march, arrays):
    given, result = arrays
    options = cucore.ProgramOptions(arch=f"sm_{cucore.Device().arch}", use_fast_math=fast)
    code = cucore.Program(SOURCE.format(expression), "c++", options).compile("cubin")
    config = cucore.LaunchConfig(grid=-(-given.size // 256), block=256)
    launcher = code.get_kernel("k").launcher(config)
    arguments = [given.ctypes.data, result.ctypes.data]

    def run():
        import numpy as np

        launcher(stream, *map(np.uint64, arguments), np.int32(given.size))
        stream.sync()

    os.environ["CUCORE_CPU_MARCH"] = march
    run()
    del os.environ["CUCORE_CPU_MARCH"]
    return run


def measure(cucore, stream, name, size):
    """A row of the table, and whether all is right."""
    import numpy as np

    expression, of_numpy = FUNCTIONS[name]
    given = np.random.default_rng(1).uniform(0.1, 3, size).astype(np.float32)
    result = np.zeros_like(given)
    right = True
    times = []
    for fast, march in ((False, "native"), (False, AVX2), (True, "native"), (True, AVX2)):
        run = make_run(cucore, stream, expression, fast, march, (given, result))
        times.append(best_of(run) / size * 1e9)
        if of_numpy:
            expected = getattr(np, of_numpy)(given.astype(np.float64))
            right &= bool(np.allclose(result, expected, rtol=1e-5, atol=1e-6))
    row = f"{name:<20}{size:>10}" + "".join(f"{t:10.2f}" for t in times)
    if of_numpy:
        host = best_of(lambda: getattr(np, of_numpy)(given, out=result)) / size * 1e9
        row += f"{host:10.2f}{times[0] / host:10.2f}"
    return row + ("" if right else "  WRONG"), right


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**6, 10**7])
    parser.add_argument("--output")
    parser.add_argument("functions", nargs="*", metavar="FUNCTION")
    options = parser.parse_args()
    os.environ["CUCORE_DEVICE"] = "cpu"
    os.environ.setdefault("CUCORE_CPU_FORM", "auto-at-once")
    import cucore

    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    lines = [
        f"{os.cpu_count()} cores, {platform.platform()}, {platform.machine()}",
        "processor time, ns for an element; x/NumPy is the default's to NumPy's",
        f"{'':<20}{'elements':>10}{'default':>10}{'AVX2':>10}{'fast':>10}{'fast AVX2':>10}{'NumPy':>10}{'x/NumPy':>10}",
    ]
    print(*lines, sep="\n")
    all_right = True
    for size in options.sizes:
        for name in options.functions or FUNCTIONS:
            row, right = measure(cucore, stream, name, size)
            print(row, flush=True)
            lines.append(row)
            all_right &= right
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
