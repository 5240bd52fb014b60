"""The fenced blocks of a Markdown page: which are run, how, and whether they print what the page shows.

    ```python           run, in one process a page, in the order of the page
    ```cpp              a part of a function, one a page; all pages make one program (cpp_program.py)
    ```console          each line after `$ ` is run by bash; the other lines are what it prints
    ```cuda hello.cu    written to that file first (any language), in the page's own folder
    ```output           what the block before it that is run prints
    ```python not-run: why    none of these

Other languages are only shown. A page's command may fail if the page shows what it then prints. Where output is
compared, `...` stands for any text, and numbers that differ from run to run (times, rates, addresses, cores) for any
other.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = ROOT / "build/docs-test/prefix"  # where the C++ library is installed for the pages
RUN = {"python", "cpp", "console"}
SHOWN = {"", "cmake", "cuda", "docker", "gdb", "ini", "json", "mermaid", "output", "text", "toml", "yaml"}
FENCE = re.compile(r"^( *)(```+)(.*)$")
NOT_RUN = "not-run:"


@dataclass
class Block:
    page: Path
    line: int  # of its first line of text, from 1
    language: str
    words: str
    text: str
    indent: str = ""

    @property
    def where(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self):
        """The file that the block is, or None."""
        return None if self.is_left_out or not self.words else self.words

    @property
    def is_left_out(self):
        return self.words.startswith(NOT_RUN)

    @property
    def is_run(self):
        return self.language in RUN and not self.words


def pages():
    """All that is on the site, and the README."""
    docs = sorted(path for path in (ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *docs]


def blocks_of(page):
    """The blocks of a page, in order; directives of the site's generator (```{note}) are none."""
    blocks, open_fence = [], None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if open_fence is None and fence:
            open_fence = fence
            language, _, words = fence[3].strip().partition(" ")
            blocks.append(Block(page, number + 1, language, words.strip(), "", fence[1]))
        elif open_fence and fence and not fence[3] and len(fence[2]) >= len(open_fence[2]):
            open_fence = None
        elif open_fence:
            blocks[-1].text += line.removeprefix(open_fence[1]) + "\n"
    return [block for block in blocks if not block.language.startswith("{")]


CHANGING = [
    (re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)? ?(ms|us|µs|ns|s|GB/s|MB/s|%)(?![\w/])"), r"N \1"),
    (re.compile(r"0x[0-9a-f]{6,}"), "0xN"),
    (re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b"), "DIGEST"),
    (re.compile(r"\(\d+ cores?\)"), "(N cores)"),
    (re.compile(r"[ \t]+"), " "),
]


def settled(text):
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def agrees(shown, printed):
    parts = (re.escape(part) for part in settled(shown).split("..."))
    return re.fullmatch(".*?".join(parts), settled(printed), re.DOTALL) is not None


@dataclass
class Outcome:
    block: Block
    problem: str = ""
    replacement: str = ""  # what the page should show instead


class Python:
    """One process for the Python of a page, so that a wrong kernel harms no other page."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).parent / "python_session.py"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, block):
        """What it printed, and the traceback if it raised."""
        try:
            self.process.stdin.write(json.dumps([block.text, block.where, block.line]) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        return json.loads(answer) if answer else ["", f"the process ended with status {self.process.wait()}"]

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


END_OF_COMMAND = "\x1e"


def commands_of(text):
    """Pairs of command and shown output."""
    pairs, lines = [], iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + next(lines)
            pairs.append([command, ""])
        elif pairs:
            pairs[-1][1] += line + "\n"
        elif line.strip():
            raise ValueError(f"output before the first command: {line}")
    return pairs


def run_console(block, folder, environment):
    pairs = commands_of(block.text)
    script = "".join(f"{command}\necho '{END_OF_COMMAND}'$?\n" for command, _ in pairs)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    parts = re.split(rf"{END_OF_COMMAND}(\d+)\n", done.stdout.replace(f"{folder}/", ""))
    problems, page = [], ""
    for index, (command, shown) in enumerate(pairs):
        printed, status = parts[2 * index : 2 * index + 2]
        page += f"$ {command}\n"
        if shown.strip():
            right = agrees(shown, printed)
            page += shown if right else printed
            if not right:
                problems.append(f"$ {command}\nshows\n{shown}\nbut prints\n{printed}")
        elif status != "0":
            problems.append(f"$ {command}\nexit status {status}\n{printed}")
    return Outcome(block, "\n".join(problems), page)


def run_page(page, folder, environment, cpp_outputs):
    """Runs a page's blocks in order. `cpp_outputs` gives, block by block, what its C++ printed."""
    outcomes, printed, python = [], None, None
    cpp = iter(cpp_outputs)
    for block in blocks_of(page):
        if block.is_left_out:
            printed = None
        elif block.language == "output":
            if printed is None:
                outcomes.append(Outcome(block, "no block before it is run"))
            elif not agrees(block.text, printed):
                outcomes.append(Outcome(block, f"shows\n{block.text}\nbut this is printed:\n{printed}", printed))
        elif block.file:
            target = folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        elif block.language == "console":
            outcomes.append(run_console(block, folder, environment))
        elif block.language == "cpp":
            printed = next(cpp, "")
        elif block.language == "python":
            python = python or Python(folder, environment)
            printed, error = python.run(block)
            printed = printed.replace(f"{folder}/", "")
            if error:
                outcomes.append(Outcome(block, error))
                break
    if python and python.close() != 0:
        outcomes.append(Outcome(block, f"the process of the page's Python ended with {python.process.returncode}"))
    return [outcome for outcome in outcomes if outcome.problem]


def environment_for(folder):
    """A CPU device, caches that outlive the run, the tool and Python of this build, and nvcc if it was set up."""
    cache = ROOT / "build/docs-test/cache"
    cache.mkdir(parents=True, exist_ok=True)
    nvcc = ROOT / ".setup/nvcc/nvidia/cu13/bin"
    path = [*([nvcc] if nvcc.is_dir() else []), ROOT / "build/cli", Path(sys.executable).parent]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CUCORE", "PYTEST")) and k != "LD_LIBRARY_PATH"}
    return {
        **kept,
        "PATH": ":".join([*map(str, path), kept["PATH"]]),
        "VIRTUAL_ENV": str(ROOT / ".venv"),  # where the C++ programs find NVRTC
        "CUCORE_CPU_DRIVER": str(ROOT / "build/cpu/driver/libcuda.so.1"),
        "CUCORE_DEVICE": "cpu",
        "XDG_CACHE_HOME": str(cache),
        "CMAKE_PREFIX_PATH": str(PREFIX),
        "CMAKE_GENERATOR": "Ninja",
        "CMAKE_CXX_COMPILER_LAUNCHER": shutil.which("ccache") or "",
        "CUCORE_SOURCE": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def folder_of(page):
    """An empty folder, the same in each run, so that programs compiled by nvcc are found again in the cache."""
    folder = ROOT / "build/docs-test/pages" / page.relative_to(ROOT).with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "examples").symlink_to(ROOT / "examples")  # as in a checkout
    return folder


def install_library():
    """Puts the C++ library where the pages' CMake finds it."""
    command = ["cmake", "--install", ROOT / "build", "--prefix", PREFIX, "--component", "cucore", "--strip"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
