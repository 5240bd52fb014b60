"""What the tests share: a device that is current, a stream, and kernels compiled once.

The tests run on whatever driver CUCORE_DEVICE chooses; nothing here knows which it is.
"""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import cucore

os.environ.setdefault("CUCORE_CPU_CACHE", "0")  # a test leaves nothing among the user's compiled kernels

SAXPY = """
template <class T> __global__ void saxpy(T a, const T* x, const T* y, T* out, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
"""


def compile_cubin(source, names=(), **options):
    """Compiled for the device the tests run on."""
    options.setdefault("arch", f"sm_{cucore.Device().arch}")
    return cucore.Program(source, "c++", options).compile("cubin", names)


def launch_on_arrays(stream, config, kernel, *arguments):
    """Launches a kernel whose NumPy arguments go to the device and come back; what it left in them is returned."""
    pinned = cucore.LegacyPinnedMemoryResource()
    buffers, views, passed = [], [], []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            buffers.append(pinned.allocate(argument.nbytes))
            views.append(np.frombuffer(memoryview(buffers[-1]), argument.dtype)[: argument.size])
            views[-1][:] = argument.ravel()
            argument = buffers[-1]
        passed.append(argument)
    cucore.launch(stream, config, kernel, *passed)
    stream.sync()
    return [view.copy() for view in views]


def run_python(source, *arguments, env=None, timeout=120):
    """A program in a process of its own; returns the finished process. One that hangs prints where, and fails."""
    command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(source), *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
    )
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # faulthandler prints the stacks of all threads
        stdout, stderr = process.communicate()
        pytest.fail(f"no end after {timeout} s\n{stdout}{stderr}")
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def run_check(device, file, call):
    """`call`, of the names in a test module's file, in a process of its own and on compute capability 9.0, for what
    came with it: clusters, bulk copies and tensor maps. A GPU that is older skips the test."""
    if cucore.driver_info().kind != "cpu" and device.compute_capability < (9, 0):
        pytest.skip("needs compute capability 9.0")
    module = Path(file).stem
    program = f"import sys; sys.path[:0] = sys.argv[1:]; import {module}; {module}.{call}"
    environment = {"CUCORE_CPU_COMPUTE_CAPABILITY": "9.0", "CUCORE_CPU_CACHE": "0"}
    done = run_python(program, Path(file).parent, Path(__file__).parent, env=environment)
    assert done.returncode == 0, done.stderr


def build_stand_in(source, library, *options, for_any_driver=False):
    """Compiles a driver of these tests, which forwards to the one in use, into the file `library`."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    if not for_any_driver and cucore.driver_info().kind != "cpu":
        pytest.skip("stands in for the CPU device")
    path = Path(__file__).parent / "drivers" / source
    subprocess.run([compiler, "-shared", "-fPIC", *options, "-o", library, path, "-ldl"], check=True)
    return library


@pytest.fixture
def device():
    device = cucore.Device()
    device.set_current()
    return device


@pytest.fixture
def stream(device):
    with device.create_stream() as stream:
        yield stream
        if not stream.is_closed:
            stream.sync()


@pytest.fixture
def pinned():
    return cucore.LegacyPinnedMemoryResource()


@pytest.fixture(scope="session")
def saxpy_code():
    return compile_cubin(SAXPY, ["saxpy<float>", "saxpy<double>"])
