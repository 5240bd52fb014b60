"""`make wheels`: the wheels of both distributions, in build/wheels: cucore for each CPython of this machine, and
cucore-cpu-device, which serves them all.

A wheel is built by its own pyproject.toml, given the platform tag that auditwheel finds for it, and refused if it needs
anything of a system but glibc of 2.36 or older and libgcc_s, if it exports what others could take, or if it is not
stripped. The build tools are those of tools/requirements-wheels.txt, in .setup/wheels: no isolated environment, so that
the compiler's cache knows the files again.

With `--arm FOLDER` they are those for 64-bit Arm, cross-built against the folder that tools/arm_system.py made, for the
version of Python that is in it; give the interpreter of that version with `--python`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".setup/wheels"  # importable by every Python: nothing in it that is compiled is imported
BUILD = ROOT / "build-wheel"  # as deep as build/, for the compiler's cache
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.14t")
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0"}
SYSTEM_LIBRARIES |= {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
NEWEST_GLIBC = (2, 36)  # of Debian 12
# Whose terms lie in a wheel, for what is linked into it.
LICENSES = {
    "cucore": {"cucore", "nanobind", "robin_map", "dlpack", "cli11"},
    "cucore_cpu_device": {"cucore", "llvm-19-dev", "liblz4-dev", "libzstd-dev", "zlib1g-dev"},
}


def describe(python):
    """What an interpreter says of itself: its version, with a t where there is no GIL; empty if it cannot build."""
    code = (
        "import os, sys, sysconfig as s; t = 't' if s.get_config_var('Py_GIL_DISABLED') else ''; "
        "print('%d.%d' % sys.version_info[:2] + t if sys.implementation.name == 'cpython' and "
        "os.path.exists(os.path.join(s.get_path('include'), 'Python.h')) else '')"
    )
    said = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True)
    return said.stdout.strip() if said.returncode == 0 else ""


def interpreters():
    """One interpreter of each version that this machine has: the system's first, then those of PATH and of pyenv."""
    found = {}
    pyenv = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin"))
    folders = [Path("/usr/bin"), Path("/usr/local/bin"), *map(Path, os.get_exec_path()), *pyenv]
    for version in VERSIONS:
        for folder in folders:
            python = folder / f"python{version}"
            if os.access(python, os.X_OK) and describe(python) == version:
                found[version] = python
                break
    return found


def build(source, python, output, arm=None):
    """Builds the wheel of the project in `source` for an interpreter; returns its file, not yet checked."""
    shutil.rmtree(BUILD, ignore_errors=True)
    settings = {
        "build-dir": str(BUILD),
        "cmake.define.CUCORE_DEVELOPER": "ON",  # the same warnings as build/: the same objects to the compiler's cache
        "cmake.define.CUCORE_TOOLKIT_DIR": "",
    }
    nanobind = next(ROOT.glob(".venv/lib/python3*/site-packages/nanobind/cmake"), None)
    if nanobind is not None:
        settings["cmake.define.nanobind_ROOT"] = str(nanobind)
    env = {**os.environ, "PYTHONPATH": str(TOOLS), "CXX": "c++"}
    if arm:
        settings["cmake.define.CMAKE_TOOLCHAIN_FILE"] = str(ROOT / "cmake/aarch64-linux-gnu.cmake")
        settings["cmake.define.CUCORE_ARM_SYSTEM"] = str(arm.absolute())
        env["CXX"] = "aarch64-linux-gnu-g++"
        env["_PYTHON_HOST_PLATFORM"] = "linux-aarch64"  # what Python says of where it runs, and so the wheel's name
    code = f"import scikit_build_core.build as backend; backend.build_wheel({str(output)!r}, {settings!r})"
    run([python, "-c", code], cwd=source, env=env)
    return next(output.glob("*.whl"))


def run(command, **options):
    """Runs a command; shows what it printed, and ends this program, if it fails."""
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-8000:]}\n{command[0]}: exit status {done.returncode}")
    return done.stdout


