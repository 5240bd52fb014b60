"""A short run of the random programs: the CPU device's forms of code against each other and against the interpreter."""

import os
from pathlib import Path

import compare
import pytest
import run
from interpreter import interpret
from launches import N, digest, make_inputs, text_of
from left_out import leave_out
from operations import FIRST_LATER, operations
from program import make_program
from statements import If, Loop, Operate

HERE = Path(__file__).resolve().parent
SEEDS = [*range(120), *range(FIRST_LATER, FIRST_LATER + 40)]
IN_VECTOR_FORM = [*SEEDS[:30], *SEEDS[120:130]]
WITH_PACKED_HALVES = [4877, 4886]  # that live where lanes come by different ways
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


@pytest.mark.parametrize("form", ["vector", "masked"])
def test_the_vector_form_writes_the_same(rows, form):
    assert not differing(rows, run.run(IN_VECTOR_FORM, "cpu", form))


@pytest.mark.skipif(os.environ.get("CUCORE_DEVICE") == "gpu", reason="about the CPU device")
@pytest.mark.parametrize("form", ["vector", "masked"])
def test_packed_halves_merge_where_lanes_part(form):
    merged = run.run(WITH_PACKED_HALVES, "cpu", form)
    assert merged.keys() == set(WITH_PACKED_HALVES)
    assert not differing(compare.read(HERE / "digests/cpu.txt.gz"), merged)


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


def operate(name, results, operands, guard=None):
    return Operate(operations()[name], results.split(), operands, guard)


LEFT_OUT = {
    "abs before sub.cc": (
        [operate("abs.s64", "d0", ["d1"]), operate("subc.s64", "d2 d3", ["d1", "d0", "d1", "d2"])],
        [operate("neg.s64", "d0", ["d1"]), operate("subc.s64", "d2 d3", ["d1", "d0", "d1", "d2"])],
    ),
    "cnot as the amount of a 16-bit shift": (
        [operate("cnot.b32", "r0", ["r1"]), operate("shr.u16", "h0", ["h1", "r0"])],
        [operate("not.b32", "r0", ["r1"]), operate("shr.u16", "h0", ["h1", "r0"])],
    ),
    "cnot as the amount of another shift stays": (
        [operate("cnot.b32", "r0", ["r1"]), operate("shr.u32", "r2", ["r1", "r0"])],
        [operate("cnot.b32", "r0", ["r1"]), operate("shr.u32", "r2", ["r1", "r0"])],
    ),
    "a sign as the lowest byte of prmt": (
        [operate("prmt.b32", "r0", ["r1", "r2", 0x48])],
        [operate("prmt.b32", "r0", ["r1", "r2", 0x40])],
    ),
    "subc of what a branch shows to be a constant": (
        [operate("setp.eq.u32", "p0", ["r0", 1]), operate("subc.u32", "r4 r5", ["r1", "r0", "r2", "r0"])],
        [operate("setp.eq.u32", "p0", ["r0", 1]), operate("subc.u32", "r4 r5", ["r1", "r0", "r2", "r1"])],
    ),
    "a guard in a loop that is entered where it holds and changes it": (
        [
            If(
                "p0",
                False,
                [
                    Loop(
                        "r0",
                        3,
                        [operate("popc.b32", "r1", ["r2"], "p0"), operate("setp.lt.u32", "p0", ["r1", "r2"])],
                        1,
                    )
                ],
                [],
            )
        ],
        [
            If(
                "p0",
                False,
                [Loop("r0", 3, [operate("popc.b32", "r1", ["r2"]), operate("setp.lt.u32", "p0", ["r1", "r2"])], 1)],
                [],
            )
        ],
    ),
    "a guard in a loop that does not change it stays": (
        [If("p0", False, [Loop("r0", 3, [operate("popc.b32", "r1", ["r2"], "p0")], 1)], [])],
        [If("p0", False, [Loop("r0", 3, [operate("popc.b32", "r1", ["r2"], "p0")], 1)], [])],
    ),
}


@pytest.mark.parametrize(("body", "expected"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_only_what_the_assembler_makes_wrong_is_left_out(body, expected):
    leave_out(body)
    assert body == expected
