"""Clients that we did not write, unmodified, on the CPU device through LD_LIBRARY_PATH: each script here is a program
that uses cuda.core or cuda.bindings of NVIDIA, and prints one line for each thing it tried."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    if "two_devices" in script.stem:
        environment["CUCORE_CPU_DEVICES"] = "2"
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)
    failed = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
    assert done.returncode == 0 and not failed, done.stdout + done.stderr
    assert "ok " in done.stdout
