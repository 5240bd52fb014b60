"""Clients that we did not write, unmodified, on the CPU device through LD_LIBRARY_PATH: each script here is a program
that uses cuda.core or cuda.bindings of NVIDIA, and prints one line for each thing it tried."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS_NOT_KEPT = {"CUCORE_CPU_CACHE": "0"}  # a test leaves nothing among the user's, unless it is told where to
SCRIPTS = sorted(path for path in Path(__file__).parent.glob("cuda_*.py"))


def driver_folder():
    """The CPU device under test, or None."""
    named = os.environ.get("CUCORE_CPU_DRIVER")
    if named:
        return Path(named).resolve().parent
    try:
        import cucore

        info = cucore.driver_info()
    except Exception:  # no driver at all: nothing to test here
        return None
    return Path(info.path).resolve().parent if info.kind == "cpu" else None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_client_finds_all_it_calls(script):
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.core") is None:
        pytest.skip("cuda.core is not installed")
    folder = driver_folder()
    if folder is None or not (folder / "companions").is_dir():
        pytest.skip("no CPU device")
    environment = {**KERNELS_NOT_KEPT, **os.environ, "LD_LIBRARY_PATH": str(folder)}
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    environment["CUCORE_CPU_DEVICES"] = "2" if "two_devices" in script.stem else "1"
    if "tensor_maps" in script.stem:
        environment["CUCORE_CPU_COMPUTE_CAPABILITY"] = "9.0"
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)
    failed = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
    assert done.returncode == 0 and not failed, done.stdout + done.stderr
    assert "ok " in done.stdout


def test_the_checker_lets_a_warp_hand_over_a_map():
    folder = driver_folder()
    if folder is None:
        pytest.skip("no CPU device")
    environment = {**KERNELS_NOT_KEPT, **os.environ, "LD_LIBRARY_PATH": str(folder)}
    environment |= {"CUCORE_CPU_COMPUTE_CAPABILITY": "9.0", "CUCORE_CPU_CHECK": "memory,race"}
    script = Path(__file__).parent / "cuda_tensor_maps.py"
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)
    assert "ok a_kernel_makes_a_map_of_zeros" in done.stdout, done.stdout
    assert "Race" not in done.stderr, done.stderr


def test_nvml_answers_for_the_devices_of_the_driver():
    if importlib.util.find_spec("pynvml") is None or importlib.util.find_spec("cuda") is None:
        pytest.skip("nvidia-ml-py or cuda.bindings is not installed")
    folder = driver_folder()
    if folder is None or not (folder / "libnvidia-ml.so.1").exists():
        pytest.skip("no CPU device")
    script = Path(__file__).parent / "nvml_client.py"
    environment = {**KERNELS_NOT_KEPT, **os.environ, "LD_LIBRARY_PATH": str(folder), "CUCORE_CPU_DEVICES": "2"}
    for name in ("CUDA_VISIBLE_DEVICES", "CUCORE_CPU_COMPUTE_CAPABILITY"):
        environment.pop(name, None)
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines and all(line.startswith("ok ") for line in lines), done.stdout + done.stderr


def cuda_headers():
    """The folder with cuda.h: of CUDA_HOME or of the Python packages."""
    if os.environ.get("CUDA_HOME"):
        return Path(os.environ["CUDA_HOME"]) / "include"
    found = importlib.util.find_spec("nvidia")
    folders = [Path(each) / "cu13" / "include" for each in (found.submodule_search_locations if found else [])]
    return next((folder for folder in folders if (folder / "cuda.h").exists()), None)


def run_program(program, folder):
    environment = {**KERNELS_NOT_KEPT, **os.environ, "LD_LIBRARY_PATH": str(folder)}
    environment.pop("CUCORE_CPU_COMPUTE_CAPABILITY", None)
    done = subprocess.run([str(program)], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.endswith(f"ok {program.name}\n"), done.stdout + done.stderr


def test_a_c_program_against_the_header_runs(tmp_path):
    folder, headers, compiler = driver_folder(), cuda_headers(), shutil.which("cc")
    if folder is None or headers is None or compiler is None:
        pytest.skip("no CPU device, no cuda.h, or no C compiler")
    source = Path(__file__).parent / "c_client.c"
    program = tmp_path / "c_client"
    command = [compiler, "-std=c99", "-Wall", "-Werror", f"-I{headers}", str(source), "-o", str(program)]
    for library in ([str(folder / "libcuda.so.1")], [f"-L{folder}", "-lcuda"]):
        subprocess.run([*command, *library], check=True, timeout=60)
        run_program(program, folder)


@pytest.mark.parametrize("library", ["libcudart.so.13", "libcudart_static.a"])
def test_a_c_program_on_the_run_time_library_runs(tmp_path, library):
    folder, compiler = driver_folder(), shutil.which("cc")
    found = importlib.util.find_spec("nvidia")
    roots = [Path(each) / "cu13" for each in (found.submodule_search_locations if found else [])]
    root = next((each for each in roots if (each / "lib" / library).exists()), None)
    if folder is None or compiler is None or root is None:
        pytest.skip("no CPU device, no run-time library among the Python packages, or no C compiler")
    source = Path(__file__).parent / "c_runtime_client.c"
    program = tmp_path / "c_runtime_client"
    command = [compiler, "-std=c99", "-Wall", "-Werror", f"-I{root / 'include'}", str(source), "-o", str(program)]
    linked = [str(root / "lib" / library), f"-Wl,-rpath,{root / 'lib'}", "-ldl", "-lpthread", "-lrt"]
    subprocess.run([*command, *linked], check=True, timeout=60)
    run_program(program, folder)


@pytest.mark.parametrize("units", ["one unit", "units linked on the device"])
def test_a_program_that_nvcc_compiled_runs(tmp_path, units):
    folder, nvcc = driver_folder(), shutil.which("nvcc")
    if folder is None or nvcc is None:
        pytest.skip("no CPU device or no nvcc")
    here = Path(__file__).parent
    program = tmp_path / "runtime_program"
    sources = [str(here / "runtime_program.cu")]
    if units != "one unit":
        sources += [str(here / "runtime_program_unit.cu"), "-rdc=true"]
    subprocess.run([nvcc, "-arch=sm_80", *sources, "-o", str(program)], check=True, timeout=300)
    run_program(program, folder)


ASK = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
for attribute in (88, 100):  # pageable memory access, and through the host's page tables
    answer = ctypes.c_int(-1)
    assert cuda.cuDeviceGetAttribute(ctypes.byref(answer), attribute, 0) == 0
    print(answer.value)
"""


@pytest.mark.parametrize("check, answer", [("", "1"), ("race", "1"), ("memory", "0"), ("all", "0")])
def test_programs_are_told_that_the_memory_checker_does_not_know_the_hosts_heap(check, answer):
    folder = driver_folder()
    if folder is None:
        pytest.skip("no CPU device")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "CUCORE_CPU_CHECK": check}
    done = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [answer, answer]
