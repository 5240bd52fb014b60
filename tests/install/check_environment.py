"""What must hold in an environment into which pip has put cucore, told by its Python.

Removes the CPU device in the end, to see what is said without it.
"""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import cucore_cpu_device

import cucore

BIN = Path(sys.prefix) / "bin"


def said(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


assert importlib.metadata.version("cucore-cpu-device") == importlib.metadata.version("cucore") == cucore.__version__

# The command and both packages mean one CPU device, that of this environment.
package = Path(cucore_cpu_device.__file__).parent
assert said(BIN / "cucore", "driver-path") == (0, f"{package}\n")
assert said(sys.executable, "-m", "cucore_cpu_device") == (0, f"{package}\n")
assert (Path(cucore_cpu_device.tools()) / "nvcc").exists()

# The command finds pip's NVRTC with no Python to tell it.
status, text = said(BIN / "cucore", "doctor")
assert status == 0 and "Python packages" in text and str(package) in text, text

# No neighbour was asked for at one version only: PyTorch and others pin theirs.
for requirement in importlib.metadata.requires("cucore"):
    assert "==" not in requirement.split(";")[0], requirement

# Without the CPU device, the message says what to type.
assert said(sys.executable, "-m", "pip", "uninstall", "-q", "-y", "cucore-cpu-device")[0] == 0
status, text = said(BIN / "cucore", "driver-path")
assert status != 0 and "pip install cucore-cpu-device" in text, text
status, text = said(sys.executable, "-c", "import cucore; cucore.Device().name")
assert status != 0 and "pip install cucore-cpu-device" in text, text
print("all right")
