"""Compiles the PTX corpus's sources with NVRTC for the newest targets, asks the built CPU device what of it does not
run, and writes docs/refused-spellings.md.

    .venv/bin/python tools/make_refused_spellings.py
"""

import collections
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from make_ptx_corpus import CORPUS, REPOSITORY, compile_to_ptx

TARGETS = ("sm_100", "sm_103", "sm_120", "sm_121")
CUCORE = REPOSITORY / "build" / "cli" / "cucore"
PAGE = REPOSITORY / "docs" / "refused-spellings.md"


def lines_of(text, name):
    """What `cucore dump` says of a file: (verdict, spelling, reason)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.write_text(text)
        done = subprocess.run([CUCORE, "dump", path], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if found := re.match(r"  (exact|approximate|unsupported) +\d+ +(\S+) *(?:line \d+: )?(.*)", line):
            yield found.groups()


def opcodes_without_generator():
    known = re.findall(r'PTX_OPCODE\(\w+, "(\w+)"\)', (REPOSITORY / "cpu" / "ptx" / "tree" / "opcodes.def").read_text())
    done = subprocess.run([CUCORE, "driver-status", "--list"], capture_output=True, text=True, check=True)
    covered = done.stdout.split("covered opcodes")[1].split()
    return [opcode for opcode in known if opcode not in covered]


def main():
    toolkit = next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/cu13"))
    library = ctypes.CDLL(str(toolkit / "lib" / "libnvrtc.so.13"))
    os.chdir("/")
    includes = [f"-I{toolkit / 'include'}", f"-I{toolkit / 'include' / 'cccl'}"]
    seen, refused, not_compiled = set(), collections.defaultdict(set), []
    for path in sorted((CORPUS / "sources").glob("*.cu")):
        for target in TARGETS:
            try:
                text = compile_to_ptx(library, path.read_bytes(), path.name.encode(), [f"-arch={target}", *includes])
            except RuntimeError:
                not_compiled.append((path.stem, target))
                continue
            for verdict, spelling, reason in lines_of(text, f"{path.stem}.ptx"):
                seen.add(spelling)
                if verdict == "unsupported":
                    refused[spelling, reason].add(target)
    counts = f"{len(seen)} spellings were met, {len({s for s, _ in refused})} of them refused."
    page = [
        "# Spellings that NVRTC emits and the CPU device refuses",
        "",
        "Made by `tools/make_refused_spellings.py`, of the sources in `cpu/tests/corpus/sources` and what NVRTC 13.0",
        f"makes of them for {', '.join(TARGETS)}. {counts}",
        "",
    ]
    if refused:
        page += ["| spelling | why | targets |", "|---|---|---|"]
        page += [f"| `{s}` | {why} | {', '.join(sorted(where))} |" for (s, why), where in sorted(refused.items())]
        page.append("")
    if not_compiled:
        page += ["NVRTC refuses these sources for these targets:", ""]
        page += [f"- `{stem}.cu` for {target}" for stem, target in not_compiled]
        page.append("")
    missing = ", ".join(f"`{opcode}`" for opcode in opcodes_without_generator())
    page += [f"Opcodes of PTX ISA 9.0 that have no spelling which runs: {missing}.", ""]
    PAGE.write_text("\n".join(page))
    print(f"{PAGE.relative_to(REPOSITORY)}: {len(seen)} spellings, {len(refused)} refused")


if __name__ == "__main__":
    main()
