"""Writes docs/environment.md from the tables of environment variables; `--check` only compares (`make lint` does)."""

import sys
from pathlib import Path

import tables

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/environment.md"
PARTS = (
    ("src/settings/settings.def", "The library", "What cucore itself reads, whichever driver it uses."),
    ("cpu/runtime/process/settings.def", "The CPU device", "What the CPU device reads, in any program that uses it."),
)
# How a table's moment adds to the words about it.
MOMENTS = {
    "once": "once, {}",
    "each_time": "{}",
    "once_if_trusted": "once, {}; not by a program that has more rights than its user",
}


def page():
    text = "# Environment variables\n\nMade from the tables in the source by `tools/make_environment.py`.\n"
    for table, title, introduction in PARTS:
        text += f"\n## {title}\n\n{introduction}\n\n| variable | meaning | read |\n|---|---|---|\n"
        for _, (_, variable, moment, when, what) in tables.lines(ROOT / table):
            read = MOMENTS[moment].format(tables.text(when))
            text += f"| `{variable}` | {tables.text(what)} | {read} |\n"
    return text


def stale():
    """The page, if it is not what the tables say."""
    return [] if PAGE.exists() and PAGE.read_text() == page() else [str(PAGE.relative_to(ROOT))]


def main():
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"{path}: is not what the tables say: run tools/make_environment.py")
        return 1 if stale() else 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
