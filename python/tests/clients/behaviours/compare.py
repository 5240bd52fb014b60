"""Runs the snippets with cuda.core and with this package, and compares what came of each with the list of differences.

``python compare.py [--write]`` prints what is compared and what differs unlisted; --write puts the differences that are
found in the list: those that it has keep their reasons, the others come under "TO BE EXPLAINED".
differences.txt has them under their reasons: a line has the snippet, what came of it there, and here. Reasons that
begin with "on a GPU" are of what the CPU device does alike with both.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cucore

FOLDER = Path(__file__).parent
LIST = FOLDER / "differences.txt"
ENDS = "ends the process"
UNEXPLAINED = "TO BE EXPLAINED"
ON_A_GPU = "on a GPU"
# Of the CPU device: two devices of compute capability 9.0, with multiprocessors for groups of its size.
ENVIRONMENT = {
    "CUCORE_CPU_MULTIPROCESSORS": "32",
    "CUCORE_CPU_COMPUTE_CAPABILITY": "9.0",
    "CUCORE_CPU_DEVICES": "2",
    "CUCORE_CPU_CACHE": "0",
    "PYTHONHASHSEED": "0",
}


class Run:
    """What came of each snippet with one package; the names it used, and those that it showed."""

    def __init__(self, package):
        self.outcomes, self.used, self.shown = {}, set(), set()
        while not self._run_on(package):
            pass

    def _run_on(self, package):
        """Runs from where an earlier process ended; whether this one came to the end."""
        driver = Path(cucore.driver_info().path).parent  # found by name in the other process
        path = os.pathsep.join(filter(None, [str(driver), os.environ.get("LD_LIBRARY_PATH")]))
        with tempfile.TemporaryDirectory() as folder:  # for what snippets write
            done = subprocess.run(
                [sys.executable, "-X", "faulthandler", FOLDER, package, str(len(self.outcomes))],
                capture_output=True,
                text=True,
                timeout=300,
                env={**os.environ, **ENVIRONMENT, "LD_LIBRARY_PATH": path, "TMPDIR": folder},
            )
        for area, snippet, result, used, shown in map(json.loads, done.stdout.splitlines()):
            self.outcomes[f"{area}: {snippet}"] = result
            self.used.update(used)
            self.shown.update(shown)
        if done.returncode > 0:
            raise RuntimeError(f"{package} after {list(self.outcomes)[-1:]}: {done.stderr}")
        if done.returncode < 0:
            self.outcomes[f"snippet {len(self.outcomes) + 1}"] = ENDS
        return done.returncode == 0


def listed():
    """Each difference of the list: the snippet, with the outcomes there and here, and the reason."""
    found, reason = {}, None
    for line in LIST.read_text().splitlines():
        if line.startswith("## "):
            reason = line[3:]
        elif line:
            snippet, theirs, ours = line.split("\t")
            found[snippet] = (theirs, ours, reason)
    return found


def compared():
    """The peer's run, and the snippets of which something else came here: (there, here). Objects of classes that the
    peer does not make public are all alike."""
    theirs, ours = Run("cuda.core"), Run("cucore")
    if theirs.outcomes.keys() != ours.outcomes.keys():
        raise RuntimeError(f"not the same snippets: {sorted(theirs.outcomes.keys() ^ ours.outcomes.keys())}")
    public = {name.rpartition(".")[2] for name in theirs.shown if name.startswith("cuda.core")}

    def plain(text):
        text = re.sub(r"@(\w+)", lambda found: found[1] if found[1] in public else "object", text)
        return text.replace("\t", " ").replace("\n", " ")

    pairs = {snippet: (plain(theirs.outcomes[snippet]), plain(ours.outcomes[snippet])) for snippet in theirs.outcomes}
    return theirs, {snippet: pair for snippet, pair in pairs.items() if pair[0] != pair[1]}


def not_covered(run):
    """The public names that no snippet uses."""
    return sorted(run.shown - run.used)


def write(different):
    kept = listed() if LIST.exists() else {}
    by_reason = {}
    for snippet, (*pair, reason) in kept.items():
        if reason.startswith(ON_A_GPU) and snippet not in different:
            by_reason.setdefault(reason, []).append("\t".join((snippet, *pair)))
    for snippet, pair in different.items():
        reason = kept[snippet][2] if snippet in kept else UNEXPLAINED
        by_reason.setdefault(reason, []).append("\t".join((snippet, *pair)))
    sections = (f"## {reason}\n" + "\n".join(lines) for reason, lines in sorted(by_reason.items()))
    LIST.write_text("\n\n".join(sections) + "\n")


def main():
    cucore.Device().set_current()
    run, different = compared()
    known = listed() if LIST.exists() else {}
    unlisted = {snippet: pair for snippet, pair in different.items() if snippet not in known}
    for snippet, (theirs, ours) in unlisted.items():
        print(f"{snippet}\n    cuda.core: {theirs}\n    cucore:    {ours}")
    print(f"not covered: {not_covered(run)}")
    print(f"{len(different)} differ, {len(different) - len(unlisted)} of them with a reason")
    print(f"{len(run.outcomes) - len(unlisted)} passed, {len(unlisted)} failed")
    if "--write" in sys.argv[1:]:
        write(different)
    return 1 if unlisted or not_covered(run) else 0


if __name__ == "__main__":
    sys.exit(main())
