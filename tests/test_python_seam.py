"""The seam between the Python package and its extension (python/cucore/_seam.py) is the only way from one to the other,
and the package's modules import one another in no circle."""

import ast
import re
from pathlib import Path

import pytest

import cucore
from cucore import _seam

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/cucore"
BINDINGS = ROOT / "python/bindings"


def module_name(path):
    parts = ("cucore", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}


def imports(module):
    """The modules of the package that one imports, at its top, in a function or for type checkers only."""
    found = set()
    for node in ast.walk(FILES[module]):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                found.add(whole if whole in FILES or whole == "cucore._core" else node.module)
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
    return {name for name in found if name.split(".")[0] == "cucore"}


def test_only_the_seam_imports_the_extension():
    assert [module for module in FILES if "cucore._core" in imports(module)] == ["cucore._seam"]


def test_the_extension_imports_nothing_of_the_package():
    for path in sorted(BINDINGS.rglob("*.[ch]pp")):
        assert not re.search(r'import_\("cucore|Import\w*\(.*"cucore', path.read_text()), path


def test_no_modules_import_one_another_in_a_circle():
    order, open_ = [], []

    def visit(module):
        assert module not in open_, f"a circle: {' -> '.join([*open_[open_.index(module) :], module])}"
        if module in order or module not in FILES:
            return
        open_.append(module)
        for imported in sorted(imports(module)):
            visit(imported)
        order.append(open_.pop())

    for module in sorted(FILES):
        visit(module)


def test_the_extension_and_the_package_know_the_same_names():
    (path,) = BINDINGS.rglob("package.def")
    definition = path.read_text()
    assert sorted(re.findall(r"^PACKAGE_NAME\((\w+)\)", definition, re.MULTILINE)) == sorted(_seam.PLACES)


@pytest.mark.parametrize("name", [*_seam.PLACES, *_seam.ABOVE])
def test_every_name_leads_somewhere(name):
    assert callable(_seam.find(name))


def test_other_names_are_refused():
    with pytest.raises(ImportError, match=r"not of one version.*'Nothing'.*lacks.*'Timer'"):
        cucore._core._connect(_seam.find, [name for name in _seam.PLACES if name != "Timer"] + ["Nothing"])
    assert cucore.Device is _seam.find("Device")
