"""One CPU device in a process, however it was found: cucore and others that use CUDA know each other's objects."""

import shutil
from pathlib import Path

import pytest
from conftest import run_python

import cucore

COPIES = """
import os
import sys
def copies():
    with open("/proc/self/maps") as maps:
        return sorted({os.path.realpath(line.split()[-1]) for line in maps if "/libcuda.so." in line})
"""
USE_BY_BINDINGS = """
from cuda.bindings import driver
def use_by_bindings():
    assert driver.cuInit(0)[0] == 0
    return driver.cuDeviceGetName(99, driver.CUdevice(0))[0]
"""
USE_BY_NUMBA = """
def use_by_numba():
    from numba import cuda  # looks for the driver
    return cuda.current_context().get_memory_info()
"""
USE_BY_CUCORE = """
import cucore
def use_by_cucore():
    device = cucore.Device()
    device.set_current()
    return device
"""
CHECK = """
assert copies() == [os.path.realpath(sys.argv[1])], copies()
assert os.path.realpath(cucore.driver_info().path) == os.path.realpath(sys.argv[1])
print("one")
"""
ONE_CONTEXT = """
from cuda.bindings import driver
stream = cucore.Device().create_stream()
assert driver.cuStreamQuery(driver.CUstream(int(stream.handle)))[0] == 0
assert int(driver.cuCtxGetCurrent()[1]) == int(cucore.Device().context.handle)
"""


@pytest.fixture
def own(device):
    """The CPU device that cucore finds when nothing is loaded."""
    if cucore.driver_info().kind != "cpu":
        pytest.skip("another driver is in use")
    return Path(cucore.driver_info().path).resolve()


@pytest.fixture
def other(own, tmp_path):
    """Another copy of the CPU device: of another installation."""
    return Path(shutil.copytree(own.parent, tmp_path / "other", symlinks=True)) / own.name


def run(*parts, argument, **environment):
    done = run_python("".join((COPIES, *parts)), argument, env={"CUCORE_DEVICE": "cpu", **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("use", ["bindings", "numba"])
def test_who_was_first_had_another_copy_and_cucore_takes_that(use, other):
    pytest.importorskip("cuda.bindings")
    pytest.importorskip("numba_cuda")
    users = {"bindings": USE_BY_BINDINGS, "numba": USE_BY_NUMBA}
    steps = f"use_by_{use}()\ndevice = use_by_cucore()\n"
    said = run(
        users[use],
        USE_BY_CUCORE,
        steps,
        ONE_CONTEXT,
        CHECK,
        argument=other,
        LD_LIBRARY_PATH=str(other.parent),
        NUMBA_CUDA_USE_NVIDIA_BINDING="1",
    )
    assert said == "one\n"


@pytest.mark.parametrize("use", ["bindings", "numba"])
def test_cucore_was_first_and_others_find_its_copy_by_name(use, own):
    pytest.importorskip("cuda.bindings")
    pytest.importorskip("numba_cuda")
    users = {"bindings": USE_BY_BINDINGS, "numba": USE_BY_NUMBA}
    steps = f"device = use_by_cucore()\nuse_by_{use}()\n"
    assert run(USE_BY_CUCORE, users[use], steps, ONE_CONTEXT, CHECK, argument=own, LD_LIBRARY_PATH="") == "one\n"


def test_cucore_was_first_and_the_search_path_has_another_copy(own, other):
    pytest.importorskip("cuda.bindings")
    steps = "device = use_by_cucore()\nuse_by_bindings()\n"
    path = {"LD_LIBRARY_PATH": str(other.parent)}
    assert run(USE_BY_CUCORE, USE_BY_BINDINGS, steps, ONE_CONTEXT, CHECK, argument=own, **path) == "one\n"


def test_a_copy_that_is_opened_by_its_path_is_taken(other):
    load = "import ctypes\nctypes.CDLL(sys.argv[1])\n"
    nvml = "from pathlib import Path\nfrom cucore import system\nsystem.get_num_devices()\n"
    nvml += "maps = Path('/proc/self/maps').read_text()\n"
    nvml += "assert str(Path(sys.argv[1]).resolve().with_name('libnvidia-ml.so.1')) in maps\n"
    assert run(load, USE_BY_CUCORE, "use_by_cucore()\n", CHECK, argument=other) == "one\n"
    assert run(load, USE_BY_CUCORE, nvml, CHECK, argument=other) == "one\n"


def test_who_opens_it_without_a_version_in_its_name_gets_the_same_copy(own):
    steps = "import ctypes\nassert ctypes.CDLL('libcuda.so').cuInit(0) == 0\nuse_by_cucore()\n"
    assert run(USE_BY_CUCORE, steps, CHECK, argument=own, LD_LIBRARY_PATH=str(own.parent)) == "one\n"


def test_a_package_that_is_imported_is_found_without_a_version_in_its_name(own):
    if own.with_name("libcuda.so").is_symlink():
        pytest.skip("not the Python package")
    steps = "import ctypes\nimport cucore.cpu_device\n"
    steps += "assert ctypes.CDLL('libcuda.so').cuInit(0) == 0\nuse_by_cucore()\n"
    assert run(USE_BY_CUCORE, steps, CHECK, argument=own, LD_LIBRARY_PATH="") == "one\n"


def test_a_second_copy_refuses_to_start_and_says_which_is_in_use(own, other):
    said = run(
        USE_BY_CUCORE,
        """
        import ctypes
        use_by_cucore()
        second = ctypes.CDLL(sys.argv[1])
        print(second.cuInit(0))
        text = ctypes.create_string_buffer(1000)
        second.cucore_cpu_last_report(text, 1000)
        print(text.value.decode())
        """.replace("        ", ""),
        argument=other,
    )
    code, text = said.splitlines()
    assert code == "803"  # CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    assert str(own) in text and "another copy of the CPU device" in text


def test_a_copy_that_another_setting_names_beside_a_loaded_one_is_refused(own, other):
    said = run(
        """
        import ctypes
        import cucore
        ctypes.CDLL(sys.argv[1])
        try:
            cucore.Device()
        except RuntimeError as error:
            print(error)
        """.replace("        ", ""),
        argument=other,
        CUCORE_CPU_DRIVER=str(own),
    )
    assert str(own) in said and str(other) in said and "already" in said
