"""`make lint`: clang-format, ruff, clang-tidy and the house rules (who may include whom, how long a file may be).

clang-tidy looks at the files whose content, or whose compile command, has changed since it last passed (a record in
build/lint), so a second run costs nothing.
"""

import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CPP = (".cpp", ".hpp", ".h")
MAX_LINES = 500

# room -> prefixes its quoted includes may have. `include` and `src` know only the driver's C ABI; `cpu` only cuda.h;
# `python` and `cli` only the public headers.
ROOMS = {
    "include": ("cucore/",),
    "src": ("cucore/", "src/"),
    "cpu": ("cpu/",),
    "python": ("cucore/", "python/"),
    "cli": ("cucore/", "cli/", "cpu/api/cucore_cpu.h"),
    "examples": ("cucore/", "examples/"),
}


def tracked(suffixes):
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [ROOT / name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()]


def check_format(problems):
    files = tracked(CPP)
    result = subprocess.run(
        ["clang-format-19", "--dry-run", "-Werror", *files], capture_output=True, text=True, cwd=ROOT
    )
    if result.returncode:
        problems.append("clang-format:\n" + "\n".join(result.stderr.splitlines()[:40]))


def check_ruff(problems):
    for command in (["check"], ["format", "--check"]):
        result = subprocess.run([ROOT / ".venv/bin/ruff", *command, "."], capture_output=True, text=True, cwd=ROOT)
        if result.returncode:
            problems.append(f"ruff {command[0]}:\n{result.stdout}{result.stderr}")


def check_rooms(problems):
    include = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
    for path in tracked(CPP):
        relative = path.relative_to(ROOT)
        room = relative.parts[0]
        allowed = ROOMS.get(room)
        if allowed is None or "tests" in relative.parts:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = include.match(line)
            if match and "/" in match[1] and not match[1].startswith(allowed):
                problems.append(f"{relative}:{number}: the room `{room}` may not include {match[1]}")
        text = path.read_text()
        if room in ("include", "src") and re.search(r"#\s*include\s+<cuda\.h>", text):
            problems.append(f"{relative}: `{room}` builds without CUDA headers, it may not include cuda.h")


def check_sizes(problems):
    """Over 500 lines needs a reason at the top of the file: a comment with the words `long because`."""
    for path in tracked((*CPP, ".py")):
        lines = path.read_text().splitlines()
        if len(lines) > MAX_LINES and "long because" not in "\n".join(lines[:25]):
            problems.append(f"{path.relative_to(ROOT)}: {len(lines)} lines, and no `long because` at its top")


def check_first_lines(problems):
    """A file says what it is for before anything else."""
    for path in tracked((*CPP, ".py")):
        text = path.read_text().lstrip()
        if text and not text.startswith(("//", "/*", '"""', "#", 'r"""')):
            problems.append(f"{path.relative_to(ROOT)}: does not begin with what it is for")


@functools.cache
def headers_of(room):
    """What a file of `room` can include, as one string of bytes."""
    parts = ("include", "src", room)
    return b"".join(
        p.read_bytes() for p in sorted(tracked((".hpp", ".h", ".def"))) if p.relative_to(ROOT).parts[0] in parts
    )


def tidy_key(command, path):
    """What a clean verdict rests on: the configuration, the command, and every header of the tree."""
    digest = hashlib.sha256(command.encode())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    digest.update(path.read_bytes())
    digest.update(headers_of(path.relative_to(ROOT).parts[0]))
    return digest.hexdigest()


def check_tidy(problems):
    database = BUILD / "compile_commands.json"
    if not database.exists():
        problems.append("clang-tidy: no build/compile_commands.json; run `make build` first")
        return
    passed_dir = BUILD / "lint"
    passed_dir.mkdir(parents=True, exist_ok=True)
    work = []
    for entry in json.loads(database.read_text()):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if not path.is_relative_to(ROOT) or path.is_relative_to(BUILD):
            continue
        if path.relative_to(ROOT).parts[0] not in ("src", "cpu", "cli", "python") or "tests" in path.parts:
            continue
        record = passed_dir / tidy_key(entry["command"], path)
        if not record.exists():
            work.append((path, record))

    def one(item):
        path, record = item
        result = subprocess.run(
            [
                "clang-tidy-19",
                "-p",
                BUILD,
                "--quiet",
                "--extra-arg=-Wno-unknown-warning-option",
                "--extra-arg=-Wno-error",
                path,
            ],
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        if result.returncode == 0:
            record.touch()
            return None
        return result.stdout + (result.stderr if "error:" in result.stderr else "")

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for output in pool.map(one, work):
            if output:
                problems.append(f"clang-tidy:\n{output}")


def main():
    problems = []
    checks = [check_rooms, check_sizes, check_first_lines, check_format, check_ruff, check_tidy]
    for check in checks:
        before = len(problems)
        check(problems)
        print(f"{check.__name__.removeprefix('check_')}: {'ok' if len(problems) == before else 'FAILED'}", flush=True)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