def give_platform_tag(wheel, output):
    """The wheel under the name of the oldest manylinux that its symbols allow."""
    env = {**os.environ, "PYTHONPATH": str(TOOLS), "PATH": f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        run([sys.executable, "-m", "auditwheel", "repair", "-w", folder, wheel], env=env)
        (repaired,) = Path(folder).iterdir()
        problems = faults(repaired)
        if problems:
            sys.exit(f"{repaired.name} is not fit to be given away:\n  " + "\n  ".join(problems))
        shutil.move(repaired, output / repaired.name)
    return output / repaired.name


def faults(wheel):
    """What is wrong with a wheel, a line each."""
    problems = []
    package = wheel.name.partition("-")[0]
    with zipfile.ZipFile(wheel) as archive:
        terms = {Path(name).stem for name in archive.namelist() if name.startswith(f"{package}/licenses/")}
    problems += (f"lacks the terms of {part}" for part in sorted(LICENSES[package] - terms))
    glibc = re.search(r"manylinux_(\d+)_(\d+)_", wheel.name)
    if glibc is None or tuple(map(int, glibc.groups())) > NEWEST_GLIBC:
        problems.append(f"needs more than glibc {'.'.join(map(str, NEWEST_GLIBC))}")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if re.search(r"[.]libs/", name):
                problems.append(f"{name}: a library of this system was copied into it")
            beside = {Path(other).name for other in archive.namelist() if Path(other).parent == Path(name).parent}
            with archive.open(name) as file:
                if file.read(4) == b"\x7fELF":
                    problems += (f"{name}: {fault}" for fault in faults_of_binary(archive.read(name), beside))
    return problems


def faults_of_binary(content, beside):
    """`beside`: the files in its folder, which it may need."""
    sys.path.insert(0, str(TOOLS))
    import io

    from elftools.elf.elffile import ELFFile

    elf = ELFFile(io.BytesIO(content))
    if elf.get_section_by_name(".symtab") or elf.get_section_by_name(".debug_info"):
        yield "is not stripped"
    dynamic = elf.get_section_by_name(".dynamic")
    needed = {tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"} if dynamic else set()
    for library in sorted(needed - SYSTEM_LIBRARIES - beside):
        yield f"needs {library}"
    symbols = elf.get_section_by_name(".dynsym")
    exported = [s.name for s in symbols.iter_symbols() if s["st_shndx"] != "SHN_UNDEF"] if symbols else []
    # C++ names, which could clash with those of other libraries in the process; other code cannot bind to a program's.
    if elf.header.e_type == "ET_DYN" and not elf.get_section_by_name(".interp"):
        leaked = [name for name in exported if name.startswith("_Z")]
        if leaked:
            yield f"exports {len(leaked)} names of C++, {leaked[0]} among them"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build/wheels", help="the folder of the wheels")
    parser.add_argument("--python", action="append", type=Path, help="an interpreter, instead of all that are found")
    parser.add_argument("--arm", type=Path, metavar="FOLDER", help="for 64-bit Arm, against this folder")
    parser.add_argument("--list", action="store_true", help="print the interpreters that would be used, and end")
    arguments = parser.parse_args()
    pythons = interpreters()
    if arguments.python:
        pythons = {describe(python): python for python in arguments.python}
        if "" in pythons:
            sys.exit(f"{pythons['']}: is no CPython with its headers (Debian: python3-dev)")
    if arguments.list:
        print(*(f"{version}  {python}" for version, python in pythons.items()), sep="\n")
        return
    if not pythons:
        sys.exit(f"no CPython of {', '.join(VERSIONS)} with its headers (Debian: python3-dev)")
    arguments.output.mkdir(parents=True, exist_ok=True)
    any_python = next(iter(pythons.values()))
    for source, python in [(ROOT / "python/cpu_device", any_python), *((ROOT, python) for python in pythons.values())]:
        with tempfile.TemporaryDirectory() as folder:
            wheel = give_platform_tag(build(source, python, Path(folder), arguments.arm), arguments.output)
        print(f"{wheel.stat().st_size / 1e6:5.1f} MB  {wheel}", flush=True)
    shutil.rmtree(BUILD, ignore_errors=True)


if __name__ == "__main__":
    main()
