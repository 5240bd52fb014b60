"""A launch does not become more expensive: instructions of cucore's own code, compared with the recorded counts."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_a_launch_takes_no_more_instructions_than_recorded():
    done = subprocess.run(
        [sys.executable, ROOT / "bench/launch_costs.py", "--check"], capture_output=True, text=True, timeout=600
    )
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
