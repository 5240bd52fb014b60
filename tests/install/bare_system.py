"""`make test-install`: the wheels as a user meets them, in bare systems of Debian: no compiler, no LLVM, no toolkit.

Each system is made by debootstrap (as root; kept in build/bare for the next time) and entered by chroot. The wheels of
build/wheels are installed with pip, whatever they depend on comes from pip's index, and then a user's first programs
run. Prints a transcript with times; exit status 1 if a step failed. `--output FILE` writes it there as well.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SUITES = ("bookworm", "trixie")
PACKAGES = "python3,python3-venv,ca-certificates"
# (title, command, what its output must contain). The first step has to fail: nothing here can compile.
STEPS = (
    (
        "no compiler, no LLVM, no GPU",
        "! ls /usr/bin/*gcc* /usr/bin/*clang* /usr/lib/llvm* /dev/nvidia* 2>/dev/null",
        "",
    ),
    ("an environment", "python3 -m venv /root/env", ""),
    (
        "install",
        "/root/env/bin/pip install -q --no-cache-dir --find-links /root/wheels cucore && /root/env/bin/pip list",
        "cucore-cpu-device",
    ),
    ("the command finds all it needs", "/root/env/bin/cucore doctor", "CPU device"),
    ("where the CPU device lies", "/root/env/bin/cucore driver-path", "/site-packages/cucore_cpu_device"),
    ("the first program", "/root/env/bin/python /root/quick_start.py", "all right"),
    (
        "what the other examples need",
        "/root/env/bin/pip install -q --no-cache-dir numpy scipy scikit-image && echo installed",
        "installed",
    ),
    ("examples/quick_start.py", "/root/env/bin/python /root/examples/quick_start.py", ""),
    (
        "examples/image_pipeline",
        "/root/env/bin/python /root/examples/image_pipeline/main.py --output /root/out",
        "picture: ",
    ),
    (
        "without the CPU device the message says what to type",
        "/root/env/bin/pip uninstall -q -y cucore-cpu-device; ! /root/env/bin/cucore driver-path",
        "pip install cucore-cpu-device",
    ),
)


def mirror():
    """The address from which this system has its packages."""
    for file in (*Path("/etc/apt").glob("sources.list.d/*.sources"), *Path("/etc/apt").glob("**/*.list")):
        for line in file.read_text().splitlines():
            words = line.split()
            if words[:1] in (["URIs:"], ["deb"]):
                return next(word for word in words[1:] if "://" in word)
    sys.exit("no address of Debian's packages in /etc/apt")


def make_system(suite, folder):
    if (folder / "usr/bin/python3").exists():
        return
    subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", suite, folder, mirror()], check=True)


def prepare(folder, wheels):
    """Puts into a system what a user would have fetched, and how this machine reaches pip's index."""
    home = folder / "root"
    for name in ("env", "wheels", "examples", "out", ".cache"):
        shutil.rmtree(home / name, ignore_errors=True)
    shutil.copytree(wheels, home / "wheels")
    shutil.copytree(ROOT / "examples", home / "examples")
    shutil.copy(ROOT / "tests/install/quick_start.py", home)
    for file in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt"):
        if Path(file).exists():
            shutil.copy(file, folder / file.lstrip("/"))


def environment():
    """The variables of a command in a system: how pip reaches its index from here, and a user's own."""
    env = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_proxy")}
    env.pop("PIP_FIND_LINKS", None)
    return {**env, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}


@contextlib.contextmanager
def entered(folder):
    """A system with what the kernel gives: /proc, /dev, /sys."""
    mounts = [("proc", "proc"), ("devtmpfs", "dev"), ("sysfs", "sys"), ("tmpfs", "dev/shm")]
    mounted = []
    try:
        for kind, place in mounts:
            subprocess.run(["mount", "-t", kind, kind, folder / place], check=True)
            mounted.append(folder / place)
        yield
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", "-l", place], check=False)


def try_system(suite, folder, say):
    """Runs the steps in a system; the number of those that failed."""
    say(f"== {suite}: Debian {(folder / 'etc/debian_version').read_text().strip()}")
    failed = 0
    with entered(folder):
        for title, command, expected in STEPS:
            start = time.monotonic()
            done = subprocess.run(
                ["chroot", folder, "/bin/bash", "-c", command],
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=900,
            )
            well = done.returncode == 0 and expected in done.stdout
            failed += not well
            say(f"\n# {title}: {'ok' if well else 'FAILED'} in {time.monotonic() - start:.1f} s\n$ {command}")
            say("\n".join(line for line in done.stdout.splitlines() if "notice" not in line))
    return failed


def parse(description, names, **about_names):
    """The arguments of a test in bare systems, of which `names` are those without a dash."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--wheels", type=Path, default=ROOT / "build/wheels")
    parser.add_argument("--systems", type=Path, default=ROOT / "build/bare", help="the folder of the systems")
    parser.add_argument("--output", type=Path)
    parser.add_argument(names, nargs="*", **about_names)
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("debootstrap and chroot need root")
    return arguments


def main():
    arguments = parse(__doc__, "suites", default=SUITES)
    lines = []

    def say(text):
        print(text, flush=True)
        lines.append(text)

    failed = 0
    for suite in arguments.suites:
        folder = arguments.systems / suite
        make_system(suite, folder)
        prepare(folder, arguments.wheels)
        failed += try_system(suite, folder, say)
    say(f"\n{failed} steps failed" if failed else "\nall steps passed")
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
