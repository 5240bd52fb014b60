"""`make lint`: clang-format, ruff, clang-tidy and the house rules (who may include whom, how long a file may be).

`--graph` prints the picture of which folder includes which (rooms.py has the table), `--draw` puts it into the docs.

clang-tidy looks at the files of which anything has changed since it last passed: their content, that of a header they
include, directly or not, the compile command, the configuration or clang-tidy itself (a record in .setup/lint, which
outlives build/). So a second run costs nothing, and an edit what it touches.
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

import make_compatibility
import make_environment
import make_hints
import make_options
import python_imports
import rooms
import spellings
from rooms import ROOT, tracked

BUILD = ROOT / "build"
TIDY = ROOT / ".venv/bin/clang-tidy"  # PyPI's: that of LLVM 19 spends most of its time on what system headers declare
TIDY_OPTIONS = ("-Wno-unknown-warning-option", "-Wno-error", "-Wshadow")  # the last is off where files are joined
CPP = (".cpp", ".hpp", ".h")
MAX_LINES = 500
PRODUCT = ("include", "src", "cpu", "python", "cli", "examples")  # what users get
VERSIONS = ("tools/requirements.txt", "tools/requirements-test.txt", "Makefile", ".clang-tidy")


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


def check_sizes(problems):
    """Over 500 lines needs a reason at the top of the file: a comment with the words `long because`."""
    for path in tracked((*CPP, ".py")):
        lines = path.read_text().splitlines()
        if len(lines) > MAX_LINES and "long because" not in "\n".join(lines[:25]):
            problems.append(f"{path.relative_to(ROOT)}: {len(lines)} lines, and no `long because` at its top")


def check_first_lines(problems):
    """A file says what it is for before anything else."""
    for path in tracked((*CPP, ".py")):
        text = path.read_text()
        if text.startswith("#!"):
            text = text.partition("\n")[2]
        if text and not text.startswith(('"""', 'r"""', "# ") if path.suffix == ".py" else ("// ", "/* ")):
            problems.append(f"{path.relative_to(ROOT)}: does not begin with what it is for")


def check_made(problems):
    """What is made from a table is what the table says."""
    for module in (make_options, make_environment, make_hints, make_compatibility):
        for path in module.stale():
            problems.append(f"{path}: is not what its tables say: run tools/{module.__name__}.py")


# Who may read the environment: the files that read it by the tables of variables, and one with a reason.
ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\b|\benviron\b")
READS_ENVIRONMENT = {
    "src/settings/settings.cpp",
    "cpu/runtime/process/settings.cpp",
    "cli/environment.cpp",  # other programs' variables: where tools and their libraries are, and what a child gets
    # They prepare the environment of this process and its children for other libraries.
    "python/cucore/_driver_files.py",
    "python/cucore/cpu_device.py",
    "python/cucore/pytest_plugin.py",
    "python/cucore/_cache_settings.py",  # stores are of Python alone
    "python/cucore/stores/_shared.py",
    "python/cucore/utils/_file_stream.py",  # Python alone, and takes a relative XDG_CACHE_HOME, unlike the core
}


def check_environment(problems):
    """A variable of the product is a line of src/settings/settings.def or cpu/runtime/process/settings.def."""
    for path in tracked((*CPP, ".py")):
        relative = path.relative_to(ROOT)
        if relative.parts[0] not in PRODUCT or "tests" in relative.parts or str(relative) in READS_ENVIRONMENT:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if ENVIRONMENT.search(line):
                problems.append(f"{relative}:{number}: reads the environment: make it a line of a settings.def")


INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)


@functools.cache
def included_by(path):
    """The files of the tree that a file may include: every #include that leads to one, whatever the #if around it."""
    roots = [path.parent, ROOT, ROOT / "include", BUILD / "lint/cpu/abi/generated"]
    found = set()
    for name in INCLUDE.findall(path.read_bytes()):
        found.update(
            p for root in roots if (p := (root / name.decode()).resolve()).is_file() and p.is_relative_to(ROOT)
        )
    return found


