"""Which Python file imports which, wherever in it the import stands, and that no circle comes of it (for lint.py)."""

import ast
import functools
from pathlib import Path

from rooms import ROOT, tracked

PACKAGE = ROOT / "python/cucore"


@functools.cache
def python_files():
    """Python files by what an import of them names: the package's modules, else the path without `.py`."""
    found = {}
    for path in tracked((".py",)):
        base = PACKAGE.parent if path.is_relative_to(PACKAGE) else ROOT
        parts = path.relative_to(base).with_suffix("").parts
        name = "/".join(parts) if base == ROOT else ".".join(parts).removesuffix(".__init__")
        found[name] = path
    return found


def tables_of(path):
    """The dicts and tuples of texts that a module has at its top, by name."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Dict, ast.Tuple)):
            try:
                yield node.targets[0].id, ast.literal_eval(node.value)
            except (AttributeError, ValueError):
                continue


@functools.cache
def from_above():
    """(module, module that it is given by the seam) for each name that the package's own modules have the seam find."""
    above = dict(tables_of(PACKAGE / "_seam.py"))["ABOVE"]
    found = set()
    for name, path in python_files().items():
        for node in ast.walk(ast.parse(path.read_text())) if path.is_relative_to(PACKAGE) else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "_seam.find":
                place = above.get(node.args[0].value, "")
                found.add((name, f"cucore.{place.rpartition('.')[0]}"))
    return found


def imports_of(name, path):
    """The files that one imports: at its top, in a function, for type checkers only, or at the first use of a name."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join(parts + ([node.module] if node.module else []))
            below = [f"{base}.{alias.name}" for alias in node.names]
            names = [each if each in python_files() or each == "cucore._core" else base for each in below]
        else:
            continue
        for each in names:
            yield each
            yield str(Path(name).parent / each)  # of a script, what lies beside it
    if path == PACKAGE / "__init__.py":
        tables = dict(tables_of(path))
        yield from (f"cucore.{each}" for each in [*tables["_LATER"].values(), *tables["_SUBMODULES"]])


def circles(graph):
    """Circles of a graph, each as the names on the way."""
    finished, path = set(), []

    def visit(name):
        if name in path:
            yield [*path[path.index(name) :], name]
        elif name not in finished:
            path.append(name)
            for other in sorted(graph[name] - {name}):
                yield from visit(other)
            finished.add(path.pop())

    for name in sorted(graph):
        yield from visit(name)


def check_python_circles(problems):
    """No Python file imports another in a circle, wherever in them the imports stand."""
    files = python_files()
    graph = {name: {other for other in imports_of(name, path) if other in files} for name, path in files.items()}
    for circle in circles(graph):
        problems.append("a circle of Python's imports: " + " → ".join(circle))
    for name, above in from_above():
        if not any(circles({**graph, name: graph[name] | {above}})):
            problems.append(f"{name}: import {above} instead of asking the seam for it: that makes no circle")
