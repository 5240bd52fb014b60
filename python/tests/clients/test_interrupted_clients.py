"""Ctrl-C while programs of others, unmodified from PyPI, wait for a kernel on the CPU device that does not end, and the
end of their interpreter behind one."""

import importlib.util
import subprocess
import sys

import pytest
from test_clients import on_the_cpu_device

import cucore

START = """
import os, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell starts with it ignored
"""

BINDINGS = """
import ctypes
from cuda.bindings import driver

PTX = b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry spin()\\n{\\nagain:\\n  bra again;\\n}\\0"
def answer(result):
    assert result[0] == 0, result
    return result[-1]
answer(driver.cuInit(0))
context = answer(driver.cuDevicePrimaryCtxRetain(answer(driver.cuDeviceGet(0))))
answer(driver.cuCtxSetCurrent(context))
spin = answer(driver.cuModuleGetFunction(answer(driver.cuModuleLoadData(PTX)), b"spin"))
answer(driver.cuLaunchKernel(spin, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0))
wait = lambda: driver.cuStreamSynchronize(0)
"""

NUMBA = """
import numpy
from numba import cuda

@cuda.jit
def spin(words):
    while words[0] == 0:
        words[1] += 1
words = cuda.to_device(numpy.zeros(2, numpy.int64))
spin[1, 32](words)
wait = cuda.synchronize
"""

CUDA_CORE = """
from cuda.core import Device, LaunchConfig, Program, launch

device = Device()
device.set_current()
stream = device.create_stream()
source = 'extern "C" __global__ void spin(volatile int* p) { while (*p == 0); }'
kernel = Program(source, code_type="c++").compile("ptx").get_kernel("spin")
word = device.memory_resource.allocate(4, stream=stream)
word.fill(0, stream=stream)
launch(stream, LaunchConfig(grid=4, block=32), kernel, word)
wait = stream.sync
"""

PROGRAMS = {"cuda.bindings": BINDINGS, "numba_cuda": NUMBA, "cuda.core": CUDA_CORE}


def run(package, end):
    if cucore.driver_info().kind != "cpu":
        pytest.skip("an endless kernel would keep the GPU")
    if any(importlib.util.find_spec(name) is None for name in {package.partition(".")[0], package}):
        pytest.skip(f"{package} is not installed")
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", START + PROGRAMS[package] + end],
        capture_output=True,
        text=True,
        timeout=120,
        env={**on_the_cpu_device(), "CUCORE_CPU_INTERRUPT": "0.1"},
    )


@pytest.mark.parametrize("package", PROGRAMS)
def test_ctrl_c_ends_a_wait(package):
    # Compiled code such as cuda.core's raises the driver's error first, and then Python comes to KeyboardInterrupt.
    done = run(
        package,
        """
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    try:
        wait()
    except Exception as error:
        print(error, file=sys.stderr)
except KeyboardInterrupt:
    print("interrupted")
""",
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


@pytest.mark.parametrize("package", PROGRAMS)
def test_the_interpreter_leaves(package):
    assert run(package, "sys.exit(3)").returncode == 3
