"""The ptxas beside the CPU device: its options, what it says, the cubins it writes, and Triton, which calls it."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_driver_clients import KERNELS_NOT_KEPT, driver_folder

GOOD = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
BAD = GOOD.replace("ret;", "mov.u32 %r1, 5;\nret;")
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def programs():
    folder = driver_folder()
    if folder is None or not (folder / "bin/ptxas").exists():
        pytest.skip("no CPU device with programs beside it")
    return folder / "bin"


@pytest.fixture
def ptxas(programs, tmp_path):
    """Runs it in an empty folder, where no ptxas of NVIDIA's is to be found unless `path` leads there."""
    (tmp_path / "good.ptx").write_text(GOOD)
    (tmp_path / "bad.ptx").write_text(BAD)

    def run(*options, path="/usr/bin:/bin", **settings):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}
        environment |= {"PATH": f"{programs}:{path}"}
        command = [programs / "ptxas", *options]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, **settings)
        return done.returncode, done.stdout + done.stderr

    run.folder = tmp_path
    return run


@pytest.mark.parametrize(
    "options",
    [
        ["-arch=sm_90", "good.ptx"],
        ["--gpu-name", "sm_90a", "-O3", "--fmad=false", "-lineinfo", "good.ptx"],
        ["-v", "-g", "--opt-level", "0", "--regAllocOptLevel=2", "--gpu-name=sm_90", "good.ptx", "-maxrregcount", "32"],
        ["-c", "-m64", "-arch", "sm_80", "-ias", GOOD],
        ["-optf", "options"],
    ],
)
def test_a_cubin_carries_the_ptx(ptxas, options):
    (ptxas.folder / "options").write_text("-arch sm_80 --warning-as-error\n good.ptx")
    status, text = ptxas(*options, "-o", "out.cubin")
    assert status == 0, text
    cubin = (ptxas.folder / "out.cubin").read_bytes()
    assert cubin.startswith(b"\x7fELF") and cubin.count(GOOD.encode() + b"\0") == 1 and b".cucore.ptx" in cubin
    assert cubin[18] == 190  # EM_CUDA


def test_ptx_comes_from_standard_input_and_a_cubin_goes_where_nobody_said(ptxas):
    assert ptxas("-arch=sm_80", "-", input=GOOD) == (0, "")
    assert GOOD.encode() in (ptxas.folder / "elf.o").read_bytes()


def test_for_a_virtual_architecture_ptx_is_only_checked(ptxas):
    assert ptxas("-arch=compute_80", "good.ptx", "-o", "out.cubin") == (0, "")
    assert not (ptxas.folder / "out.cubin").exists()
    assert ptxas("-arch=compute_80", "bad.ptx")[0] == 255


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-arch=sm_80", "bad.ptx"], "ptxas bad.ptx, line 4; error   : "),
        (["-arch=sm_75", "good.ptx"], "SM version specified by .target is higher"),
        (["good.ptx"], "SM version specified by .target is higher"),
        (["-arch=sm_80", "nothing.ptx"], "Input file 'nothing.ptx' could not be opened"),
        (["-arch=sm_80"], "No input file"),
        (["-arch=sm_80", "good.ptx", "bad.ptx"], "More than one input file"),
        (["--gpu-name=gfx90a", "good.ptx"], "Value 'gfx90a' is not defined for option 'gpu-name'"),
        (["--no-such-option", "good.ptx"], "Unknown option '--no-such-option'"),
        (["-arch=sm_80", "good.ptx", "-o"], "argument expected after '-o'"),
        (["-arch=sm_80", "good.ptx", "-o", "no/such/folder"], "could not be written"),
    ],
)
def test_what_it_cannot_do_is_said_and_ends_with_nvidias_status(ptxas, options, said):
    status, text = ptxas(*options)
    assert status == 255 and said in text and text.startswith("ptxas "), text
    assert not (ptxas.folder / "elf.o").exists()


def test_its_version_is_one_that_clients_read(ptxas):
    status, text = ptxas("--version")
    assert status == 0 and "release 13.0, V13.0" in text