def closure(path):
    """A file and all that it includes, directly or not, in order."""
    known, pending = {path}, [path]
    while pending:
        new = included_by(pending.pop()) - known
        known |= new
        pending += new
    return sorted(known)


@functools.cache
def sha256(path):
    return hashlib.sha256(path.read_bytes()).digest()


@functools.cache
def tidy_version():
    """A digest of the files that decide clang-tidy's version, the headers from outside the tree, and its checks."""
    return b"".join(sha256(ROOT / name) for name in VERSIONS)


def tidy_key(command, path):
    """What a clean verdict rests on."""
    digest = hashlib.sha256(tidy_version() + command.encode())
    for file in closure(path):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + sha256(file))
    return digest.hexdigest()


def configured(preset, problems):
    """The compile commands of the product's own files under a preset, which clang-tidy reads; None if it failed."""
    build = BUILD / preset
    python = f"-DPython_EXECUTABLE={ROOT / '.venv/bin/python'}"
    for command in (
        ["cmake", "--preset", preset, python],
        ["cmake", "--build", build, "--target", "cpu_compiler_interface"],
    ):
        result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        if result.returncode:
            problems.append(f"clang-tidy: {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
            return None
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if all(is_tidied(file) for file in joined_in(path)):
            commands[path] = entry["command"]
    return commands


def is_tidied(path):
    if not path.is_relative_to(ROOT) or path.is_relative_to(BUILD):
        return False
    parts = path.relative_to(ROOT).parts
    return parts[0] in ("src", "cpu", "cli", "python") and "tests" not in parts


def joined_in(path):
    """The files that are compiled as one here (CucoreTarget.cmake), or the one itself."""
    if not path.is_relative_to(BUILD) or not path.name.startswith("unity_"):
        return [path]
    return [Path(name.decode()) for name in INCLUDE.findall(path.read_bytes())]


def tidied(preset, path):
    """What clang-tidy says of a file, nothing if it is clean."""
    command = [TIDY, "-p", BUILD / preset, "--quiet", *(f"--extra-arg={option}" for option in TIDY_OPTIONS)]
    result = subprocess.run([*command, path], capture_output=True, text=True, cwd=ROOT)
    if result.returncode == 0:
        return ""
    return result.stdout + (result.stderr if "error:" in result.stderr else "") or "clang-tidy failed"


def check_tidy(problems):
    """Files that are compiled as one are read as one, which takes a third of the time; where something is found, each
    by itself, since then it may be of two files together only."""
    commands = configured("lint", problems)
    if commands is None:
        return
    passed_dir = ROOT / ".setup/lint"
    passed_dir.mkdir(parents=True, exist_ok=True)
    records = {path: passed_dir / tidy_key(command, path) for path, command in commands.items()}
    work = [path for path, record in records.items() if not record.exists()]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        said = dict(zip(work, pool.map(lambda path: tidied("lint", path), work), strict=True))
        apart = sorted({file for path, output in said.items() if output for file in joined_in(path)})
        if apart and configured("lint-apart", problems) is None:
            return
        found = dict(zip(apart, pool.map(lambda path: tidied("lint-apart", path), apart), strict=True))
    for path in work:
        outputs = [found[file] for file in joined_in(path) if said[path] and found[file]]
        problems.extend(f"clang-tidy:\n{output}" for output in outputs)
        if not outputs:
            records[path].touch()


def main():
    if "--graph" in sys.argv:
        print(rooms.picture())
        return 0
    if "--draw" in sys.argv:
        rooms.draw()
        return 0
    problems = []
    checks = [
        rooms.check_rooms,
        python_imports.check_python_circles,
        rooms.check_readmes,
        rooms.check_picture,
        rooms.check_fullness,
        rooms.check_namespaces,
        check_sizes,
        check_first_lines,
        spellings.check_spellings,
        check_made,
        check_environment,
        check_format,
        check_ruff,
        check_tidy,
    ]
    for check in checks:
        before = len(problems)
        check(problems)
        print(f"{check.__name__.removeprefix('check_')}: {'ok' if len(problems) == before else 'FAILED'}", flush=True)
    print(rooms.largest())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
