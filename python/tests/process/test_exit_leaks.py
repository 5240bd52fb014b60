"""However a process ends, it has given back its memory of the device: the exit matrix under compute-sanitizer's leak
check, on a GPU. (On the CPU device, which counts objects of every kind, test_exit.py itself looks.)"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from exit_scenarios import SCENARIOS, START
from exit_threads import THREADS

import cucore

# What ends without Python's own end, or while other threads go on, gives nothing back: those say so by this variable.
# What a graph kept goes when a thread of NVIDIA's driver comes to it, which it need not before the process ends.
LATE = ("graphs, their nodes and callbacks", "atexit makes and runs a graph")
COUNTED = {
    name: scenario
    for name, scenario in (SCENARIOS | THREADS).items()
    if scenario.environment.get("CUCORE_CPU_REPORT_LEAKS") != ""
    and not scenario.cpu_only
    and scenario.status >= 0
    and "_exit(" not in scenario.text
    and not name.startswith(LATE)
}
FOUND = 86  # an exit status that no scenario has
NEVER_CALLED = "terminated before first instrumented API call"  # instead of a summary, of what opened no driver


def leaks(text, environment=None):
    """The sanitizer's summary; None if nothing leaked."""
    sanitizer = shutil.which("compute-sanitizer", path=os.pathsep.join([str(cuda_bin()), os.environ.get("PATH", "")]))
    if sanitizer is None:
        pytest.skip("compute-sanitizer is not installed")
    options = ["--tool", "memcheck", "--leak-check", "full", "--report-api-errors", "no", "--show-backtrace", "no"]
    done = subprocess.run(
        [sanitizer, *options, "--error-exitcode", str(FOUND), sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **(environment or {})},
    )
    said = done.stdout + done.stderr
    assert "ERROR SUMMARY" in said or NEVER_CALLED in said, said
    return None if done.returncode != FOUND else said


def cuda_bin():
    return Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin"


@pytest.fixture(autouse=True)
def on_a_gpu():
    if cucore.driver_info().kind != "gpu":
        pytest.skip("compute-sanitizer needs a GPU")


@pytest.mark.parametrize("name", COUNTED)
def test_nothing_leaks(name):
    scenario = COUNTED[name]
    found = leaks(START + ("make()\n" if scenario.made else "") + scenario.text, scenario.environment)
    assert found is None, found


@pytest.mark.parametrize("kept", ["device.allocate(4096, stream=stream)", "pinned"])
def test_what_nobody_gives_back_is_found(kept):
    found = leaks(START + f"make()\nimport ctypes\nctypes.pythonapi.Py_IncRef(ctypes.py_object({kept}))\n")
    assert found is not None and "leaked in 1 allocations" in found
