#!/usr/bin/env python3
"""Runs every instruction test against a driver and compares with its table.

    run_tests.py [check] [--driver PATH] [--filter TEXT]...    compare with the tables
    run_tests.py record --out FILE [--driver PATH]             the same, and keep everything the device computed in FILE
    run_tests.py check --replay FILE                           compare a recording with the tables: needs no device
    run_tests.py record --replay FILE                          fill the cells marked `?` from a recording

The last line is `N passed, N failed, N skipped`; the exit status is 1 if anything failed. A test is skipped only when it
needs a compute capability that the device does not report. Needs nothing but Python's standard library and a libcuda.so.1
(by default the system's).
"""

import argparse
import gzip
import hashlib
import json
import sys
import time
from pathlib import Path

from table import Table, error, hexadecimal
from worker import Workers, job_of

HERE = Path(__file__).resolve().parent
SHOWN_ROWS = 8


class Test:
    """A kernel and its table, as the files give them."""

    def __init__(self, ptx_path):
        self.path = Path(ptx_path)
        self.name = f"{self.path.parent.name}/{self.path.stem}"
        self.table = Table.parse(self.path.with_suffix(".tsv").read_text())
        self.compute = self.table.headers.get("compute")

    def fingerprint(self):
        """Changes when what runs changes: the kernel (its comment aside), the operands or the launch."""
        code = self.path.read_text().split("\n", 1)[1]
        job = job_of(self.table, "")
        return hashlib.sha256((code + json.dumps(job, sort_keys=True)).encode()).hexdigest()[:16]

    def run(self, workers):
        """The answer of a device, or None and the reason why this one cannot run it."""
        worker = workers.get(self.compute)
        if "failure" in worker.identity:
            return {"failure": worker.identity["failure"]}, None
        if self.compute and version(worker.identity["compute"]) < version(self.compute):
            return None, f"needs compute capability {self.compute}, the device reports {worker.identity['compute']}"
        answer = worker.run(job_of(self.table, self.path))
        if "launch-error" in self.table.headers:
            worker.broken = True
        return answer, None

    def problems(self, answer):
        """What is wrong with an answer, a line each; empty when it is what the table says."""
        wanted_code = int(self.table.headers.get("launch-error", "0"))
        if wanted_code:
            if answer.get("code") == wanted_code:
                return []
            return [f"expected the launch to end with error {wanted_code}, got {answer.get('failure', 'success')}"]
        if "failure" in answer:
            return [answer["failure"]]
        found = []
        if self.table.stdout() is not None and answer["stdout"] != self.table.stdout():
            found.append(f"printed {answer['stdout']!r}, expected {self.table.stdout()!r}")
        fill = int(self.table.headers.get("fill", "0xcd"), 16)
        outputs = list(self.table.unpack_outputs(bytes.fromhex(answer["outputs"]), fill))
        for index, (row, (values, untouched)) in enumerate(zip(self.table.rows, outputs)):
            if any(self.cell_error(row, column, value) > 1 for column, value in enumerate(values)):
                found.append(self.row_text(index, row, values))
            elif not untouched:
                found.append(f"row {index}: wrote outside its result")
        return found

    def cell_error(self, row, column, value):
        expected = row.expected[column]
        if expected == "*":
            return 0.0
        if expected == "?":
            return 2.0
        type_name = self.table.outputs[column][1]
        tolerance = self.table.tolerances()[column]
        return error(value, expected, type_name, row.tolerance if row.tolerance and tolerance != "exact" else tolerance)

    def worst(self, answer):
        """The largest error in units of the tolerance."""
        if "outputs" not in answer:
            return 0.0
        fill = int(self.table.headers.get("fill", "0xcd"), 16)
        outputs = self.table.unpack_outputs(bytes.fromhex(answer["outputs"]), fill)
        return max(
            (
                self.cell_error(row, c, v)
                for row, (values, _) in zip(self.table.rows, outputs)
                for c, v in enumerate(values)
            ),
            default=0.0,
        )

    def row_text(self, index, row, values):
        show = lambda cells, columns: " ".join(  # noqa: E731
            f"{n}={c if isinstance(c, str) else hexadecimal(c, t)}" for c, (n, t) in zip(cells, columns)
        )
        note = f" [{row.note}]" if row.note else ""
        return (
            f"row {index}: {show(row.inputs, self.table.inputs)}; expected {show(row.expected, self.table.outputs)}, "
            f"got {show(values, self.table.outputs)}{note}"
        )

    def fill_from(self, answer):
        """Takes the cells marked `?` from a recorded answer; true if there were any."""
        fill = int(self.table.headers.get("fill", "0xcd"), 16)
        changed = False
        for row, (values, _) in zip(self.table.rows, self.table.unpack_outputs(bytes.fromhex(answer["outputs"]), fill)):
            for column, value in enumerate(values):
                if row.expected[column] == "?":
                    row.expected[column], changed = value, True
        if changed:
            self.path.with_suffix(".tsv").write_text(self.table.text())
        return changed


