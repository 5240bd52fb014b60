"""The nvcc beside the CPU device, called as PyCUDA calls NVIDIA's, and what it refuses."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_driver_clients import KERNELS_NOT_KEPT, driver_folder

KERNEL = """
#include <stdio.h>
#include <stdint.h>
#include <cmath>
#include <cstdint>
#include <assert.h>
#include <cuda_fp16.h>
#include "mine.h"
int for_the_host(int a) { return a + 1; }
extern "C" __global__ void k(int* out, float x, int64_t n) {
  assert(n > 0);
  *out = mine((int)std::sqrt(x)) + FACTOR + (int)__half2float(__float2half(x)) + (M_PI > 3 ? 1 : 0);
}
"""

LOAD = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def ok(code): assert code == 0, code
ok(cuda.cuInit(0))
context, module, function, out = (ctypes.c_void_p() for _ in range(4))
ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
ok(cuda.cuCtxSetCurrent(context))
ok(cuda.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()))
ok(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k"))
ok(cuda.cuMemAllocManaged(ctypes.byref(out), ctypes.c_size_t(4), 1))
values = [out, ctypes.c_float(16), ctypes.c_int64(1)]
arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
ok(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None))
ok(cuda.cuCtxSynchronize())
print(ctypes.c_int.from_address(out.value).value)
"""


@pytest.fixture
def nvcc(tmp_path):
    """Runs it in a folder with sources, where no nvcc of NVIDIA's is to be found."""
    folder = driver_folder()
    found = importlib.util.find_spec("nvidia")
    roots = [Path(each) / "cu13/lib" for each in (found.submodule_search_locations if found else [])]
    root = next((each for each in roots if (each / "libnvrtc.so.13").exists()), None)
    if folder is None or root is None or not (folder / "bin/nvcc").exists():
        pytest.skip("no CPU device with programs beside it, or no NVRTC among the Python packages")
    (tmp_path / "kernel.cu").write_text(KERNEL)
    (tmp_path / "mine.h").write_text("template <class T> __device__ T mine(T a) { return 2 * a; }\n")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}

    def run(*options, **environment):
        environment = {**plain, "PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(root), **environment}
        command = [folder / "bin/nvcc", *options]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def result_of(image):
        environment = {**plain, **KERNELS_NOT_KEPT, "LD_LIBRARY_PATH": str(folder)}
        command = [sys.executable, "-c", LOAD, image]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    run.folder, run.result_of = tmp_path, result_of
    return run


def test_what_pycuda_asks_for_is_done(nvcc):
    status, text = nvcc("--version")
    assert status == 0 and "release 13." in text
    if shutil.which("c++", path="/usr/bin:/bin"):
        options = ["-arch", "sm_90", "-I.", "-DFACTOR=3", "kernel.cu", "--compiler-options", "-P"]
        status, text = nvcc("--preprocess", *options)
        assert status == 0 and "mine((int)std::sqrt(x)) + 3" in text, text
    status, text = nvcc("--cubin", "-arch", "sm_90", "-I.", "-DFACTOR=3", "kernel.cu")
    assert (status, text) == (0, "")
    cubin = (nvcc.folder / "kernel.cubin").read_bytes()
    assert b".text.k" in cubin and b".visible .entry k(" in cubin  # machine code, and PTX
    assert nvcc.result_of("kernel.cubin") == 28


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--ptx", "-arch=compute_80"], "kernel.ptx"),
        (["-ptx", "-gencode", "arch=compute_80,code=[sm_80,compute_80]", "-o", "named"], "named"),
        (["--fatbin", "-arch=sm_90a", "-O3", "--std=c++17", "-Xcompiler", "-fPIC", "-w"], "kernel.fatbin"),
        (
            ["--cubin", "-arch=native", "-use_fast_math", "-lineinfo", "-Xptxas=-v", "-m64", "-odir", "."],
            "kernel.cubin",
        ),
    ],
)
def test_every_form_of_device_code_runs(nvcc, options, output):
    status, text = nvcc(*options, "-D", "FACTOR=4", "kernel.cu")
    assert status == 0, text
    assert nvcc.result_of(output) == 29


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["kernel.cu", "-o", "program"], 1, "device code alone"),
        (["-c", "kernel.cu"], 1, "--compile: cucore's nvcc makes device code alone"),
        (["-dc", "kernel.cu"], 1, "--device-c: cucore's nvcc makes device code alone"),
        (["--cubin", "kernel.cu", "kernel.cu"], 1, "one source"),
        (["--cubin"], 1, "No input files"),
        (["--cubin", "nothing.cu"], 1, "Could not open input file 'nothing.cu'"),
        (["--cubin", "--no-such-option", "kernel.cu"], 1, "Unknown option '--no-such-option'"),
        (["--cubin", "-arch=gfx90a", "kernel.cu"], 1, "Unsupported gpu architecture 'gfx90a'"),
        (["--cubin", "kernel.cu"], 2, 'kernel.cu(12): error: identifier "FACTOR" is undefined'),
    ],
)
def test_what_it_cannot_do_is_said_and_leaves_no_file(nvcc, options, status, said):
    assert nvcc(*options)[0] == status and said in nvcc(*options)[1]
    assert not (nvcc.folder / "kernel.cubin").exists()


