"""`make test-arm`: builds everything for 64-bit Arm on this machine and runs it under qemu-user, part by part.

A part that is done is not run again until the build changes, so a run that was stopped goes on where it was:
build/arm/test-logs/results.json has what came of each, with its time. `--sample` is what `make test` runs of it, in
minutes and only where build/arm is there. Emulated, threads have the memory model of this machine: an x86-64 host shows
no reordering that it does not have itself.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import arm_system
from machine import machine
from tally import JOBS, PYTHON, ROOT, Tally, end_of, read_junit, run_logged, tests_of_ctest

BUILD = ROOT / "build/arm"
LOGS = BUILD / "test-logs"
RESULTS = LOGS / "results.json"
DRIVER = BUILD / "cpu/driver/libcuda.so.1"
SITE = BUILD / "site"
REGISTERED = Path("/proc/sys/fs/binfmt_misc/qemu-aarch64")
# These compile other programs, for this machine, or ask what an emulator has no answer for.
LEFT_OUT = {"install", "must_not_compile"}
FORMS = ("scalar", "vector", "masked")
SEEDS, SEEDS_AT_ONCE = 10000, 250
INSTRUCTIONS = ROOT / "cpu/tests/instructions"
# Tables that cannot come out right under qemu-user.
EMULATED = {"mov/mov.u64.clocks"}  # whose clock has steps of a microsecond


def system():
    """The folder that tools/arm_system.py makes; another place may be named."""
    return Path(os.environ.get("CUCORE_ARM_SYSTEM", ROOT / ".setup/arm-system"))


def arm_environment():
    return {
        "QEMU_LD_PREFIX": str(system()),
        "CUCORE_CPU_CACHE": str(BUILD / "test-kernel-cache"),
        "CUCORE_CPU_DRIVER": str(DRIVER),
        "CUCORE_DEVICE": "cpu",
        "PYTHONPATH": f"{SITE}{os.pathsep}{system() / arm_system.PYTHON_FOLDER}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def arm_python():
    return system() / "usr/bin/python3"


def register_emulator():
    """Lets the kernel start Arm's programs by itself, as Debian's package has it done where systemd runs: tests start
    other programs. Returns whether it does."""
    if REGISTERED.exists():
        return True
    kernel = REGISTERED.parent
    try:
        if not (kernel / "register").exists():
            subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", kernel], check=True, capture_output=True)
        (kernel / "register").write_bytes(Path("/usr/lib/binfmt.d/qemu-aarch64.conf").read_bytes())
    except (OSError, subprocess.CalledProcessError):
        return False
    return REGISTERED.exists()


def missing(needs_build=False):
    """What keeps Arm's programs from being made or run here, in words; empty if nothing does."""
    for program in ("aarch64-linux-gnu-g++", "qemu-aarch64-static"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if needs_build and not DRIVER.exists():
        return "nothing is built for it (`make test-arm` does, and runs all)"
    if not register_emulator():
        return "the kernel does not start programs for Arm: register qemu-aarch64 with binfmt_misc, as root"
    return ""


def build(log):
    """Configures, builds and lays out the Python package; 0 if all went well."""
    arm_system.make(system())
    nice = ["nice", "cmake"]
    steps = [
        ["cmake", "--preset", "arm", f"-DCUCORE_ARM_SYSTEM={system()}", f"-DPython_EXECUTABLE={PYTHON}"],
        [*nice, "--build", BUILD, "-j", JOBS],
        *(
            ["cmake", "--install", BUILD, "--component", part, "--prefix", SITE]
            for part in ("python", "python_cpu_device")
        ),
    ]
    return next((status for step in steps if (status := run_logged(log, step, timeout=4 * 3600))), 0)


@dataclass
class Part:
    name: str
    run: Callable[[Path], Tally]


def of_ctest(name, options=(), timeout=3600):
    """A test of CTest's, by its name."""

    def run(log):
        (test,) = (each for each in tests_of_ctest(BUILD) if each.name == name)
        command = [word for word in test.command if word not in emulator()]
        environment = {**arm_environment(), **test.environment}
        return test.run(log, environment, command=command, options=options, timeout=timeout)

    return run


def emulator():
    """What CTest puts before a program: here the kernel starts it, with the environment that its children get too."""
    return {"qemu-aarch64-static", "-L", str(system()), shutil.which("qemu-aarch64-static")}


def instructions(form, filters=()):
    """Every instruction against its table."""

    def run(log):
        command = [arm_python(), INSTRUCTIONS / "run_tests.py", "check", "--driver", DRIVER]
        command += [word for each in filters for word in ("--filter", each)]
        environment = {**arm_environment(), "CUCORE_CPU_FORM": form, "CUCORE_CPU_CACHE": "0"}
        status = run_logged(log, command, environment, timeout=6 * 3600)
        text = log.read_text(errors="replace")
        words = text.splitlines()[-1].replace(",", "").split()
        if len(words) != 6 or words[1::2] != ["passed", "failed", "skipped"]:
            return Tally.of(f"instructions, {form}", status or "0, no last line", log)
        passed, failed, skipped = map(int, words[::2])
        names = re.findall(r"^FAILED (\S+):", text, re.MULTILINE)
        failures = [f"instructions, {form}: {name}" for name in names if name not in EMULATED]
        return Tally(passed, failures, skipped + failed - len(failures))

    return run


def programs(seeds, form):
    """Random programs against the committed digests, which a GPU and x86-64 agreed on."""

    def run(log):
        command = [
            arm_python(),
            ROOT / "cpu/tests/differential/run.py",
            "--driver=cpu",
            f"--seeds={seeds.start}:{seeds.stop}",
            f"--form={form}",
            f"--out={LOGS / f'digests-{form}-{seeds.start}.txt.gz'}",
            f"--expect={ROOT / 'cpu/tests/differential/digests/cpu.txt.gz'}",
        ]
        status = run_logged(log, command, arm_environment(), timeout=6 * 3600)
        return Tally(len(seeds)) if status == 0 else Tally.of(f"programs {seeds}, {form}", status, log)

    return run


def pytest(folder):
    def run(log):
        report = LOGS / f"pytest-{folder.name}.xml"
        report.unlink(missing_ok=True)
        command = [arm_python(), "-m", "pytest", "-q", "-p", "cucore.pytest_plugin", f"--junitxml={report}", folder]
        environment = {**arm_environment(), "CUCORE_CPU_DEVICES": "2"}
        return read_junit(folder.name, report, run_logged(log, command, environment, timeout=4 * 3600), log)

    return run


def parts():
    """All of it, what says most first."""
    tests = ROOT / "python/tests"
    names = [each.name for each in tests_of_ctest(BUILD) if each.name not in LEFT_OUT]
    yield from (Part(f"ctest {name}", of_ctest(name)) for name in names)
    yield from (Part(f"instructions {form}", instructions(form)) for form in FORMS)
    for start in range(0, SEEDS, SEEDS_AT_ONCE):
        seeds = range(start, start + SEEDS_AT_ONCE)
        # The vector forms compile for longer: every tenth of the pieces.
        forms = FORMS if start // SEEDS_AT_ONCE % 10 == 0 else FORMS[:1]
        yield from (Part(f"programs {start} {form}", programs(seeds, form)) for form in forms)
    yield from (Part(f"pytest {folder.name}", pytest(folder)) for folder in sorted(tests.iterdir()) if folder.is_dir())


SAMPLE = (
    Part("unit", of_ctest("unit", timeout=60)),
    Part(
        "relocations and orders",
        of_ctest("codegen_tests", ["--gtest_filter=Machine.*:Orderings.*:CodegenObject.*"], 60),
    ),
    Part("litmus tests", of_ctest("litmus_tests_auto", timeout=60)),
    *(Part(f"instructions {form}", instructions(form, ["fma", "cvt.rn.f16", "atom"])) for form in FORMS[:2]),
    *(Part(f"programs {form}", programs(range(20), form)) for form in FORMS[:2]),
)


def identity():
    """Changes when what is tested changes."""
    files = [DRIVER, *DRIVER.parent.glob("*.so"), *SITE.glob("cucore/*.so"), *(BUILD / "tests").glob("*")]
    return max((file.stat().st_mtime_ns for file in files if file.is_file()), default=0)


def tally_of(part, number):
    log = LOGS / f"{number}-{part.name.replace(' ', '-').replace('/', '-')}.log"
    log.unlink(missing_ok=True)
    try:
        return part.run(log)
    except Exception as error:  # a part that cannot even start has failed, and the others still run
        return Tally(0, [f"{part.name}: {type(error).__name__}: {error}"])


def sample():
    """For `make test`: a few minutes of what is built, or no test and a line that says why."""
    if why := missing(needs_build=True):
        print(f"   64-bit Arm is left out: {why}", flush=True)
        return Tally(0, [], 1)
    LOGS.mkdir(parents=True, exist_ok=True)
    return sum((tally_of(part, f"sample-{n}") for n, part in enumerate(SAMPLE)), Tally())


def run_all(wanted, afresh):
    """Runs the parts that are not done yet; returns the lines of a report, and whether all is well."""
    LOGS.mkdir(parents=True, exist_ok=True)
    done = json.loads(RESULTS.read_text()) if RESULTS.exists() and not afresh else {}
    if done.get("of") != identity():
        done = {"of": identity(), "parts": {}}
    total, seconds, lines = Tally(), 0.0, []
    for number, part in enumerate(parts()):
        if wanted and not any(text in part.name for text in wanted):
            continue
        if part.name not in done["parts"]:
            start = time.monotonic()
            tally = tally_of(part, number)
            done["parts"][part.name] = [tally.passed, tally.failures, tally.skipped, time.monotonic() - start]
            RESULTS.write_text(json.dumps(done, indent=1))
        passed, failures, skipped, took = done["parts"][part.name]
        tally, seconds = Tally(passed, failures, skipped), seconds + took
        total += tally
        lines.append(f"{part.name}: {tally} ({took:.0f} s)")
        print(lines[-1], flush=True)
    lines += [f"FAILED {failure.splitlines()[0]}" for failure in total.failures]
    return [*lines, f"{total} in {seconds / 60:.0f} min of emulation"], total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", help="run only those whose name contains one of these")
    parser.add_argument("--sample", action="store_true", help="what `make test` runs")
    parser.add_argument("--afresh", action="store_true", help="forget what was run before")
    parser.add_argument("--no-build", action="store_true", help="test what is built")
    parser.add_argument("--output", type=Path, help="write the report there as well")
    arguments = parser.parse_args()
    if arguments.sample:
        tally = sample()
        print(tally)
        return bool(tally.failures)
    if why := missing():
        sys.exit(f"64-bit Arm cannot be tested here: {why}")
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / "build.log"
    log.unlink(missing_ok=True)
    if not arguments.no_build and build(log):
        sys.exit(f"{end_of(log)}\nnot built; whole log: {log}")
    lines, total = run_all(arguments.part, arguments.afresh)
    print("\n".join(lines[-1 - len(total.failures) :]))
    if arguments.output:
        emulators = subprocess.run(["qemu-aarch64-static", "--version"], capture_output=True, text=True).stdout
        about = ["# make test-arm", *machine(), f"emulator: {emulators.splitlines()[0]}", ""]
        arguments.output.write_text("\n".join([*about, *lines]) + "\n")
    return bool(total.failures)


if __name__ == "__main__":
    sys.exit(main())
