"""Runs the snippets of this folder with one package: ``python behaviours PACKAGE [FIRST [AREA ...]]``.

Prints a JSON line for each snippet: its area, its text, what came of it, the public names that it was the first to use,
and those that it was the first to show: of the modules, and of each object that it came by. FIRST is where to begin,
after a snippet that ended the process. Each module of_*.py is an area: ``BEHAVIOURS`` has its snippets,
``names(shared)`` makes what they use besides the names of common.py. A snippet is an expression, which may follow
statements; it starts with the area's names as they were made.
"""

import ast
import importlib
import json
import re
import sys
import threading
import types
import warnings
from pathlib import Path

import common

AREAS = sorted(file.stem for file in Path(__file__).parent.glob("of_*.py"))
MODULES = ("", ".graph", ".texture", ".typing", ".utils", ".checkpoint", ".system", ".system.typing")
used, shown, types_shown = set(), set(), set()


def owner(value, name):
    """Where the package defines the attribute: 'Stream.wait' for a LegacyStream's; None for what Python defines."""
    if isinstance(value, types.ModuleType):
        return re.sub(r"\.cu1\d", "", value.__name__) + f".{name}"  # the folder of the compiled parts
    for kind in value.__mro__ if isinstance(value, type) else type(value).__mro__:
        if name in kind.__dict__ or name in getattr(kind, "__dataclass_fields__", ()):
            return f"{kind.__name__}.{name}" if kind.__module__.startswith(("cuda.core", "cucore")) else None
    return None


def show(kind):
    """Notes the public names of a class."""
    if kind not in types_shown and kind.__module__.startswith("cuda.core"):
        types_shown.add(kind)
        names = {*dir(kind), *getattr(kind, "__dataclass_fields__", ())}
        shown.update(owner(kind, name) for name in names if not name.startswith("_"))


def show_modules(package):
    """Notes the public names of the modules, and of their classes."""
    for module in (importlib.import_module(package + name) for name in MODULES):
        for name, value in vars(module).items():
            if not name.startswith("_") and not isinstance(value, types.ModuleType):
                shown.add(owner(module, name))
                if isinstance(value, type):
                    show(value)


def reach(value, name):
    """``value.name``, noted."""
    used.add(owner(value, name))
    result = getattr(value, name)
    show(type(result))
    return result


class Noted(ast.NodeTransformer):
    """Attributes that are read become calls of reach()."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node  # what is set is also read by another snippet
        called = ast.Call(ast.Name("reach__", ast.Load()), [node.value, ast.Constant(node.attr)], [])
        return ast.copy_location(called, node)


def evaluate(snippet, names):
    """The value of the snippet's last expression, after the statements before it; None if it ends with a statement."""
    tree = ast.fix_missing_locations(Noted().visit(ast.parse(snippet)))
    *statements, last = tree.body
    if not isinstance(last, ast.Expr):
        statements, last = tree.body, ast.parse("None").body[0]
    exec(compile(ast.Module(statements, []), snippet, "exec"), names)
    return eval(compile(ast.Expression(last.value), snippet, "eval"), names)


def outcome(snippet, names):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = common.shown(evaluate(snippet, names))
        except Exception as error:
            result = f"raises {common.kind_of_error(error)}"
    categories = sorted({common.kind_of_warning(one.category) for one in caught})
    return result + "".join(f" warns {category}" for category in categories)


def fresh(names, told):
    """The names that were not told before."""
    new = sorted(filter(None, names - told))
    told.update(new)
    return new


def run(package, first=0, areas=AREAS):
    core = importlib.import_module(package)
    shared = {**common.names(core), "reach__": reach}
    show_modules(package)
    number, told_used, told_shown = 0, set(), set()
    for area in areas:
        module = importlib.import_module(area)
        snippets = list(dict.fromkeys(module.BEHAVIOURS))
        names = {**shared, **module.names(types.SimpleNamespace(**shared))} if number + len(snippets) > first else {}
        for snippet in snippets:
            number += 1
            if number <= first:
                continue
            result = outcome(snippet, dict(names))
            show_result = [fresh(used, told_used), fresh(shown, told_shown)]
            print(json.dumps([area.removeprefix("of_"), snippet, result, *show_result]), flush=True)
        names.clear()


if __name__ == "__main__":
    threading.excepthook = lambda arguments: None  # what a thread of a snippet raises is for the snippet to tell
    run(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:] or AREAS)
