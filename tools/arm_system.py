"""A folder with what 64-bit Arm programs of this project are built against and run on: Debian's packages for arm64 and
Python's for aarch64, unpacked and not installed, so that nothing of this machine changes and no Arm program has to run.

`tools/arm_system.py FOLDER` makes it, or brings it up to date: apt finds the packages, with a state of its own.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITE = "bookworm"  # its Python and g++ are those of the machine that builds
# As BUILD_PACKAGES of the Makefile, of which cmake, ninja, ccache and the compiler are this machine's own.
PACKAGES = [
    *("libc6-dev", "libstdc++-12-dev", "llvm-19-dev", "libboost-context-dev", "liblz4-dev", "libzstd-dev"),
    *("zlib1g-dev", "libcli11-dev", "python3-dev", "python3-minimal", "libpython3-stdlib", "libgtest-dev"),
    "libgmock-dev",
]
# The Python packages that tests and programs import there; versions are those of tools/requirements*.txt.
PYTHON_PACKAGES = [
    *("nanobind", "numpy", "nvidia-cuda-cccl", "nvidia-cuda-crt", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime"),
    *(
        "nvidia-nvjitlink",
        "nvidia-nvvm",
        "cloudpickle",
        "exceptiongroup",
        "iniconfig",
        "packaging",
        "pluggy",
        "Pygments",
        "pytest",
    ),
    *("pytest-timeout", "tomli", "typing_extensions"),
]
PYTHON_FOLDER = "usr/lib/python3/site-packages"  # for PYTHONPATH: Debian's own are elsewhere
PLATFORMS = [f"manylinux_2_{minor}_aarch64" for minor in (17, 24, 27, 28, 34)] + ["manylinux2014_aarch64"]


def mirror():
    """The address from which this machine has Debian's packages."""
    for file in (*Path("/etc/apt").glob("sources.list.d/*.sources"), *Path("/etc/apt").glob("**/*.list")):
        for line in file.read_text().splitlines():
            words = line.split()
            if words[:1] in (["URIs:"], ["deb"]) and "debian" in line:
                return next(word for word in words[1:] if "://" in word)
    raise SystemExit("arm_system.py: apt's sources in /etc/apt name no mirror of Debian: add one")


def fetch(folder):
    """Downloads PACKAGES and what they depend on, for arm64; returns their files."""
    state = folder.parent / f"{folder.name}-apt"
    for name in ("state/lists/partial", "cache/archives/partial", "etc"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()  # nothing is installed
    keys = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    (state / "etc/sources.list").write_text(f"deb {keys} {mirror()} {SUITE} main\n")
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "true",
        "Dir::State": state / "state",
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
        "Dir::Etc::sourcelist": state / "etc/sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "install", "--yes", "--download-only", *PACKAGES], check=True)
    return sorted((state / "cache/archives").glob("*.deb"))


def unpack(packages, folder):
    """Unpacks Debian packages, all into one folder."""
    for name in ("bin", "lib", "sbin"):  # one tree, as Debian has it
        (folder / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"usr/{name}")
    for package in packages:
        content = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
        left_out = ["--exclude=./usr/share/doc/*", "--exclude=./usr/share/man/*", "--exclude=./usr/share/locale/*"]
        command = ["tar", "-x", "--no-same-owner", "--keep-directory-symlink", *left_out, "-C", folder]
        subprocess.run(command, stdin=content.stdout, check=True)
        if content.wait() != 0:
            sys.exit(f"{package}: not unpacked")


def place_packages(folder):
    """LLVM's package names a library by the path that it has on Arm."""
    exports = folder / "usr/lib/llvm-19/lib/cmake/llvm/LLVMExports.cmake"
    libraries = "/usr/lib/aarch64-linux-gnu/"
    exports.write_text(re.sub(rf"(?<=[;\"]){libraries}", f"{folder}{libraries}", exports.read_text()))


def python_requirements():
    """PYTHON_PACKAGES with the versions of tools/requirements*.txt."""
    pinned = {}
    for file in ("requirements-wheels.txt", "requirements-test.txt", "requirements.txt"):
        for line in (ROOT / "tools" / file).read_text().splitlines():
            if match := re.match(r"([\w.-]+)==", line):
                pinned[match[1].lower()] = line.strip()
    return [pinned.get(name.lower(), name) for name in PYTHON_PACKAGES]


def add_python_packages(python, folder):
    """Puts Python's packages for aarch64 into PYTHON_FOLDER."""
    target = folder / PYTHON_FOLDER
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    chosen = ["--only-binary=:all:", "--no-deps", "--implementation=cp", "--python-version=3.11", *platforms]
    pip = [python, "-m", "pip", "install", "-q", "--upgrade", "--disable-pip-version-check"]
    subprocess.run([*pip, *chosen, "--target", target, *python_requirements()], check=True)


def make(folder, python=sys.executable):
    """Makes the folder, if it is not what this file would make."""
    folder = folder.absolute()
    wanted = "\n".join((Path(__file__).read_text(), *python_requirements()))
    said = folder / "made-of"
    if said.exists() and said.read_text() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    unpack(fetch(folder), folder)
    place_packages(folder)
    add_python_packages(python, folder)
    said.write_text(wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    make(parser.parse_args().folder)


if __name__ == "__main__":
    os.umask(0o022)
    main()
