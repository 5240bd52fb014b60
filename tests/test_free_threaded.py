r"""The extension built for a Python without a GIL, where such a build is at hand: CUCORE_FREE_THREADED_PYTHON, or a
python3.13t or python3.14t on the PATH, with nanobind in it.

All tests of the package run there, too, with the CPU device of build/ and the toolkit of .venv/ (those of packages that
have no wheels for it are skipped):

    python3.14t -m venv build/free-threaded
    build/free-threaded/bin/pip install nanobind==2.15.0 numpy pytest cloudpickle
    cmake -S . -B build/free-threaded/build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCUCORE_BUILD_PYTHON=ON \
      -DCUCORE_BUILD_CPU_DEVICE=OFF -DPython_EXECUTABLE=$PWD/build/free-threaded/bin/python
    cmake --build build/free-threaded/build --target cucore_python
    cmake --install build/free-threaded/build --component python --prefix build/free-threaded/site
    CUCORE_DEVICE=cpu CUCORE_CPU_DRIVER=$PWD/build/cpu/driver/libcuda.so.1 PYTHONPATH=build/free-threaded/site \
      CUDA_HOME=$(echo $PWD/.venv/lib/python3.*/site-packages/nvidia/cu13) \
      build/free-threaded/bin/python -m pytest python/tests
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
IS_READY = "import nanobind, sys; sys.exit(sys._is_gil_enabled())"


def free_threaded_python():
    named = [os.environ.get("CUCORE_FREE_THREADED_PYTHON"), *map(shutil.which, ("python3.14t", "python3.13t"))]
    for python in filter(None, named):
        if subprocess.run([python, "-c", IS_READY], capture_output=True).returncode == 0:
            return python
    pytest.skip("no free-threaded Python with nanobind in it is at hand")


def test_threads_share_everything_without_a_gil(tmp_path):
    python = free_threaded_python()
    build, site = tmp_path / "build", tmp_path / "site"
    options = [
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        "-DCUCORE_BUILD_CPU_DEVICE=OFF",
        f"-DPython_EXECUTABLE={python}",
    ]
    if ccache := shutil.which("ccache"):
        options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}")
    for command in (
        ["cmake", "-S", ROOT, "-B", build, "-DCUCORE_BUILD_PYTHON=ON", *options],
        ["cmake", "--build", build, "--target", "cucore_python"],
        ["cmake", "--install", build, "--component", "python", "--prefix", site],
    ):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    # The compiler, its headers and the CPU device are those of the environment that runs this test.
    nvidia = Path(sys.prefix) / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/nvidia/cu13"
    environment = {"CUDA_HOME": str(nvidia)} if "CUDA_HOME" not in os.environ and nvidia.exists() else {}
    cpu_device = ROOT / "build/cpu/driver/libcuda.so.1"
    if "CUCORE_CPU_DRIVER" not in os.environ and cpu_device.exists():
        environment["CUCORE_CPU_DRIVER"] = str(cpu_device)
    done = subprocess.run(
        [python, str(ROOT / "tests/free_threaded_program.py")],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment, "PYTHONPATH": str(site)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
