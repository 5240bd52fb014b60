"""OpenMP and OpenACC of gcc, whose offloading compiler makes PTX that its library gives to the driver."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from test_driver_clients import driver_folder

HERE = Path(__file__).parent
COMPILER = "gcc-12"


def has_offloading():
    if shutil.which(COMPILER) is None:
        return False
    asked = [COMPILER, "-print-file-name=accel/nvptx-none/mkoffload"]
    return Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()).is_absolute()


@pytest.mark.parametrize("language", ["openmp", "openacc"])
def test_programs_run_on_the_device(language, tmp_path):
    folder = driver_folder()
    if folder is None or not has_offloading():
        pytest.skip("no CPU device, or no gcc-12-offload-nvptx")
    program = tmp_path / language
    source = HERE / f"{language}_offload.c"
    libraries = ["-foffload-options=-lm -latomic", "-lm"]
    # The assembler of the offloading compiler has a ptxas in PATH check what it makes, and new ones refuse its target.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")} | {
        "PATH": "/usr/bin:/bin"
    }
    compiled = subprocess.run(
        [COMPILER, "-O2", f"-f{language}", "-foffload=nvptx-none", source, "-o", program, *libraries],
        env=plain,
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr
    environment = plain | {
        "LD_LIBRARY_PATH": str(folder),
        "CUCORE_CPU_REPORT": "stderr",
        "OMP_TARGET_OFFLOAD": "MANDATORY",
        "ACC_DEVICE_TYPE": "nvidia",
    }
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr
    assert done.stdout.endswith("0 failures\n"), done.stdout
