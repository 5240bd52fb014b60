"""Products of square matrices by matrix instructions on the CPU device, beside a plain blocked product of floats in C++
(g++ -O3 -march=native, as many threads): processor time of both, as GFLOP in a second of it, and their ratio.

What is computed is compared with NumPy; the exit status is 1 if something is wrong.
Usage: matrices.py [--size N] [--rounds N] [--output FILE]
"""

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

# Name: the kernel, the type of the factors and of the sums in NumPy (None: bfloat16).
KERNELS = {
    "wmma f16, sums f32": ("by_wmma<half, float>", "float16", "float32"),
    "wmma f16, sums f16": ("by_wmma<half, half>", "float16", "float16"),
    "wmma bf16, sums f32": ("by_wmma<__nv_bfloat16, float>", None, "float32"),
    "wmma s8, sums s32": ("by_wmma<signed char, int>", "int8", "int32"),
    "mma f16 with ldmatrix": ("by_mma", "float16", "float32"),
}
PLAIN = """
extern "C" void product(const float* a, const float* b, float* d, int n) {
  constexpr int block = 64;
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i += block)
    for (int j = 0; j < n; j += block) {
      float sums[block][block] = {};
      for (int k = 0; k < n; k += block)
        for (int row = 0; row < block; ++row)
          for (int m = 0; m < block; ++m) {
            const float left = a[(i + row) * n + k + m];
            for (int column = 0; column < block; ++column) sums[row][column] += left * b[(k + m) * n + j + column];
          }
      for (int row = 0; row < block; ++row)
        for (int column = 0; column < block; ++column) d[(i + row) * n + j + column] = sums[row][column];
    }
}
"""


def least(rounds, run):
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def plain(size, rounds):
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "product.cpp"), Path(folder, "product.so")
        source.write_text(PLAIN)
        # Idle threads sleep: their waiting would count as processor time.
        command = ["g++", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", source, "-o", library]
        subprocess.run(command, check=True)
        product = ctypes.CDLL(str(library)).product
    a, b, d = (np.random.default_rng(seed).random((size, size), np.float32) for seed in range(3))
    times = least(rounds, lambda: product(*(ctypes.c_void_p(array.ctypes.data) for array in (a, b, d)), size))
    assert np.allclose(d, a @ b, rtol=1e-3)
    return times


def factors(kind, size):
    """Two matrices as the kernel takes them, and their values as floats."""
    import numpy as np

    random = np.random.default_rng(7)
    numbers = [random.integers(-4, 5, (size, size)).astype(np.float32) for _ in range(2)]
    if kind is None:
        return [(array.view(np.uint32) >> 16).astype(np.uint16) for array in numbers], numbers
    return [array.astype(kind) for array in numbers], numbers


def measure(cucore, code, name, size, rounds):
    import numpy as np

    kernel, kind, sums = KERNELS[name]
    (a, b), (left, right) = factors(kind, size)
    columns = np.ascontiguousarray(b.T)
    d = np.zeros((size, size), sums)
    stream = cucore.Device().create_stream()
    launcher = code.get_kernel(kernel).launcher(cucore.LaunchConfig(grid=(size // 64, size // 64), block=128))
    pointers = [np.uint64(array.ctypes.data) for array in (a, columns, d)]

    def run():
        launcher(stream, *pointers, np.int32(size))
        stream.sync()

    run()
    # Sums of small whole numbers are exact in binary32; in binary16 they are rounded at each step.
    expected = left @ right
    is_right = np.abs(d.astype(np.float32) - expected).max() <= (16 if sums == "float16" else 0)
    return least(rounds, run), bool(is_right)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    import os

    os.environ.setdefault("CUCORE_DEVICE", "cpu")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    from machine import machine

    import cucore

    cucore.Device().set_current()
    source = (HERE / "matrices.cu").read_text()
    code = cucore.Program(source, "c++", cucore.ProgramOptions(arch=f"sm_{cucore.Device().arch}", std="c++17")).compile(
        "cubin", name_expressions=[kernel for kernel, _, _ in KERNELS.values()]
    )
    work = 2 * options.size**3 / 1e9
    of_plain = plain(options.size, options.rounds)
    how = f"{options.size} x {options.size}; GFLOP in a second of processor time; least of {options.rounds}"
    lines = [*machine(), how]
    lines += [f"{'plain blocked f32 in C++':28} {work / of_plain:8.2f}", f"{'':28} {'device':>8} {'/C++':>6}"]
    all_right = True
    for name in KERNELS:
        took, is_right = measure(cucore, code, name, options.size, options.rounds)
        all_right &= is_right
        lines.append(f"{name:28} {work / took:8.2f} {of_plain / took:6.2f}{'' if is_right else '  WRONG'}")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.output:
        options.output.write_text(text)
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
