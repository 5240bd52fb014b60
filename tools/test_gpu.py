"""`make test-gpu`: the suites that run unchanged on both drivers, on a GPU, with the machine's description.

Usage: test_gpu.py [--python PYTHON] [--build FOLDER] [--log FILE] [--seconds SECONDS]
The C++ suites come from FOLDER (default build), the Python suites run in PYTHON, where cucore must be importable.
Everything printed also goes to the log (default bench/results/test-gpu-NAME.txt, to be committed).
"""

import argparse
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from machine import machine

ROOT = Path(__file__).resolve().parent.parent
WITH_STACKS = ["-p", "no:cacheprovider", "-o", "faulthandler_timeout=300"]
COUNTS = re.compile(r"(\d+) (passed|failed|skipped)")


def suite_commands(python, build):
    conformance = sorted(path for path in (build / "tests").glob("*conformance*") if os.access(path, os.X_OK))
    for binary in conformance:
        if binary.is_file():
            yield f"C++ {binary.name}", [binary]
    yield "Python", [python, "-m", "pytest", "-q", *WITH_STACKS, ROOT / "python/tests"]
    yield "behaviours beside cuda.core", [python, ROOT / "python/tests/clients/behaviours/compare.py"]
    yield "PTX instructions", [python, ROOT / "cpu/tests/instructions/run_tests.py", "--driver", "libcuda.so.1"]
    for name in ("texture_tests", "warp_tests", "waiting_tests"):
        binary = build / "cpu/tests" / name  # linked to the CPU device, which the GPU's driver goes before
        if binary.exists():
            yield name, ["env", "LD_PRELOAD=libcuda.so.1", f"CUCORE_TEST_DATA={ROOT / 'cpu/tests'}", binary]
    random_programs = ROOT / "cpu/tests/differential"
    digests = random_programs / "digests/cpu.txt.gz"
    options = ["--driver", "gpu", "--seeds", "0:10000", "--expect", digests]
    yield "random programs", [python, random_programs / "run.py", *options]
    yield "demo, Python", [python, ROOT / "examples/image_pipeline/main.py", "--output", build / "demo-gpu"]
    if (build / "examples/image_pipeline_cpp").exists():
        yield "demo, C++", [build / "examples/image_pipeline_cpp", "--output", build / "demo-gpu"]


def count(output, status):
    """(passed, failed, skipped) from the closing lines of GoogleTest, pytest or our own runners."""
    gtest = list(re.finditer(r"\[  PASSED  \] (\d+) test", output))
    if gtest:
        output = output[gtest[-1].start() :]  # before it may be what a program of a failed test printed
        failed = re.search(r"\[  FAILED  \] (\d+) test", output)
        skipped = re.search(r"\[  SKIPPED \] (\d+) test", output)
        return tuple(int(m[1]) if m else 0 for m in (gtest[-1], failed, skipped))
    compared = re.search(r"(\d+) programs compared, (\d+) differ", output)
    if compared:
        return int(compared[1]) - int(compared[2]), int(compared[2]), 0
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for line in reversed(output.splitlines()):
        if found := COUNTS.findall(line):
            totals.update({kind: int(number) for number, kind in found})
            return tuple(totals.values())
    return (1, 0, 0) if status == 0 else (0, 1, 0)


def run(command, seconds):
    """What a suite prints and its exit status; one that takes longer is killed, with all that it started."""
    suite = subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, "CUCORE_DEVICE": "gpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        return suite.communicate(timeout=seconds)[0], suite.returncode
    except subprocess.TimeoutExpired:
        os.killpg(suite.pid, signal.SIGKILL)
        return suite.communicate()[0] + f"\nkilled after {seconds:g} s", suite.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--seconds", type=float, default=1800, help="time that one suite may take")
    arguments = parser.parse_args()
    lines = machine()
    print("\n".join(lines), flush=True)
    total = [0, 0, 0]
    for name, command in suite_commands(arguments.python, arguments.build):
        print(f"== {name}", flush=True)
        output, status = run(command, arguments.seconds)
        counts = count(output, status)
        if status != 0 and counts[1] == 0:
            counts = (counts[0], 1, counts[2])
        tail = output.splitlines()[-400 if counts[1] else -12 :]
        summary = f"   {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped (exit status {status})"
        print("\n".join([*tail, summary]), flush=True)
        lines += [f"== {name}", *tail, summary]
        total = [a + b for a, b in zip(total, counts, strict=True)]
    closing = f"{total[0]} passed, {total[1]} failed, {total[2]} skipped"
    lines.append(closing)
    print(closing)
    gpu = re.sub(r"[^a-z0-9]+", "-", lines[0].removeprefix("gpu: ").split(",")[0].lower()).strip("-")
    log = arguments.log or ROOT / f"bench/results/test-gpu-{gpu}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("\n".join(lines) + "\n")
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main())
