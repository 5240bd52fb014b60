"""A test that is a command: run into a log file, with a limit, and what came of it as a Tally. For the runners."""

import copy
import json
import os
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv/bin/python"
JOBS = str(os.cpu_count() or 2)


@dataclass
class Tally:
    """The results of some tests; for those that failed, the name and the end of their output."""

    passed: int = 0
    failures: list = field(default_factory=list)
    skipped: int = 0

    @classmethod
    def of(cls, name, status, log):
        """The tally of one test that is a command that has just written to `log`: it passed if its status is 0."""
        return cls(1) if status == 0 else cls(0, [f"{name}: exit status {status}\n{end_of(log)}"])

    def __add__(self, other):
        return Tally(self.passed + other.passed, self.failures + other.failures, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {self.skipped} skipped"

    @property
    def ran_nothing(self):
        return not (self.passed or self.failures or self.skipped)


def end_of(log):
    return "\n".join(log.read_text(errors="replace").splitlines()[-30:])[-4000:]


def run_logged(log, command, env=None, cwd=ROOT, timeout=1800):
    """Runs a command into a log file; returns its exit status, 124 if it ran too long."""
    full_env = {**os.environ, **(env or {})}
    with open(log, "a") as out:
        out.write(f"$ {' '.join(map(str, command))}\n")
        out.flush()
        try:
            return subprocess.run(
                list(map(str, command)), cwd=cwd, env=full_env, stdout=out, stderr=out, timeout=timeout
            ).returncode
        except subprocess.TimeoutExpired:
            out.write(f"stopped after {timeout} s\n")
            return 124


def read_junit(name, path, status, log):
    """The tally of a JUnit file; a runner that died, with or without writing one, counts as a failure of its own."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return Tally.of(name, status or "0, no report", log)
    tally = Tally()
    for case in root.iter("testcase"):
        faults = [*case.findall("failure"), *case.findall("error")]
        if faults:
            text = faults[0].text or ""
            said = " ".join((faults[0].get("message") or text).split())[:400]
            tally.failures.append(f"{case.get('classname')}.{case.get('name')}: {said}\n{text[-4000:]}")
        elif case.find("skipped") is not None or case.get("status") == "notrun" or case.get("result") == "skipped":
            tally.skipped += 1
        else:
            tally.passed += 1
    if status != 0 and not tally.failures:
        tally += Tally.of(f"{name}, outside any test", status, log)
    return tally


class CTest:
    """A test that CTest knows, as it says how to run it."""

    def __init__(self, described, build):
        properties = {each["name"]: each["value"] for each in described.get("properties", [])}
        self.name = described["name"]
        self.command = described.get("command", [self.name])  # a binary that is not built has none
        self.environment = dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))
        self.folder = properties.get("WORKING_DIRECTORY", build)
        self.timeout = float(properties.get("TIMEOUT", 900))
        self.is_googletest = "gtest" in properties.get("LABELS", []) or Path(self.command[0]).name.endswith("_tests")

    def without(self, patterns):
        """The same test, if it is GoogleTest's without the cases of these patterns."""
        if not (patterns and self.is_googletest):
            return self
        other = copy.copy(self)
        filters = [option for option in self.command if option.startswith("--gtest_filter=")]
        wanted, _, unwanted = (filters[-1].removeprefix("--gtest_filter=") if filters else "*").partition("-")
        others = [option for option in self.command if option not in filters]
        other.command = [*others, f"--gtest_filter={wanted}-{':'.join(filter(None, [unwanted, *patterns]))}"]
        return other

    def run(self, log, environment=None, *, command=None, options=(), timeout=None):
        """Runs it, or another ``command`` for it; GoogleTest counts case by case and takes ``options``."""
        command, timeout = command or self.command, timeout or self.timeout
        environment = {**self.environment, **(environment or {})}
        if not self.is_googletest:
            return Tally.of(self.name, run_logged(log, command, environment, self.folder, timeout), log)
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            command = [*command, f"--gtest_output=xml:{report}", *options]
            status = run_logged(log, command, environment, self.folder, timeout)
            return read_junit(self.name, report, status, log)


def tests_of_ctest(build):
    """All tests that CTest knows in a build folder."""
    command = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [CTest(described, build) for described in json.loads(listing)["tests"]]
