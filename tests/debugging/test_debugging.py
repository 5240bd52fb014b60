"""CUCORE_CPU_DEBUG=1: a real gdb, in batch mode, stops in kernels. CUCORE_CPU_PERF_MAP=1: names for perf."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "debugged.py"
DOCUMENT = HERE.parents[1] / "docs" / "debugging.md"
# What gdb says of its own doings, before a session and in between.
NOISE = re.compile(r"\[(New|Thread|Switching|Detaching|Attaching)|Using host libthread_db|warning: |This GDB supports")


def environment(**switches):
    """Of the program, which runs on the CPU device and leaves no kernels behind."""
    return {**os.environ, "CUCORE_DEVICE": "cpu", "CUCORE_CPU_CACHE": "0", **switches}


@pytest.fixture(scope="module", autouse=True)
def cpu_device():
    probe = "import cucore; cucore.Device(); print(cucore.driver_info().kind)"
    done = subprocess.run([sys.executable, "-c", probe], env=environment(), capture_output=True, text=True, timeout=60)
    if done.stdout.strip() != "cpu":
        pytest.skip("no CPU device")


def gdb(commands, *arguments, debug="1"):
    """What gdb prints for these commands, each behind its prompt as a user sees it."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    session = ["-ex", "set debuginfod enabled off", "-ex", "set width 0", "-ex", "set style enabled off"]
    for command in commands:
        session += ["-ex", f"echo (gdb) {command}\\n", "-ex", command]
    done = subprocess.run(
        ["gdb", "-nx", "--batch", *session, "--args", sys.executable, str(PROGRAM), *arguments],
        env=environment(CUCORE_CPU_DEBUG=debug),
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "ptrace: Operation not permitted" in done.stderr:
        pytest.skip("this machine lets no process be debugged")
    lines = [line.rstrip() for line in done.stdout.splitlines() if line.strip() and not NOISE.match(line)]
    return lines, done.stdout + done.stderr


def without_numbers_of_a_run(line):
    """Addresses, processes and threads are others in each run."""
    line = re.sub(r"0x[0-9a-f]{6,}|\b\d{9,}\b", "ADDRESS", line)
    line = re.sub(r"^Thread \d+ \"[^\"]+\"", "THREAD", line)
    line = re.sub(r"^\d+ computed", "PROCESS computed", line)
    return re.sub(r"\(process \d+\)", "(process N)", line)


def test_the_documented_session_is_what_gdb_does():
    recorded = re.search(r"```gdb\n(.*?)```", DOCUMENT.read_text(), re.DOTALL).group(1).splitlines()
    recorded = [line for line in recorded if line.strip()]
    commands = [line.removeprefix("(gdb) ") for line in recorded if line.startswith("(gdb) ")]
    lines, everything = gdb(commands)
    assert [*map(without_numbers_of_a_run, lines)] == [*map(without_numbers_of_a_run, recorded)], everything


def test_gdb_stops_in_a_thread_of_choice_and_between_barriers():
    lines, everything = gdb(
        [
            "set breakpoint pending on",
            "break debugged.cu:19 if threadIdx.x == 7",
            "run",
            "print threadIdx",
            "print blockDim",
            "backtrace 1",
            "delete",
            "continue",
        ]
    )
    text = "\n".join(lines)
    assert "hit Breakpoint 1, reversed<float> (" in text, everything
    assert "values[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];" in text, everything
    assert "$1 = {x = 7, y = 0, z = 0}" in text and "$2 = {x = 64, y = 1, z = 1}" in text, everything
    assert re.search(r"^#0 +reversed<float> \(.*\) at debugged.cu:19$", text, re.MULTILINE), everything
    assert "computed 127.0 1.0" in text and "exited normally" in text, everything


def test_gdb_shows_device_functions_under_their_kernel_in_code_built_with_debug():
    lines, everything = gdb(
        ["set breakpoint pending on", "break scaled", "run", "print threadIdx", "backtrace 2", "delete", "continue"],
        "-G",
    )
    text = "\n".join(lines)
    assert re.search(r"^#0 +scaled \(.*\) at debugged.cu:2$", text, re.MULTILINE), everything
    assert re.search(r"^#1 .* saxpy \(.*\) at debugged.cu:9$", text, re.MULTILINE), everything
    assert "$1 = {x = 0, y = 0, z = 0}" in text and "exited normally" in text, everything


def test_without_the_switch_gdb_knows_nothing_of_kernels():
    lines, everything = gdb(["set breakpoint pending on", "break debugged.cu:9", "run", "info breakpoints"], debug="0")
    assert any("<PENDING>" in line for line in lines) and any("exited normally" in line for line in lines), everything
    assert not any("hit Breakpoint" in line for line in lines), everything


def perf_map(**switches):
    """The file's rows, as (address, size, name), of a run of the program; None if there is no file."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], env=environment(**switches), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    path = Path(f"/tmp/perf-{done.stdout.split()[0]}.map")
    if not path.exists():
        return None
    text = path.read_text()
    path.unlink()
    rows = [line.split(" ", 2) for line in text.splitlines()]
    return [(int(address, 16), int(size, 16), name) for address, size, name in rows]


@pytest.mark.parametrize("form", ["scalar", "vector"])
def test_the_perf_map_names_what_was_compiled(form):
    rows = perf_map(CUCORE_CPU_PERF_MAP="1", CUCORE_CPU_FORM=form)
    names = [name for _, _, name in rows]
    assert "saxpy" in names and "void reversed<float>(float*)" in names
    assert all(address > 0 and size > 0 for address, size, _ in rows)
    ordered = sorted(rows)
    assert all(end[0] >= start[0] + start[1] for start, end in zip(ordered, ordered[1:], strict=False)), rows


def test_the_perf_map_names_what_was_found_on_disk(tmp_path):
    switches = {"CUCORE_CPU_PERF_MAP": "1", "CUCORE_CPU_CACHE": str(tmp_path)}
    compiled, found = perf_map(**switches), perf_map(**switches)
    assert [row[1:] for row in found] == [row[1:] for row in compiled]


def test_without_the_switch_there_is_no_perf_map():
    assert perf_map() is None


@pytest.fixture
def perf(tmp_path):
    """Runs perf, which may be missing, or not be allowed to look at processes."""
    if not shutil.which("perf"):
        pytest.skip("no perf: apt-get install linux-perf")
    record = ["perf", "record", "-e", "cpu-clock", "-o", str(tmp_path / "perf.data")]
    report = ["perf", "report", "--stdio", "--sort", "dso,symbol", "-i", str(tmp_path / "perf.data")]
    tried = subprocess.run([*record, "true"], capture_output=True, text=True, timeout=60, check=False)
    if tried.returncode != 0:
        pytest.skip("perf may not record here: " + tried.stderr.strip())

    def run(**switches):
        """What perf reports of the profiled program."""
        program = [sys.executable, str(PROGRAM.with_name("profiled.py"))]
        done = subprocess.run(
            [*record, *program], env=environment(**switches), capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0 and "computed 111" in done.stdout, done.stdout + done.stderr
        told = subprocess.run(report, capture_output=True, text=True, timeout=120, check=False)
        Path(f"/tmp/perf-{done.stdout.split()[0]}.map").unlink(missing_ok=True)
        assert told.returncode == 0, told.stderr
        return told.stdout

    return run


@pytest.mark.parametrize("form", ["scalar", "vector"])
def test_perf_reports_kernels_by_their_names(form, perf):
    assert re.search(r"%.*\[\.\] collatz\b", perf(CUCORE_CPU_PERF_MAP="1", CUCORE_CPU_FORM=form))


def test_without_the_switch_perf_knows_no_kernels(perf):
    assert "collatz" not in perf()
