"""A short run of the random programs: the CPU device's forms of code against each other and against the interpreter."""

import os
from pathlib import Path

import compare
import pytest
import run
from interpreter import interpret
from launches import N, digest, make_inputs, text_of
from program import make_program

HERE = Path(__file__).resolve().parent
SEEDS = list(range(120))
IN_VECTOR_FORM = SEEDS[:30]
DIGESTS = sorted((HERE / "digests").glob("*.gz"))


@pytest.fixture(scope="module")
def rows():
    if os.environ.get("CUCORE_DEVICE") == "gpu":
        pytest.skip("about the CPU device")
    return run.run(SEEDS, "cpu")


def differing(expected, rows):
    return compare.differences({seed: row for seed, row in expected.items() if seed in rows}, rows)


def test_programs_write_what_the_interpreter_says(rows):
    inputs, expected = make_inputs(), {}
    for program in map(make_program, SEEDS):
        text, output = text_of(program), interpret(program, inputs, N)
        expected[program.seed] = (program.language, digest(text.encode()), digest(output))
    assert not differing(expected, rows)


def test_the_vector_form_writes_the_same(rows):
    assert not differing(rows, run.run(IN_VECTOR_FORM, "cpu", "vector"))


@pytest.mark.parametrize("path", DIGESTS, ids=[path.name for path in DIGESTS])
def test_the_committed_digests_are_still_those_of_these_programs(path, rows):
    assert not differing(compare.read(path), rows)


def test_drivers_agreed_on_every_committed_program():
    here = compare.read(HERE / "digests/cpu.txt.gz")
    assert len(here) >= 10000
    assert not any(output.startswith("failed") for _, _, output in here.values())
    for path in DIGESTS:
        other = compare.read(path)
        assert other.keys() <= here.keys()
        assert not compare.differences(here, other), path.name
