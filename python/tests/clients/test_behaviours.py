"""behaviours/, run with cuda.core and with this package on one driver: the same results, errors and warnings."""

import sys
from pathlib import Path

import pytest

import cucore

sys.path.append(str(Path(__file__).parent))
from behaviours import compare  # noqa: E402


@pytest.fixture(scope="module")
def comparison():
    pytest.importorskip("cuda.core", reason="cuda-core is not installed: nothing to compare with")
    cucore.Device().set_current()
    return compare.compared()


def test_each_behaviour_is_that_of_the_peer_but_for_those_that_differ_on_purpose(comparison):
    run, different = comparison
    assert len(run.outcomes) > 21000
    known = compare.listed()
    assert {snippet: pair for snippet, pair in different.items() if snippet not in known} == {}
    if cucore.driver_info().kind == "cpu":  # what a GPU has or can do is not the same everywhere
        ours = {snippet: pair[1] for snippet, pair in different.items()}
        everywhere = {snippet: pair for snippet, pair in known.items() if not pair[2].startswith(compare.ON_A_GPU)}
        assert ours == {snippet: pair[1] for snippet, pair in everywhere.items()}


def test_every_difference_has_a_reason():
    assert {reason for *_, reason in compare.listed().values()}.isdisjoint({None, compare.UNEXPLAINED})


def test_every_public_name_of_the_peer_is_used_by_a_snippet(comparison):
    run, _ = comparison
    assert len(run.shown) > 1000
    assert compare.not_covered(run) == []
