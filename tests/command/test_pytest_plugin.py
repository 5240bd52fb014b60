"""Runs of pytest with the plugin, in processes of their own: the driver that tests of other libraries find, markers,
and tests that fail for what the checker found in their kernels."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("cucore.pytest_plugin") is None:
    pytest.skip("the package is not installed", allow_module_level=True)

SITE = str(Path(importlib.util.find_spec("cucore").origin).resolve().parents[1])

COUNT = """
import ctypes
def count():
    cuda, number = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(number)) == 0
    cuda.cucore_cpu_device_version()  # a GPU's driver has no such function
    return number.value
"""
PLANTED = """
import cucore, pytest
SOURCE = "extern \\"C\\" __global__ void fill(int* out) { out[threadIdx.x] = 1; }"
def launch(threads):
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    kernel = cucore.Program(SOURCE, "c++", {"arch": "sm_80"}).compile("cubin").get_kernel("fill")
    out = device.allocate(40, stream=stream)
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=threads), kernel, out)
def test_before(): launch(10)
def test_wrong(): launch(11)
def test_wrong_twice():
    launch(12)
    raise ValueError("of its own")
def test_after(): launch(10)
"""


@pytest.fixture
def run(tmp_path):
    """Runs pytest on a file with these contents, with no library path set."""

    def pytest_on(contents, *words, conftest="", **environment):
        (tmp_path / "test_it.py").write_text(contents)
        (tmp_path / "conftest.py").write_text(conftest)
        kept = {
            k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH" and not k.startswith(("CUCORE", "PYTEST"))
        }
        kept["PYTHONPATH"] = SITE
        plugin = [] if registered() else ["-p", "cucore.pytest_plugin"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, *words, "test_it.py"],
            cwd=tmp_path,
            env={**kept, "CUCORE_CPU_CACHE": "0", **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return pytest_on


def registered():
    from importlib.metadata import entry_points

    return any(each.value == "cucore.pytest_plugin" for each in entry_points(group="pytest11"))


def test_any_library_finds_the_cpu_device(run):
    done = run(COUNT + "def test_it(): assert count() == 1", "--cucore=cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cucore: cpu" in done.stdout


def test_two_devices_are_presented(run):
    done = run(COUNT + "def test_it(): assert count() == 2", "--cucore-devices=2")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_ini_file_says_it_too(run):
    done = run(COUNT + "def test_it(): assert count() == 1", "-o", "cucore=cpu")
    assert done.returncode == 0, done.stdout + done.stderr


def test_processes_that_tests_start_find_it(run):
    program = COUNT + "def test_it():\n  import subprocess, sys\n"
    program += "  subprocess.run([sys.executable, '-c', 'import ctypes; ctypes.CDLL(\"libcuda.so.1\")."
    program += "cucore_cpu_device_version()'], check=True)\n"
    done = run(program, "--cucore=cpu")
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_options_nothing_is_changed(run):
    done = run("import os\ndef test_it(): assert 'CUCORE_DEVICE' not in os.environ")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cucore:" not in done.stdout


def test_markers_choose_what_runs(run):
    tests = "import pytest\n@pytest.mark.gpu_only\ndef test_a(): pass\n@pytest.mark.cpu_only\ndef test_b(): pass\n"
    done = run(tests, "--cucore=cpu", "--strict-markers", "-rs")
    assert "1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "gpu_only, and the tests run on the CPU device" in done.stdout


def test_findings_fail_the_test_that_caused_them(run):
    done = run(PLANTED, "--cucore-check=memory", "-rA", "--tb=short")
    lines = re.findall(r"^(PASSED|FAILED) test_it.py::(\w+)", done.stdout, re.MULTILINE)
    verdicts = {name: verdict for verdict, name in lines}
    assert verdicts == {
        "test_before": "PASSED",
        "test_wrong": "FAILED",
        "test_wrong_twice": "FAILED",
        "test_after": "PASSED",
    }, done.stdout + done.stderr
    failure = done.stdout.split("test_wrong __")[1].split("test_wrong_twice __")[0]
    assert "Invalid __global__ write of size 4 bytes" in failure and "in kernel fill" in failure
    assert "ValueError: of its own" in done.stdout and "cucore checker" in done.stdout


NUMBERS = """
import cucore
SOURCE = "extern \\"C\\" __global__ void inverse(float* x) { x[threadIdx.x] = 1.0f / x[threadIdx.x]; }"
def launch(value):
    device = cucore.Device()
    device.set_current()
    stream = device.create_stream()
    options = {"arch": "sm_80", "lineinfo": True, "name": "inverse.cu"}
    kernel = cucore.Program(SOURCE, "c++", options).compile("cubin").get_kernel("inverse")
    x = device.allocate(40, stream=stream)
    x.fill(value, stream=stream)
    cucore.launch(stream, cucore.LaunchConfig(grid=1, block=10), kernel, x)
    stream.sync()
