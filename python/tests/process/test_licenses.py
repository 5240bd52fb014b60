"""The terms of others' code that is linked into the package lie in it."""

from pathlib import Path

import pytest

import cucore

TERMS = {
    "cucore": "Apache License",
    "dlpack": "Apache License",
    "nanobind": "Wenzel Jakob",
    "robin_map": "Thibaut Goetghebuer-Planchon",
}


@pytest.mark.parametrize("part", TERMS)
def test_whose_code_is_in_it_is_said_with_their_terms(part):
    text = (Path(cucore.__file__).parent / f"licenses/{part}.txt").read_text()
    assert TERMS[part] in text
    assert "Permission" in text or "WITHOUT WARRANTIES" in text or "permitted" in text
