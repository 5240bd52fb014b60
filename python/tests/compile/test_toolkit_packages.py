"""The compilers of CUDA 12 and 13 are found among Python's packages, wherever each keeps them.

CUCORE_TEST_TOOLKITS names site-packages folders of environments with such packages, to compile and link with each:
    pip install --target=DIR/site-packages nvidia-cuda-nvrtc-cu12 nvidia-nvjitlink-cu12 nvidia-cuda-nvcc-cu12 \
        nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12
    pip install --target=DIR/site-packages nvidia-cuda-nvrtc nvidia-nvjitlink nvidia-nvvm nvidia-cuda-runtime \
        nvidia-cuda-cccl
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import run_python

import cucore

FIND = """
import json, sys
sys.path[:0] = sys.argv[1:]
import cucore
"""
FOUND = """
found = cucore.toolkit_info()
libraries = {name: getattr(found, name) for name in ("nvrtc", "nvjitlink", "nvvm")}
print(json.dumps({name: (str(one.path), one.version) for name, one in libraries.items()}))
print(json.dumps([str(folder) for folder in found.include_paths]))
"""
COMPILE = """
whole = '''
#include <cuda_fp16.h>
#include <cuda/std/limits>
__device__ int f(int);
extern "C" __global__ void k(int* p) { *p = f(cuda::std::numeric_limits<int>::max()); }
'''
part = "__device__ int f(int x) { return x - 3; }"
device = cucore.Device()
device.set_current()
stream = device.create_stream()
memory = cucore.LegacyPinnedMemoryResource().allocate(4)
for kind, option in (("ptx", "relocatable_device_code"), ("ltoir", "link_time_optimization")):
    compiled = {"arch": "sm_80", "std": "c++17", option: True}
    linked = {"arch": "sm_80", **({option: True} if kind == "ltoir" else {})}
    units = [cucore.Program(text, "c++", compiled).compile(kind) for text in (whole, part)]
    code = cucore.Linker(*units, options=linked).link("cubin")
    memoryview(memory).cast("B")[:] = bytes(4)
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=1), code.get_kernel("k"), memory)
    stream.sync()
    assert memoryview(memory).cast("B").cast("i")[0] == 2**31 - 4
print("ok")
"""
TOOLKITS = [folder for folder in os.environ.get("CUCORE_TEST_TOOLKITS", "").split(os.pathsep) if folder]


HIDDEN = ("CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV")


def run_with(packages, program, tmp_path):
    # A copy that has none of NVIDIA's packages beside it; and with -S none of this environment is seen.
    own = tmp_path / "own"
    shutil.copytree(Path(cucore.__file__).parent, own / "cucore", symlinks=True)
    kept = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    if cucore.driver_info().kind == "cpu":
        kept["CUCORE_CPU_DRIVER"] = cucore.driver_info().path
    done = subprocess.run(
        [sys.executable, "-S", "-c", FIND + program, own, packages],
        capture_output=True,
        text=True,
        timeout=300,
        env={**kept, "PYTHONPATH": "", "CUCORE_CPU_CACHE": "0"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_packages_of_cuda_12_have_a_folder_each(tmp_path):
    info = cucore.toolkit_info()
    packages = tmp_path / "site-packages"
    places = {"nvrtc": "cuda_nvrtc/lib", "nvjitlink": "nvjitlink/lib", "nvvm": "cuda_nvcc/nvvm/lib64"}
    for name, place in places.items():
        library = Path(getattr(info, name).path)
        (packages / "nvidia" / place).mkdir(parents=True)
        file_name = "libnvvm.so" if name == "nvvm" else library.name
        (packages / "nvidia" / place / file_name).symlink_to(library)
    headers = packages / "nvidia" / "cuda_runtime" / "include"
    headers.mkdir(parents=True)
    (headers / "cuda_fp16.h").touch()
    libraries, folders = (json.loads(line) for line in run_with(packages, FOUND, tmp_path).splitlines())
    for name, place in places.items():
        assert Path(libraries[name][0]).parent == packages / "nvidia" / place
    assert folders == [str(headers)]


@pytest.mark.parametrize("packages", TOOLKITS)
def test_the_compilers_of_an_environment_compile_and_link(packages, tmp_path):
    found, _, said = run_with(packages, FOUND + COMPILE, tmp_path).splitlines()
    libraries = json.loads(found)
    assert all(path.startswith(packages) for path, _ in libraries.values()), libraries
    assert libraries["nvrtc"][1][0] == libraries["nvjitlink"][1][0]
    assert said == "ok"


@pytest.mark.parametrize("variable", ["CUCORE_NVRTC", "CUCORE_NVJITLINK", "CUCORE_NVVM"])
def test_a_variable_that_names_a_missing_file_is_an_error_that_names_both(variable, tmp_path):
    missing = tmp_path / "missing.so"
    program = """
        import cucore
        ir = 'target triple = "nvptx64-nvidia-cuda"'
        uses = {
            "CUCORE_NVRTC": lambda: cucore.compile_ptx("", {"arch": "sm_80"}),
            "CUCORE_NVJITLINK": lambda: cucore.Linker.which_backend(),
            "CUCORE_NVVM": lambda: cucore.Program(ir, "nvvm", {"arch": "sm_80"}),
        }
        variable, = [name for name in uses if name in __import__("os").environ]
        try:
            uses[variable]()
            print("passed over")
        except RuntimeError as error:
            print(str(error))
    """
    result = run_python(program, env={variable: str(missing)})
    assert f"{missing} ({variable}): no such file" in result.stdout, result.stdout + result.stderr
