"""The command-line tool of this build, and how tests run it.

No conftest.py: workers of python/tests import one of that name.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def tool():
    built = ROOT / "build/cli/cucore"
    found = str(built) if built.exists() else shutil.which("cucore", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the command-line tool is not built")
    return found


@pytest.fixture
def run(tool, tmp_path):
    """Runs the tool where there is no GPU and with caches of its own."""

    def command(*words, **environment):
        own = {"CUCORE_DEVICE": "cpu", "CUCORE_CACHE_DIR": str(tmp_path / "cache"), "CUCORE_CPU_CACHE": "0"}
        return subprocess.run(
            [tool, *map(str, words)],
            env={**os.environ, **own, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    command.tool = tool
    return command
