"""docs/migrating.md: the names it lists as there can be imported, and those it lists as missing cannot."""

import re
from pathlib import Path

import pytest
from conftest import run_python

import cucore

PAGE = Path(__file__).parents[3] / "docs/migrating.md"


def listed(section):
    """The names in a marked section; modules are not names."""
    (part,) = re.findall(rf"<!-- {section}: begin -->(.*)<!-- {section}: end -->", PAGE.read_text(), re.DOTALL)
    names = re.findall(r"`([A-Za-z_][\w.]*)`", part)
    return [name for name in names if not name.startswith(("cucore", "cuda"))]


def found(name):
    thing = cucore
    for part in name.split("."):
        try:
            thing = getattr(thing, part)
        except AttributeError:
            return part in getattr(thing, "__dataclass_fields__", {})
    return True


def test_what_the_page_lists_as_there_is_there():
    names = listed("there")
    assert len(names) > 70
    assert [name for name in names if not found(name)] == []


def test_what_the_page_lists_as_missing_is_missing():
    names = listed("missing")
    assert len(names) > 4
    assert [name for name in names if found(name)] == []


def test_every_public_name_of_the_peer_is_there_or_on_the_page():
    pytest.importorskip("cuda.core")
    done = run_python("""
        import importlib, types
        import cuda.core
        for module in ("", "graph", "texture", "typing", "utils", "checkpoint", "system", "system.typing"):
            theirs = importlib.import_module("cuda.core" + ("." + module if module else ""))
            for name in dir(theirs):
                value = getattr(theirs, name)
                foreign = isinstance(value, types.ModuleType) and not value.__name__.startswith("cuda.core")
                if not name.startswith("_") and not foreign:
                    print(f"{module}.{name}".lstrip("."))
        """)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert len(names) > 120
    page = re.sub("```.*?```", "", PAGE.read_text(), flags=re.DOTALL)
    named = set(re.findall(r"[A-Za-z_]\w*", " ".join(re.findall(r"`([^`]+)`", page))))
    assert [name for name in names if not found(name) and name.rpartition(".")[2] not in named] == []
