"""behaviours.py, run with cuda.core and with this package on one driver: the same results, errors and warnings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cucore

# What differs on purpose, and why.
DIFFERENT = {
    'core.VirtualMemoryResourceOptions(granularity="none")': "refused where it is made, not where it is used",
    'core.ProgramOptions(arch="sm_90", include_path="").as_bytes("nvrtc")': "an empty path is none",
    'core.ProgramOptions(arch="sm_90", fdevice_time_trace=False).as_bytes("nvrtc")': "False is no file called 'False'",
    "core.Kernel.from_handle(0)": "a null handle is no kernel",
}


def outcomes(package, folder):
    # The driver that this process uses is found by name in the other one.
    driver = Path(cucore.driver_info().path).parent
    path = os.pathsep.join(filter(None, [str(driver), os.environ.get("LD_LIBRARY_PATH")]))
    program = Path(__file__).parent / "behaviours.py"
    done = subprocess.run(
        [sys.executable, str(program), package],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "LD_LIBRARY_PATH": path},
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split("\t") for line in done.stdout.splitlines())


def test_each_behaviour_is_that_of_the_peer_but_for_those_that_differ_on_purpose(device, tmp_path):
    pytest.importorskip("cuda.core", reason="cuda-core is not installed: nothing to compare with")
    theirs, ours = outcomes("cuda.core", tmp_path), outcomes("cucore", tmp_path)
    assert len(theirs) > 100 and theirs.keys() == ours.keys()
    different = {expression: (theirs[expression], ours[expression]) for expression in theirs}
    different = {expression: both for expression, both in different.items() if both[0] != both[1]}
    assert {expression: both for expression, both in different.items() if expression not in DIFFERENT} == {}
    assert different.keys() == DIFFERENT.keys()
