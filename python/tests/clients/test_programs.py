"""programs/: each as it is, for cuda.core, and with the import changed to this package: both print the same."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cucore

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
ENVIRONMENT = {
    "CUCORE_CPU_COMPUTE_CAPABILITY": "9.0",
    "CUCORE_CPU_DEVICES": "2",
    "CUCORE_CPU_MULTIPROCESSORS": "32",
    "CUCORE_CPU_CACHE": "0",
}


# What the driver of an H200 refuses cuda.core, and what needs the versions of tools/requirements-test.txt.
NOT_ON_GPUS = {
    "advice": "the memory of a managed pool takes no advice there (CUDA_ERROR_NOT_SUPPORTED)",
    "machine": "names of NVML's errors are those of cuda-bindings 13.5",
    "shares_of_the_device": "counts for each group need cuda-core 1.2.2 and a driver of CUDA 13.1",
}


def printed(program, source):
    driver = Path(cucore.driver_info().path).parent  # found by name in the other process
    path = os.pathsep.join(filter(None, [str(driver), os.environ.get("LD_LIBRARY_PATH")]))
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **ENVIRONMENT, "LD_LIBRARY_PATH": path},
    )
    assert done.returncode == 0, f"{program.name}: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_needs_only_its_imports_changed(device, program):
    pytest.importorskip("cuda.core", reason="cuda-core is not installed: nothing to compare with")
    if program.stem == "clusters" and cucore.driver_info().kind != "cpu" and device.compute_capability < (9, 0):
        pytest.skip("needs compute capability 9.0")
    if program.stem in NOT_ON_GPUS and cucore.driver_info().kind != "cpu":
        pytest.skip(NOT_ON_GPUS[program.stem])
    source = program.read_text()
    theirs = printed(program, source)
    assert theirs
    ours = re.sub(r"^from cuda\.core\b", "from cucore", source, flags=re.MULTILINE)
    assert printed(program, ours) == theirs


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 20