def version(text):
    return tuple(int(part) for part in text.split("."))


def find_tests(filters=()):
    """Every test, those that leave a device unusable last."""
    tests = [
        Test(p)
        for p in sorted(HERE.glob("*/*.ptx"))
        if not filters or any(f in f"{p.parent.name}/{p.stem}" for f in filters)
    ]
    return sorted(tests, key=lambda t: (t.compute or "", "launch-error" in t.table.headers))


class Recording:
    """What a device computed: its identity, and per test the answer with the fingerprint of what was run."""

    def __init__(self, identity, answers):
        self.identity, self.answers = identity, answers

    @classmethod
    def read(cls, path):
        data = json.loads(gzip.decompress(Path(path).read_bytes()))
        return cls(data["identity"], data["tests"])

    def write(self, path):
        text = json.dumps({"identity": self.identity, "tests": self.answers}, sort_keys=True, separators=(",", ":"))
        Path(path).write_bytes(gzip.compress(text.encode(), 9, mtime=0))

    def answer(self, test):
        """The recorded answer, or why there is none that still counts."""
        found = self.answers.get(test.name)
        if found is None:
            return None, "not in the recording"
        if found["fingerprint"] != test.fingerprint():
            return None, "the test has changed since it was recorded"
        return found, None

    def title(self):
        return "{device}, compute capability {compute}, driver {driver}".format(**self.identity)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="?", default="check", choices=("check", "record"))
    parser.add_argument("--driver", default="libcuda.so.1")
    parser.add_argument(
        "--filter", action="append", default=[], help="run tests whose family/name contains this; may repeat"
    )
    parser.add_argument("--replay", help="take the answers from this recording instead of a device")
    parser.add_argument("--out", help="where record keeps what the device computed")
    parser.add_argument("--all-rows", action="store_true", help=f"show every failing row, not the first {SHOWN_ROWS}")
    parser.add_argument("--timeout", type=float, default=60, help="seconds after which a kernel counts as hung")
    options = parser.parse_args()
    if options.mode == "record" and not (options.out or options.replay):
        parser.error("record needs --out FILE (or --replay FILE to fill tables from a recording)")
    recording = Recording.read(options.replay) if options.replay else None
    workers = None if recording else Workers(options.driver, options.timeout)
    started, counts, answers = time.monotonic(), {"passed": 0, "failed": 0, "skipped": 0}, {}
    identity = recording.identity if recording else workers.get().identity
    if "failure" in identity:
        print(identity["failure"])
        return 1
    print(f"driver: {options.replay or options.driver}: {Recording(identity, {}).title()}")
    loosest = []
    for test in find_tests(options.filter):
        answer, reason = recording.answer(test) if recording else test.run(workers)
        if answer is None:
            kind = "failed" if recording else "skipped"
            counts[kind] += 1
            print(f"{kind.upper()} {test.name}: {reason}")
            continue
        answers[test.name] = {**answer, "fingerprint": test.fingerprint()}
        if options.mode == "record" and recording and "outputs" in answer:
            test.fill_from(answer)
        problems = test.problems(answer)
        counts["failed" if problems else "passed"] += 1
        loosest.append((test.worst(answer) if not problems else 0.0, test.name))
        if problems:
            print(f"FAILED {test.name}: {test.table.title.split(': ', 1)[1]}")
            shown = problems if options.all_rows else problems[:SHOWN_ROWS]
            print("\n".join("    " + line for line in shown))
            if len(problems) > len(shown):
                print(f"    ... and {len(problems) - len(shown)} more rows")
    if workers:
        workers.close()
    if options.out and not recording:
        Recording(identity, answers).write(options.out)
    close = [f"{name} {worst:.2f}" for worst, name in sorted(loosest, reverse=True)[:8] if worst > 0]
    print(f"largest errors, as a share of the tolerance: {', '.join(close) or 'none'}")
    print(f"{time.monotonic() - started:.1f} s")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
