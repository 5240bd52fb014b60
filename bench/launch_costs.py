"""What a launch costs before the driver: instructions of cucore's own code, counted by valgrind on a driver that does
nothing (null_driver.cpp), for each way to launch in C++ and in Python. The counts repeat exactly for one build: what is
counted looks nothing up by its address. (nanobind keeps objects in a table by address; the classes that are made and
dropped here are pooled, so that they stay in it.)

Usage: launch_costs.py [--build FOLDER] [--record | --check | --time]
  --record  writes bench/results/launch-instructions.json
  --check   compares with it: exit status 1 if anything takes over 5 % and 5 instructions more; 77 where that cannot be
            said, because valgrind or a program is missing or the toolchain is another
  --time    nanoseconds instead, on this machine
"""

import argparse
import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "bench/results/launch-instructions.json"
SLACK = 1.05
CANNOT_SAY = 77


class CannotSay(Exception):
    pass


def commands(build):
    """(the file whose instructions are counted, the command) of both programs."""
    native = build / "bench/launch_loop"
    return (native.name, [native]), ("_core.", [sys.executable, ROOT / "bench/launch_loop.py"])


def environment(build):
    driver = build / "bench/libnull_driver.so"
    if not driver.exists():
        raise CannotSay(f"{driver} is not built (CUCORE_BUILD_BENCH)")
    return {**os.environ, "CUCORE_DEVICE": "cpu", "CUCORE_CPU_DRIVER": str(driver), "PYTHONHASHSEED": "0"}


def toolchain(build):
    library = ctypes.CDLL(str(build / "bench/libnull_driver.so"))
    library.null_driver_toolchain.restype = ctypes.c_char_p
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{library.null_driver_toolchain().decode()}, Python {python}, {platform.machine()}"


def instructions_of(profile, file_name):
    """Instructions spent in functions of the named file itself, in one callgrind profile."""
    total = 0
    counted = skip = False
    for line in profile.read_text().splitlines():
        if line.startswith("ob="):
            counted = Path(line[3:]).name.startswith(file_name)
        elif line.startswith("calls="):
            skip = True  # the next line has the cost of the callee
        elif line[:1].isdigit():
            if counted and not skip:
                total += int(line.split()[1])
            skip = False
    return total


def run(command, env):
    done = subprocess.run(list(map(str, command)), env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command} failed:\n{done.stderr}")
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
    return [(name, int(loops), float(nanoseconds)) for name, loops, nanoseconds in rows]


def count(build, padding=0):
    """{what: instructions of one launch}. `padding` more bytes of environment move the addresses of everything."""
    if shutil.which("valgrind") is None:
        raise CannotSay("valgrind is not installed")
    env = {**environment(build), "CUCORE_PADDING": "x" * padding}
    counts = {}
    for file_name, command in commands(build):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "profile"
            valgrind = ["valgrind", "-q", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no",
                        f"--callgrind-out-file={out}"]  # fmt: skip
            rows = run([*valgrind, *command], env)
            # One dump at each mark: the second of a pair has what lies between.
            dumps = sorted(
                Path(folder).glob("profile.[0-9]*"), key=lambda path: int(re.search(r"\d+$", path.name).group())
            )
            if not dumps:
                raise CannotSay("the null driver was built without valgrind's headers")
            if len(dumps) != 2 * len(rows):
                raise RuntimeError(f"{len(dumps)} profiles for {len(rows)} measurements")
            for i, (name, loops, _) in enumerate(rows):
                counts[name] = round(instructions_of(dumps[2 * i + 1], file_name) / loops, 1)
    return counts


def dearer(counts, recorded):
    """The names of those that take more than recorded, beyond the slack."""
    return {name for name, count in counts.items() if count > recorded.get(name, count) * SLACK + 5}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    for action in ("record", "check", "time"):
        parser.add_argument(f"--{action}", action="store_true")
    arguments = parser.parse_args()
    try:
        if arguments.time:
            for _, command in commands(arguments.build):
                for name, _, nanoseconds in run([*command, "--time"], environment(arguments.build)):
                    print(f"{name:<36}{nanoseconds:9.1f} ns")
            return 0
        if arguments.check:
            environment(arguments.build)
            recorded = json.loads(RECORD.read_text())
            if toolchain(arguments.build) != recorded["toolchain"]:
                raise CannotSay(f"recorded with {recorded['toolchain']}, this is {toolchain(arguments.build)}")
        counts = count(arguments.build)
    except CannotSay as reason:
        print(reason)
        return CANNOT_SAY
    if arguments.record:
        RECORD.write_text(
            json.dumps({"toolchain": toolchain(arguments.build), "instructions": counts}, indent=2) + "\n"
        )
    before = recorded["instructions"] if arguments.check else {}
    if dearer(counts, before):
        # What disturbs a count only adds to it: the smaller of two, at other addresses, is nearer.
        again = count(arguments.build, padding=5000)
        counts = {name: min(instructions, counts[name]) for name, instructions in again.items()}
    worse = dearer(counts, before)
    for name in sorted(counts, key=lambda name: name not in worse):
        note = f"   recorded: {before[name]}" if name in worse else ""
        print(f"{name:<36}{counts[name]:9.1f} instructions{note}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
