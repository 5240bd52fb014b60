"""`make test-install`: a C++ author's and a student's way to their first result in a bare Debian 12, timed.

The files and commands are those of the README, and of the course's first page, word for word; what comes before is a
checkout in the place of a `git clone`, and wheels where pip finds them. Prints a transcript; exit status 1 if a way
fails or takes longer than 120 s from its first command to its first result, with downloads (apt-get, pip) apart. A
command counts for the time that it took or that of the processors, whichever is less: other work may run beside it.
`--output FILE` writes the transcript there as well.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bare_system import ROOT, entered, environment, make_system, parse, prepare

sys.path.insert(0, str(ROOT / "tests/docs"))
import snippets

MOST_SECONDS = 120
SUITE = "bookworm"
END = "\x1e"
README = ROOT / "README.md"
COURSE = ROOT / "docs/tutorials/course/index.md"


def blocks(page, section):
    """The blocks under a heading of a page."""
    lines = page.read_text().splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("#") and section in line)
    end = next((n for n in range(start + 1, len(lines)) if lines[n].startswith("## ")), len(lines))
    return [block for block in snippets.blocks_of(page) if start < block.line < end]


def commands(page, section):
    return [
        command
        for block in blocks(page, section)
        if block.language == "console"
        for command, _ in snippets.commands_of(block.text)
    ]


def files(page, section):
    return {block.words: block.text for block in blocks(page, section) if block.words and not block.is_left_out}


def prerequisites(page, section):
    """What the text under a heading says to install first."""
    text = page.read_text()
    text = text[text.index(section) :].split("\n## ")[0]
    return re.search(r"`(apt-get install [\w+ .-]+)`", text)[1]


@dataclass
class Way:
    name: str
    page: Path
    section: str
    commands: list
    files: dict
    expected: str


def ways():
    cxx, cuda = "You write C++", "You have a hello.cu"
    install = commands(README, "cucore")[:2]
    return [
        Way("a C++ author", README, cxx, commands(README, cxx), files(README, cxx), "42 on cucore CPU device"),
        Way("a student", README, cuda, [*install, *commands(README, cuda)], files(README, cuda), "hello from thread 3"),
        Way(
            "a student, by the course's first page",
            COURSE,
            "Learn CUDA",
            [*commands(COURSE, "Learn CUDA"), "cucore run hello.cu"],
            files(README, cuda),
            "hello from thread 3",
        ),
    ]


def is_download(command):
    return bool(re.search(r"\b(apt-get|pip) ", command))


class Shell:
    """One shell of a user, so that what a command sets, the next one sees."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            ["chroot", folder, "/bin/bash"],
            env={**environment(), "PIP_FIND_LINKS": "/root/wheels", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, command):
        """Exit status, what it printed, seconds, and seconds of processors."""
        start = time.monotonic()
        before = self.processor_time()
        status, text = self.answer(command)
        return status, text, time.monotonic() - start, self.processor_time() - before

    def answer(self, command):
        self.process.stdin.write(f"{{ {command}\n}} </dev/null; echo '{END}'$?\n")
        self.process.stdin.flush()
        text = ""
        while True:
            line = self.process.stdout.readline()
            if END in line or not line:
                before, _, status = line.partition(END)
                return int(status or 1), text + before
            text += line

    def processor_time(self):
        """Of all that the shell has run: bash's `times`, whose second line is about its children."""
        _, text = self.answer("times")
        return sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", text.splitlines()[-1]))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def try_way(way, folder, say):
    """Whether it works in time."""
    say(f"\n== {way.name}: {way.page.relative_to(ROOT)}, “{way.section}”")
    home = folder / "root"
    for name, text in way.files.items():
        (home / name).write_text(text)
    shell = Shell(folder)
    shell.answer("cd /root")
    spent, waited, text = 0.0, 0.0, ""
    shell.answer("apt-get update -q")
    needed = f"DEBIAN_FRONTEND=noninteractive {prerequisites(way.page, way.section)} -y -q"
    for command in [needed, *way.commands]:
        status, text, wall, processors = shell.run(command)
        apart = is_download(command)
        say(f"$ {command}    # {wall:.1f} s, {processors:.1f} s of processors{', a download' if apart else ''}")
        shown = [line for line in text.splitlines() if "notice" not in line]
        say("\n".join(shown[-6:] if apart and status == 0 else shown[-25:]))
        spent += 0 if apart else min(wall, processors)
        waited += wall if apart else 0
        if status != 0 and command != way.commands[-1] and "cucore run" not in command:
            say(f"exit status {status}")
            break
    shell.close()
    well = way.expected in text and spent <= MOST_SECONDS
    say(f"{'ok' if well else 'FAILED'}: first result after {spent:.1f} s, and {waited:.1f} s of downloads")
    return well


def main():
    arguments = parse(__doc__, "names", help="of ways, or parts of them: author, student, course; all if none")
    lines = []

    def say(text):
        print(text, flush=True)
        lines.append(text)

    bare, folder = arguments.systems / SUITE, arguments.systems / "first"
    make_system(SUITE, bare)
    say(f"Debian {(bare / 'etc/debian_version').read_text().strip()}, {os.cpu_count()} cores")
    well = []
    for way in ways():
        if arguments.names and not any(name in way.name for name in arguments.names):
            continue
        if folder.exists():
            shutil.rmtree(folder)
        subprocess.run(["cp", "-a", bare, folder], check=True)
        prepare(folder, arguments.wheels)
        archive = subprocess.run(
            ["git", "archive", "--prefix=cucore/", "HEAD"], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder / "root"], input=archive.stdout, check=True)
        with entered(folder):
            well.append(try_way(way, folder, say))
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n")
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
