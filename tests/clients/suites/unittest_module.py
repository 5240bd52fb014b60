"""Runs one module of a client's own test-suite and prints a JSON line for each of its tests, as soon as it has ended:

    python unittest_module.py MODULE [--leave-out SUFFIX] [--before STATEMENT]

`outcome` is passed, failed, or skipped (by the client itself); `said` is the last of what it gave as a reason. It runs
with the Python in which the client is installed, and needs nothing but that Python's standard library.
"""

import argparse
import importlib
import inspect
import json
import os
import sys
import unittest


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


class Lines(unittest.TestResult):
    """A test's outcome is the worst of what its parts (subTest, tearDown) came to; outside any test it is a failure."""

    def __init__(self, out):
        super().__init__()
        self.out = out
        self.worst = None

    def say(self, test, outcome, said):
        self.out.write(
            json.dumps({"test": test.id(), "outcome": outcome, "said": " ".join(said.split())[-400:]}) + "\n"
        )
        self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.worst = ("passed", "")

    def stopTest(self, test):
        super().stopTest(test)
        self.say(test, *self.worst)
        self.worst = None

    def fail(self, test, error):
        if error[0].__name__ == "Skipped":  # pytest's word for it, which unittest does not know
            self.addSkip(test, str(error[1]))
            return
        said = self._exc_info_to_string(error, test)
        sys.stderr.write(f"---- {test.id()}\n{said}\n")
        if self.worst is None:  # setUpClass, setUpModule or their opposites
            self.say(test, "failed", said)
        elif self.worst[0] != "failed":
            self.worst = ("failed", said)

    def addError(self, test, err):
        self.fail(test, err)

    def addFailure(self, test, err):
        self.fail(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.fail(test, err)

    def addSkip(self, test, reason):
        if self.worst is None:
            self.say(test, "skipped", reason)
        elif self.worst[0] == "passed":
            self.worst = ("skipped", reason)

    def addUnexpectedSuccess(self, test):
        self.worst = ("failed", "passed, which the client's suite does not expect")


class Function(unittest.FunctionTestCase):
    """A test of pytest's kind: a function of the module that takes nothing."""

    def id(self):
        return f"{self._testFunc.__module__}.{self._testFunc.__name__}"


def tests(name):
    yield from each(unittest.TestLoader().loadTestsFromName(name))
    module = importlib.import_module(name)
    own = [each for each in vars(module).values() if inspect.isfunction(each) and each.__module__ == name]
    for function in own:
        takes_nothing = not inspect.signature(function).parameters  # others are what the suite makes tests of itself
        if function.__name__.startswith("test_") and takes_nothing:
            yield Function(function)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--leave-out", action="append", default=[], help="tests whose names end with this")
    parser.add_argument("--before", default="", help="a statement that runs before the tests")
    arguments = parser.parse_args()
    # What tests print goes to standard error, what is said about them where standard output went.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    exec(arguments.before, {})
    kept = [test for test in tests(arguments.module) if not test.id().endswith(tuple(arguments.leave_out))]
    sys.argv[1:] = []
    unittest.TestSuite(kept).run(Lines(out))
    out.flush()


if __name__ == "__main__":
    main()
