"""What the CPU device says of environment variables whose values mean nothing: on standard error, and it goes on."""

import os
import subprocess
import sys

import pytest

import cucore

pytestmark = pytest.mark.skipif(cucore.driver_info().kind != "cpu", reason="the CPU device's variables")

LAUNCH = """
from cucore import Device, LaunchConfig, Program, launch
device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program('extern "C" __global__ void k() {}', "c++").compile("ptx").get_kernel("k")
launch(stream, LaunchConfig(grid=1, block=32), kernel)
stream.sync()
"""

MEANINGLESS = {
    "CUCORE_CPU_FORM": ("vectr", "none of auto, auto-at-once, scalar, vector, masked; it is as if it were auto"),
    "CUCORE_CPU_DEVICES": ("two", "no number from 0 to 64; it is as if it were 1"),
    "CUCORE_CPU_MULTIPROCESSORS": ("3x", "no number from 1 to 1024; it is as if it were "),
    "CUCORE_CPU_COMPUTE_CAPABILITY": ("nine", "no compute capability such as 8.0; it is as if it were 9.0"),
    "CUCORE_CPU_TIMEOUT": ("soon", "no number of seconds; there is no limit"),
    "CUCORE_CPU_REPORT": ("stdrr", "neither stderr nor forms"),
    "CUCORE_CPU_CHECK": ("memroy", "none of memory, race, init, sync, fp, all"),
    "CUCORE_CPU_CHECK_SEED": ("x", "no number"),
}


def test_values_that_mean_nothing_are_told():
    values = {variable: value for variable, (value, _) in MEANINGLESS.items()}
    done = subprocess.run([sys.executable, "-c", LAUNCH], env={**os.environ, **values}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    for variable, (value, fault) in MEANINGLESS.items():
        told = [line for line in lines if line.startswith(f"cucore CPU device: {variable}: '{value}' is {fault}")]
        assert len(told) == 1, (variable, lines)
    assert len(lines) == len(MEANINGLESS)
