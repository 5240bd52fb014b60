"""The stubs of the Python package are what tools/make_stubs.py makes of it."""

import ast
import subprocess
import sys
from pathlib import Path

import cucore

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/cucore"


def make_stubs(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "tools/make_stubs.py", *arguments], capture_output=True, text=True, timeout=300
    )


def test_stubs_are_what_the_package_and_the_signatures_make():
    done = make_stubs("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_device_property_has_its_type_and_what_it_says():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    cls = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "DeviceProperties")
    stubs = {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
    assert len(cucore._core._device_property_names) > 100
    for name in cucore._core._device_property_names:
        assert ast.unparse(stubs[name].returns) in ("int", "bool"), name
        assert ast.get_docstring(stubs[name]), name
    assert "__getattr__" not in stubs


def test_stubs_have_the_docstrings():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert "keeps it alive" in ast.get_docstring(classes["Buffer"])
    copy_to = next(node for node in classes["Buffer"].body if getattr(node, "name", None) == "copy_to")
    assert ast.get_docstring(copy_to).startswith("Copies all of it")
    assert ast.get_docstring(functions["launch"]).startswith("Runs `kernel` on `stream`")
    assert "current one" in ast.get_docstring(classes["Device"])
