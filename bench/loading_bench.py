"""What loading a large image costs: time and peak memory, at its first use on a machine and at the second.

Each measurement is a process of its own: it loads the image (as a library, which stays in memory, as CUDA's run-time
does it), counts and names its kernels, and asks one kernel for its attributes. `--against DRIVER` measures another
build of the CPU device in the same run.

    python bench/loading_bench.py --driver build/cpu/driver/libcuda.so.1 IMAGE[:OFFSET] ...

IMAGE is PTX, a cubin or a fat binary, or a file that has one at OFFSET (hexadecimal); without it the largest fat binary
in a shared library is taken.
"""

import argparse
import ctypes
import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PRESERVED = 1  # CU_LIBRARY_BINARY_IS_PRESERVED
STEPS = ("load", "names", "kernel")
FAT_BINARY = struct.pack("<I", 0xBA55ED50)


def check(result: int) -> None:
    if result != 0:
        raise RuntimeError(f"the driver answers {result}")


def largest_fat_binary(content: bytes) -> tuple[int, int]:
    """Offset and size."""
    found = []
    at = content.find(FAT_BINARY)
    while at >= 0:
        _, header, size = struct.unpack_from("<HHQ", content, at + 4)
        if header == 16 and at + header + size <= len(content):
            found.append((size + header, at))
        at = content.find(FAT_BINARY, at + 4)
    size, at = max(found)
    return at, size


def peak_memory() -> float:
    """Of the process, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


class Stopwatch:
    """Milliseconds and MiB of steps."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}

    def run(self, step: str, work) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = peak_memory()
        start, processor_start = time.perf_counter(), time.process_time()
        work()
        self.steps[f"{step} ms"] = (time.perf_counter() - start) * 1e3
        self.steps[f"{step} processor ms"] = (time.process_time() - processor_start) * 1e3
        self.steps[f"{step} MiB"] = peak_memory() - before


def measure(driver_path: str, image: str, offset: int) -> dict[str, float]:
    driver = ctypes.CDLL(driver_path)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(driver.cuInit(0))
    check(driver.cuDeviceGet(ctypes.byref(device), 0))
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(driver.cuCtxSetCurrent(context))
    with Path(image).open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    address = ctypes.addressof(ctypes.c_char.from_buffer(content)) + offset

    library, count = ctypes.c_void_p(), ctypes.c_uint()
    watch = Stopwatch()

    def load() -> None:
        image, options, values = ctypes.c_void_p(address), (ctypes.c_int * 1)(PRESERVED), (ctypes.c_void_p * 1)(1)
        check(driver.cuLibraryLoadData(ctypes.byref(library), image, None, None, 0, options, values, 1))

    def name_kernels() -> list[bytes]:
        check(driver.cuLibraryGetKernelCount(ctypes.byref(count), library))
        kernels = (ctypes.c_void_p * count.value)()
        check(driver.cuLibraryEnumerateKernels(kernels, count, library))
        name = ctypes.c_char_p()
        names = []
        for kernel in kernels:
            check(driver.cuKernelGetName(ctypes.byref(name), ctypes.c_void_p(kernel)))
            names.append(name.value)
        return names

    def ask_one() -> None:
        kernel, registers = ctypes.c_void_p(), ctypes.c_int()
        check(driver.cuLibraryGetKernel(ctypes.byref(kernel), library, name_kernels()[count.value // 2]))
        check(driver.cuKernelGetAttribute(ctypes.byref(registers), 4, kernel, device))

    watch.run("load", load)
    watch.run("names", name_kernels)
    watch.run("kernel", ask_one)
    return watch.steps | {"kernels": count.value}


def in_a_process(driver: str, image: str, offset: int, cache: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", "--driver", driver, f"{image}:{offset:x}"]
    environment = os.environ | {"CUCORE_CPU_CACHE": cache}
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def report(label: str, image: str, offset: int, driver: str, repetitions: int) -> None:
    """The least of the repetitions of each figure: other programs only add."""
    uses: dict[str, list[dict[str, float]]] = {"first": [], "second": []}
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as cache:
            for runs in uses.values():
                runs.append(in_a_process(driver, image, offset, cache))
    for use, runs in uses.items():
        least = {figure: min(run[figure] for run in runs) for figure in runs[0]}
        line = f"{Path(image).name.split('.')[0]:18} {label:8} {use:7} {least['kernels']:7.0f}"
        for step in STEPS:
            line += f" {least[step + ' ms']:9.1f} {least[step + ' processor ms']:9.1f} {least[step + ' MiB']:6.1f}"
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--against", help="another build")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("images", nargs="+")
    given = parser.parse_args()
    for image in given.images:
        path, _, offset = image.partition(":")
        if given.measure:
            print(json.dumps(measure(given.driver, path, int(offset or "0", 16))))
            continue
        content = Path(path).read_bytes()
        at = int(offset, 16) if offset else largest_fat_binary(content)[0] if content[:4] == b"\x7fELF" else 0
        if image == given.images[0]:
            print(
                f"{'image':18} {'driver':8} {'use':7} kernels"
                + "".join(f" {step:>6} ms processor    MiB" for step in STEPS)
            )
        report("this", path, at, given.driver, given.repetitions)
        if given.against:
            report("against", path, at, given.against, given.repetitions)


if __name__ == "__main__":
    main()