@pytest.fixture
def other(ptxas):
    """What passes for NVIDIA's ptxas: writes a cubin of its own, or says `says` and fails."""
    folder = ptxas.folder / "toolkit"
    folder.mkdir()
    shutil.copy(HERE.parent.parent / "cpu/tests/images/machine_code_only.cubin", folder)

    def write(says=""):
        fails = f"echo 'ptxas fatal   : {says}' >&2; exit 255" if says else ""
        copies = 'while [ "$1" != -o ]; do shift; done; cp "$(dirname "$0")/machine_code_only.cubin" "$2"'
        (folder / "ptxas").write_text(
            f"#!/bin/sh\n[ $1 = --version ] && echo release 13.9 && exit\n{fails}\n{copies}\n"
        )
        (folder / "ptxas").chmod(0o755)
        return f"{folder}:/usr/bin:/bin"

    return write


def test_machine_code_is_by_nvidias_ptxas_where_there_is_one(ptxas, other):
    path = other()
    assert "release 13.9" in ptxas("--version", path=path)[1]
    assert ptxas("-arch=sm_80", "good.ptx", "-o", "out.cubin", path=path) == (0, "")
    cubin = (ptxas.folder / "out.cubin").read_bytes()
    assert b".text.scale" in cubin and GOOD.encode() in cubin


def test_what_nvidias_ptxas_refuses_is_refused_unless_it_is_too_old(ptxas, other):
    path = other("uses too much shared data")
    status, text = ptxas("-arch=sm_80", "good.ptx", path=path)
    assert status == 255 and "too much shared data" in text
    path = other("Unsupported .version 8.0; current version is 7.0")
    status, text = ptxas("-arch=sm_80", "good.ptx", "-o", "out.cubin", path=path)
    assert status == 0 and "too old" in text and "current version is 7.0" in text
    assert GOOD.encode() in (ptxas.folder / "out.cubin").read_bytes()


@pytest.mark.parametrize("calls", ["{stand_in}", "PATH=${{PATH#*:}} ptxas"], ids=["by its path", "the next in PATH"])
def test_a_script_called_ptxas_that_calls_it_again_comes_to_an_end(ptxas, programs, other, calls):
    """A client is given one of the two, which each look for the other; behind both there may be NVIDIA's."""
    folder = ptxas.folder / "wrapper"
    folder.mkdir()
    script = folder / "ptxas"
    call = calls.format(stand_in=programs / "ptxas")
    script.write_text(f'#!/bin/sh\necho "$1" >> {ptxas.folder}/calls\n{call} "$@"\n')
    script.chmod(0o755)
    for path, has_code in ((f"{folder}:{programs}:/usr/bin:/bin", False), (f"{folder}:{programs}:{other()}", True)):
        for first in (programs / "ptxas", script):
            (ptxas.folder / "calls").write_text("")
            environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}
            command = [first, "-arch=sm_80", "good.ptx", "-o", "out.cubin"]
            settings = {"cwd": ptxas.folder, "env": environment | {"PATH": path}, "timeout": 60}
            done = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
            assert done.returncode == 0, done.stderr
            cubin = (ptxas.folder / "out.cubin").read_bytes()
            assert (b".text.scale" in cubin) == has_code and cubin.count(GOOD.encode() + b"\0") == 1
            assert len((ptxas.folder / "calls").read_text().splitlines()) <= 2


@pytest.mark.parametrize("program", ["triton_programs.py", "triton_products.py", "triton_language.py"])
def test_programs_in_triton_agree_with_numpy(program, programs, tmp_path):
    if importlib.util.find_spec("triton") is None or shutil.which("cc") is None:
        pytest.skip("no Triton, or no C compiler, which it calls")
    environment = {**KERNELS_NOT_KEPT, **os.environ, "LD_LIBRARY_PATH": str(programs.parent)}
    environment |= {f"TRITON_PTXAS{each}_PATH": str(programs / "ptxas") for each in ("", "_BLACKWELL")}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path), "TRITON_LIBCUDA_PATH": str(programs.parent)}
    environment.pop("CUCORE_CPU_COMPUTE_CAPABILITY", None)
    command = [sys.executable, "-W", "ignore", HERE / program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    failed = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
    assert done.returncode == 0 and not failed and "ok " in done.stdout, done.stdout + done.stderr[-4000:]
