"""Clients that we did not write, unmodified from PyPI, on the CPU device (LD_LIBRARY_PATH): NVIDIA's cuda.core, and
Numba-CUDA with the compilers that it uses."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cucore

QUICK_START = """
import sys
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

device = Device()
device.set_current()
print(device.name, device.arch)
stream = device.create_stream()
source = '''
template <typename T>
__global__ void vector_add(const T* a, const T* b, T* c, size_t n) {
  const unsigned int first = threadIdx.x + blockIdx.x * blockDim.x;
  for (size_t i = first; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}
'''
program = Program(source, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
code = program.compile("ptx", name_expressions=("vector_add<float>",))
kernel = code.get_kernel("vector_add<float>")

n = 50_000
pinned = LegacyPinnedMemoryResource()
hosts = [pinned.allocate(4 * n) for _ in range(3)]
arrays = [np.from_dlpack(host).view(np.float32) for host in hosts]
rng = np.random.default_rng(1)
arrays[0][:], arrays[1][:], arrays[2][:] = rng.random(n), rng.random(n), 0
buffers = [device.memory_resource.allocate(4 * n, stream=stream) for _ in range(3)]
buffers[0].copy_from(hosts[0], stream=stream)
buffers[1].copy_from(hosts[1], stream=stream)
config = LaunchConfig(grid=(n + 255) // 256, block=256)
launch(stream, config, kernel, buffers[0], buffers[1], buffers[2], np.uint64(n))
buffers[2].copy_to(hosts[2], stream=stream)
stream.sync()
assert np.array_equal(arrays[2], arrays[0] + arrays[1])
start = stream.record(options={"timing_enabled": True})
end = stream.record(options={"timing_enabled": True})
end.sync()
assert end - start >= 0
for thing in (*buffers, *hosts, stream):
    thing.close()
print("ok")
"""

LAUNCHES_BY_KERNELS = """
import sys
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, ObjectCode
from cuda.core import Program, ProgramOptions, launch

source = '''
extern "C" __global__ void leaf(int* out, int at) { out[1 + atomicAdd(out, 1)] = at; }
extern "C" __global__ void root(int* out) {
  leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(out, 3);
  for (int i = 0; i < 3; ++i) leaf<<<1, 1>>>(out, i);
}
'''
device = Device()
device.set_current()
stream = device.create_stream()
for kind in ("cubin", "ptx"):
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", relocatable_device_code=True)
    unit = Program(source, code_type="c++", options=options).compile(kind)
    library = ObjectCode.from_library(sys.argv[1])
    code = Linker(unit, library, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
    memory = LegacyPinnedMemoryResource().allocate(64)
    out = np.from_dlpack(memory).view(np.int32)
    out[:] = 0
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("root"), memory)
    stream.sync()
    assert list(out[:5]) == [4, 0, 1, 2, 3], out
print("ok")
"""


def on_the_cpu_device():
    """The environment in which a program finds the CPU device as libcuda.so.1, and our toolkit."""
    folder = str(Path(cucore.driver_info().path).resolve().parent)
    toolkit = str(Path(cucore.toolkit_info().nvrtc.path).parent)
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join([folder, toolkit, os.environ.get("LD_LIBRARY_PATH", "")])}


def test_cuda_core_runs_its_quick_start_on_the_cpu_device():
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.core") is None:
        pytest.skip("cuda.core is not installed")
    if cucore.driver_info().kind != "cpu":
        pytest.skip("another driver is in use")
    done = subprocess.run(
        [sys.executable, "-c", QUICK_START], capture_output=True, text=True, timeout=300, env=on_the_cpu_device()
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("ok\n")


def test_kernels_launch_kernels_when_cuda_core_linked_the_device_runtime():
    library = Path(cucore.toolkit_info().nvrtc.path).parent / "libcudadevrt.a"
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.core") is None:
        pytest.skip("cuda.core is not installed")
    if cucore.driver_info().kind != "cpu" or not library.exists():
        pytest.skip(f"another driver is in use, or there is no {library}")
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHES_BY_KERNELS, library],
        capture_output=True,
        text=True,
        timeout=300,
        env=on_the_cpu_device(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "ok\n"


def test_programs_in_numba_agree_with_numpy():
    if importlib.util.find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed")
    if cucore.driver_info().kind == "gpu":  # a machine whose packages may be others than ours
        tried = subprocess.run([sys.executable, "-c", "import numba.cuda.np.arrayobj"], capture_output=True, text=True)
        if tried.returncode != 0:
            pytest.skip(f"Numba-CUDA cannot be imported: {tried.stderr.splitlines()[-1]}")
    programs = Path(__file__).with_name("numba_programs.py")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", programs],
        capture_output=True,
        text=True,
        timeout=600,
        env=on_the_cpu_device() if cucore.driver_info().kind == "cpu" else None,
    )
    names = re.findall(r"@program\ndef (\w+)", programs.read_text())
    assert len(names) == 15 and done.stdout.splitlines() == [f"ok {name}" for name in names], done.stdout + done.stderr
    assert done.returncode == 0
