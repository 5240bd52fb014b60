"""One pytest test per instruction, on the driver that CUCORE_TEST_DRIVER names or else the CPU device that was built.

Beside them: the committed files are what make_tests.py writes, the tables agree with what a real GPU computed, and the model
that the tables come from agrees with the host's own doubles where those are exact.
"""

import math
import os
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

import make_tests
import pytest
import run_tests
from reference import ieee
from reference.ieee import F32, F64
from worker import Workers

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[2] / "build" / "cpu" / "driver" / "libcuda.so.1"
# What no GPU has run yet: the beginnings of the tests' names. Whoever records takes them out.
AWAITED = HERE / "recorded" / "awaited.txt"
RECORDINGS = sorted((HERE / "recorded").glob("*.json.gz"))
TESTS = run_tests.find_tests()
# The vector form compiles for longer: here a sample, and with CUCORE_CPU_FORM=vector all of them.
IN_VECTOR_FORM = [
    t for n, t in enumerate(TESTS) if n % 10 == 0 or t.name.endswith(".subnormal") or t.name.startswith("exited_lanes/")
]
IN_MASKED_FORM = [t for t in TESTS if t.name.startswith("exited_lanes/")]


@pytest.fixture(scope="session")
def workers():
    pool = Workers(os.environ.get("CUCORE_TEST_DRIVER", str(BUILT)))
    yield pool
    pool.close()


def workers_of_form(form):
    if "CUCORE_TEST_DRIVER" in os.environ:
        pytest.skip("a form of code is a matter of the CPU device")
    pool = Workers(str(BUILT), form=form)
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def vector_workers():
    yield from workers_of_form("vector")


@pytest.fixture(scope="session")
def masked_workers():
    yield from workers_of_form("masked")


@pytest.mark.parametrize("test", IN_VECTOR_FORM, ids=[test.name for test in IN_VECTOR_FORM])
def test_vector_form_computes_the_table(test, vector_workers):
    test_instruction_computes_the_table(test, vector_workers)


@pytest.mark.parametrize("test", IN_MASKED_FORM, ids=[test.name for test in IN_MASKED_FORM])
def test_masked_form_computes_the_table(test, masked_workers):
    test_instruction_computes_the_table(test, masked_workers)


@pytest.mark.parametrize("test", TESTS, ids=[test.name for test in TESTS])
def test_instruction_computes_the_table(test, workers):
    answer, reason = test.run(workers)
    if answer is None:
        pytest.skip(reason)
    problems = test.problems(answer)
    assert not problems, "\n".join([test.table.title, *problems])


@pytest.mark.parametrize("family", ["cluster", "cp", "mbarrier", "ldmatrix", "stmatrix", "wmma", "st", "atom", "red"])
def test_checker_has_nothing_to_say_of_the_tables(family):
    if "CUCORE_TEST_DRIVER" in os.environ:
        pytest.skip("the checker is the CPU device's")
    done = subprocess.run(
        [sys.executable, run_tests.__file__, "check", "--driver", str(BUILT), "--filter", f"{family}/"],
        env={**os.environ, "CUCORE_CPU_CHECK": "memory,race,init,sync"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    summaries = re.findall("CHECK SUMMARY: (.*)", done.stderr)
    assert summaries and set(summaries) == {"0 errors"}, done.stderr


def test_committed_files_are_what_the_generator_writes():
    changed, orphaned = make_tests.differences(make_tests.generated_files())
    assert not changed and not orphaned, "run make_tests.py"


def test_every_table_was_confirmed_by_a_gpu():
    recordings = [run_tests.Recording.read(path) for path in RECORDINGS]
    assert recordings, "no recording of a GPU is committed"
    wrong = []
    for test in TESTS:
        answers = [r.answer(test)[0] for r in recordings]
        known = [a for a in answers if a]
        if not known or any(test.problems(a) for a in known):
            wrong.append(test.name)
    awaited = AWAITED.read_text().split()
    assert [name for name in wrong if not name.startswith(tuple(awaited))] == []
    assert [prefix for prefix in awaited if not any(name.startswith(prefix) for name in wrong)] == []


def double_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def test_the_model_agrees_with_host_doubles():
    rng = random.Random("doubles")
    for _ in range(2000):
        x, y = (struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0] for _ in range(2))
        if rng.getrandbits(1):
            x, y = rng.uniform(-4, 4), rng.uniform(-4, 4)
        if math.isnan(x) or math.isnan(y) or y == 0:
            continue
        a, b = F64.decode(double_bits(x)), F64.decode(double_bits(y))
        for model, host in ((ieee.add(a, b), x + y), (ieee.multiply(a, b), x * y), (ieee.divide(a, b), x / y)):
            bits = F64.round_real(model)
            assert (F64.is_nan(bits) and math.isnan(host)) or bits == double_bits(host), (x, y)
        if not a.infinite:
            assert F64.round_real(ieee.square_root(ieee.Real(False, a.magnitude))) == double_bits(math.sqrt(abs(x)))
            try:
                single = struct.unpack("<I", struct.pack("<f", x))[0]
            except OverflowError:
                single = F32.infinity | (F32.sign if x < 0 else 0)
            assert F32.round_real(a) == single, x