def test_finite(): launch(0x40)
def test_infinite(): launch(0)
def test_finite_again(): launch(0x40)
"""


def test_the_first_infinity_fails_the_test_that_made_it(run):
    done = run(NUMBERS, "--cucore-check=fp", "-rA", "--tb=short")
    lines = re.findall(r"^(PASSED|FAILED) test_it.py::(\w+)", done.stdout, re.MULTILINE)
    verdicts = {name: verdict for verdict, name in lines}
    assert verdicts == {"test_finite": "PASSED", "test_infinite": "FAILED", "test_finite_again": "PASSED"}, (
        done.stdout + done.stderr
    )
    assert "Division by zero" in done.stdout and "inverse.cu:1" in done.stdout and "1 / 0 = inf" in done.stdout
    quiet = run(NUMBERS, "--cucore-check=fp", CUCORE_CPU_CHECK_FP_QUIET="division=inverse")
    assert quiet.returncode == 0, quiet.stdout + quiet.stderr


def test_a_run_whose_driver_is_loaded_already_restarts_once(run, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    compiler = "cc"
    source = "int cuInit(unsigned flags) { return 100 + (int)flags; }"
    built = subprocess.run(
        [compiler, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-xc", "-", "-o", str(other / "libcuda.so.1")],
        input=source,
        text=True,
    )
    if built.returncode != 0:
        pytest.skip("no C compiler")
    (tmp_path / "early.py").write_text(
        "import ctypes, os\n"
        f"open({str(tmp_path / 'starts')!r}, 'a').write('x')\n"
        f"if not os.environ.get('LD_LIBRARY_PATH'): ctypes.CDLL({str(other / 'libcuda.so.1')!r})\n"
    )
    path = f"{tmp_path}:{SITE}"
    words = ["-p", "early", "--cucore=cpu"]
    done = run(COUNT + "def test_it(): assert count() == 1", *words, PYTHONPATH=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout and (tmp_path / "starts").read_text() == "xx"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cucore=gpu", "--cucore-devices=2"], "--cucore-devices is for --cucore=cpu"),
        (["--cucore-check=memry"], "memry is not one of memory"),
    ],
)
def test_wrong_options_are_refused(run, words, said):
    done = run("def test_it(): pass", *words)
    assert done.returncode == 4 and said in done.stderr, done.stdout + done.stderr


SUITES = {
    "numba.cuda": """
import numpy
from numba import cuda
@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size: a[i] *= 2
def test_it():
    a = numpy.arange(40, dtype=numpy.int32)
    double[2, 32](a)
    assert a[39] == 78
""",
    "cuda.core": """
from cuda.core import Device, Program, ProgramOptions, LaunchConfig, launch
def test_it():
    device = Device(); device.set_current(); stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    program = Program('extern "C" __global__ void k(int* a) { *a = 7; }', "c++", options)
    kernel = program.compile("cubin").get_kernel("k")
    memory = device.allocate(4, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, memory)
    stream.sync()
    assert "CPU device" in device.name
""",
    "cuda.bindings": """
from cuda.bindings import driver
def test_it():
    assert driver.cuInit(0)[0] == 0
    assert b"CPU device" in driver.cuDeviceGetName(100, 0)[1]
""",
}


@pytest.mark.parametrize("library", SUITES)
def test_other_libraries_run(run, library):
    if importlib.util.find_spec(library.split(".")[0]) is None or importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    done = run(SUITES[library], "--cucore=cpu")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_script_gets_it_by_an_import(run, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import cucore.cpu_device\n" + COUNT + "print(count(), cucore.cpu_device.folder)\n")
    kept = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "CUCORE_CPU_DEVICES")}
    kept["PYTHONPATH"] = SITE
    done = subprocess.run([sys.executable, script], env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 /")