def test_an_nvcc_of_nvidias_does_all_and_its_cubins_get_their_ptx(nvcc):
    """What passes for it writes down what it was told, PTX if it was asked for that, else a cubin."""
    (nvcc.folder / "bin").mkdir()
    images = Path(__file__).parent.parent.parent / "cpu/tests/images"
    script = f"""#!/bin/sh
echo "$@" >> told
case "$*" in *--ptx*) text=yes;; *) text=no;; esac
while [ $# -gt 1 ] && [ "$1" != -o ]; do shift; done
if [ $text = yes ]; then echo .version 8.0 > "$2"; elif [ "$1" = -o ]; then cp {images}/machine_code_only.cubin "$2"; fi
"""
    (nvcc.folder / "bin/nvcc").write_text(script)
    (nvcc.folder / "bin/nvcc").chmod(0o755)
    assert nvcc("-c", "kernel.cu", "-foo", CUDA_HOME=".") == (0, "")
    assert (nvcc.folder / "told").read_text() == "-c kernel.cu -foo\n"
    assert nvcc("--cubin", "-arch=sm_80", "kernel.cu", "-o", "out", CUDA_HOME=".") == (0, "")
    cubin = (nvcc.folder / "out").read_bytes()
    assert b".text.scale" in cubin and b".cucore.ptx" in cubin and b".version 8.0\n\0" in cubin


@pytest.mark.parametrize(
    ("options", "besides"),
    [
        (["-arch=native"], "90"),
        (["-gencode", "arch=compute_80,code=sm_80", "-forward-unknown"], "80"),
        (["--generate-code=code=[sm_80,sm_90a],arch=compute_80", "-gencode=arch=compute_75,code=sm_75"], "90a"),
        (["-arch=compute_80", "-code", "sm_86,sm_100"], "100"),
        (["-arch=sm_80"], ""),
        (["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_75,code=compute_75"], ""),
        (["-gencode", "arch=compute_80,code=[sm_80,lto_80]"], ""),
        (["-gencode", "arch=compute_80,code=sm_80", "-ptx"], ""),
        ([], ""),
    ],
)
def test_programs_for_gpus_alone_get_ptx_besides(nvcc, options, besides):
    (nvcc.folder / "bin").mkdir()
    (nvcc.folder / "bin/nvcc").write_text('#!/bin/sh\necho "$@"\n')
    (nvcc.folder / "bin/nvcc").chmod(0o755)
    wanted = f" -gencode arch=compute_{besides},code=compute_{besides}" if besides else ""
    told = " ".join([*options, "kernel.cu", "-o", "program"]) + wanted + "\n"
    assert nvcc(*options, "kernel.cu", "-o", "program", CUDA_HOME=".") == (0, told)
