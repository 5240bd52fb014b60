"""Makes the stubs of the Python package (python/cucore/**/*.pyi): what type checkers and editors know of it.

A stub has what one module shows: classes with all their public members, functions and constants, with docstrings. The
package itself says what there is, with which parameters, defaults, fields and docstrings: its sources, and of what the
extension defines, the extension. What neither says are types where any Python object is passed through: these are in
python/signatures. An entry there that names nothing, or takes other parameters, is an error, and so is one that says
only what the code says; and a public member whose types nobody says.

Usage: make_stubs.py [--check], with the package built and importable. --check compares and writes nothing.
"""

import argparse
import ast
import difflib
import importlib
import inspect
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from stub_sources import PACKAGE, Sources, is_annotated, live_parameters, nanobind_function, parameters_of

ROOT = Path(__file__).resolve().parent.parent
SIGNATURES = ROOT / "python/signatures"
# module, and its stub: those with names that only the extension or a late import gives. The others are read as they
# are: their sources are annotated.
MODULES = {
    "cucore": "__init__.pyi",
    "cucore.graph": "graph/__init__.pyi",
    "cucore.texture": "texture.pyi",
    "cucore.utils": "utils/__init__.pyi",
}
WIDTH = 120
OUTER_BASES = ("IntEnum", "StrEnum", "MutableSet", "ABC")
HEAD = "# Made by tools/make_stubs.py from the package and from python/signatures/{}; not to be edited.\n"


class Problems(list):
    def say(self, where, what):
        self.append(f"{where}: {what}")


def is_public(name):
    return not name.startswith("_")


def underlying(live):
    return live.__func__ if isinstance(live, (staticmethod, classmethod)) else live


def documentation(live):
    """A live object's docstring, without nanobind's signatures."""
    live = underlying(live)
    if isinstance(live, property) and (live.__doc__ or "").startswith("("):
        return None  # nanobind's signature of a getter without docstring
    overloads = getattr(live, "__nb_signature__", None)
    text = "\n\n".join(each[1] for each in overloads if each[1]) if overloads else getattr(live, "__doc__", None)
    return inspect.cleandoc(text) if isinstance(text, str) and text else None


# ---- writing ------------------------------------------------------------------------------------------------------
def docstring_lines(text, depth):
    """A docstring at a depth of indentation; lines of the extension's, which are as long as they come, are broken."""
    if not text:
        return []
    width = WIDTH - 4 * depth
    lines = []
    for line in text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').split("\n"):
        opening = "" if lines else '"""'
        lines += textwrap.wrap(opening + line, width, break_on_hyphens=False, break_long_words=False) or [""]
    is_long = "" in lines or len(lines[-1]) + len('"""') > width or lines[-1].endswith('"')
    return [*lines, '"""'] if is_long else [*lines[:-1], lines[-1] + '"""']


def function_lines(function, doc, depth=2):
    lines = [f"@{ast.unparse(decorator)}" for decorator in function.decorator_list]
    word = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
    head = f"{word} {function.name}({ast.unparse(function.args)}) -> {ast.unparse(function.returns)}:"
    body = docstring_lines(doc, depth)
    return [*lines, *([head, *indented(body)] if body else [f"{head} ..."])]


def attribute_lines(name, annotation, doc):
    return [f"{name}: {ast.unparse(annotation)}", *docstring_lines(doc, 1)]


def indented(lines):
    return [f"    {line}" if line else "" for line in lines]


# ---- one module ---------------------------------------------------------------------------------------------------
class Module:
    def __init__(self, name, sources, problems):
        self.name = name
        self.live = importlib.import_module(name)
        self.sources = sources
        self.problems = problems
        self.file = SIGNATURES / f"{name.rpartition('.')[2]}.pyi"
        self.signatures = ast.parse(self.file.read_text())
        self.said = {
            node.name: node for node in self.signatures.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))
        }
        self.shared = set()  # definitions of the file's private classes, which are said for several
        self.shown = [name for name in self.live.__all__]
        # Classes that are not the module's own names, but what its members give.
        self.shown += [name for name in self.said if is_public(name) and name not in self.shown]
        for name, node in self.said.items():
            if name in self.live.__all__ and isinstance(node, ast.ClassDef) and ast.unparse(node.body) == "...":
                problems.say(self.file.relative_to(ROOT), f"says nothing of {name}")
        self.known = {name for name in self.shown if isinstance(self.value(name), type)}

    def value(self, name):
        if hasattr(self.live, name):
            return getattr(self.live, name)
        for module in ("cucore._core", "cucore._tuples", "cucore._device", "cucore.utils._resource"):
            found = getattr(importlib.import_module(module), name, None)
            if found is not None:
                return found
        self.problems.say(f"{self.file.name}", f"{name} is nowhere in the package")
        return None

    def text(self):
        lines = [HEAD.format(self.file.name)]
        rest = []
        for node in self.signatures.body:
            if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)):
                (lines if isinstance(node, (ast.Import, ast.ImportFrom)) else rest).append(ast.unparse(node))
            elif isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases):
                rest += ["", ast.unparse(node)]
        lines += rest
        imported = {
            alias.asname or alias.name
            for node in self.signatures.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assigned = {
            target.id
            for node in self.signatures.body
            if isinstance(node, (ast.Assign, ast.AnnAssign))
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        }
        classes, functions = [], []
        for name in self.shown:
            if name in imported or name in assigned or inspect.ismodule(self.value(name)):
                continue
            if name in self.known:
                classes.append(name)
            else:
                functions.append(name)
        for name in sorted(classes, key=self.depth):
            lines += ["", *self.class_lines(name)]
        for name in functions:
            lines += ["", *self.function(name)]
        doc = docstring_lines(documentation(self.live), 0)
        return "\n".join([*lines[:1], *doc, *lines[1:]]) + "\n"

    def depth(self, name):
        """Bases come before what is derived from them."""
        return sum(base.__name__ in self.known for base in self.value(name).__mro__)

    def function(self, name):
        live = self.value(name)
        source, file = self.sources.find(self.name, name)
        said = self.said.get(name)
        function = self.chosen(f"{self.name}.{name}", name, said, source, file, live)
        return function_lines(function, documentation(live), 1) if function is not None else []

    def chosen(self, where, name, said, source, file, live):
        """The definition with types, from where it is said."""
        described, is_full = nanobind_function(name, underlying(live), self.known)
        made = None
        if source is not None and is_annotated(source):
            made = self.from_source(source, file)
        elif is_full:
            made = described
        if said is None:
            if made is None:
                self.problems.say(where, f"nobody says its types: add it to {self.file.relative_to(ROOT)}")
            return made
        if made is not None and self.same(said, made) and id(said) not in self.shared:
            self.problems.say(where, f"{self.file.relative_to(ROOT)} says what the code says")
        there = parameters_of(source) if source is not None else live_parameters(name, underlying(live))
        if there is not None and not name.startswith("__") and not self.fits(said, there):
            self.problems.say(where, f"the signature has the parameters {parameters_of(said)}, the code {there}")
        return said

    @staticmethod
    def fits(said, there):
        """Whether the parameters are the same; a default written `...` is one that only a base need have."""
        open_defaults = [*said.args.defaults, *said.args.kw_defaults]
        any_default = any(isinstance(each, ast.Constant) and each.value is ... for each in open_defaults)
        here = parameters_of(said)
        if any_default:
            return [entry[:2] for entry in here] == [entry[:2] for entry in there]
        return here == there

    def from_source(self, source, file):
        made = ast.parse(ast.unparse(source)).body[0]
        made.body = []
        made.returns = self.sources.annotation(file, made.returns)
        for node in ast.walk(made.args):
            if isinstance(node, ast.arg) and node.annotation is not None:
                node.annotation = self.sources.annotation(file, node.annotation)
        made.decorator_list = [
            decorator
            for decorator in made.decorator_list
            if ast.unparse(decorator).endswith(("property", "staticmethod", "classmethod", "setter"))
        ]
        return made

    @staticmethod
    def same(said, made):
        return ast.unparse(said.args) == ast.unparse(made.args) and ast.unparse(said.returns) == ast.unparse(
            made.returns
        )

    # ---- classes
    def class_lines(self, name):
        live = self.value(name)
        source, file = self.sources.find(self.name, name)
        said = self.said.get(name)
        doc = ast.get_docstring(source) if source is not None else documentation(live)
        if source is None and issubclass(live, tuple):
            doc = None  # what namedtuple writes
        if live.__name__ != name:
            return [f"{name} = {live.__name__}"]
        is_dataclass = hasattr(live, "__dataclass_fields__")
        if said is not None and self.is_named_tuple(live):
            body = self.named_tuple(name, live, said)
            bases = "NamedTuple"
        else:
            body = self.fields(name, live, source, file, said) if is_dataclass else []
            body += self.enumerators(live, source)
            body += self.members(name, live, source, file, said)
            bases = ", ".join(self.bases(live, said))
        body = [*docstring_lines(doc, 1), *body] or ["..."]
        head = f"class {name}({bases}):" if bases else f"class {name}:"
        decorators = []
        if is_dataclass:
            decorators = [f"@{ast.unparse(each)}" for each in source.decorator_list]
        return [*decorators, head, *indented(body)]

    @staticmethod
    def is_named_tuple(live):
        return issubclass(live, tuple) and hasattr(live, "_fields") and tuple in live.__mro__[1:3]

    def named_tuple(self, name, live, said):
        fields = {node.target.id: node for node in said.body if isinstance(node, ast.AnnAssign)}
        if tuple(fields) != live._fields:
            self.problems.say(name, f"the signature has the fields {tuple(fields)}, the code {live._fields}")
        lines = []
        for field, node in fields.items():
            default = f" = {live._field_defaults[field]!r}" if field in live._field_defaults else ""
            lines.append(f"{field}: {ast.unparse(node.annotation)}{default}")
        return lines

    def bases(self, live, said):
        found = [base.__name__ for base in live.__mro__[1:] if base.__name__ in self.known]
        # Of a chain only the first: it has the others.
        first = [found[0]] if found else []
        if said is not None:
            written = [ast.unparse(base) for base in said.bases if not ast.unparse(base).startswith("_")]
            extra = [base for base in written if base not in first]
            return [*first, *extra] if first and first[0] in written else [*extra, *first]
        return first or [base.__name__ for base in live.__bases__ if base.__name__ in OUTER_BASES]

    def fields(self, name, live, source, file, said):
        lines = []
        types = (
            {node.target.id: node.annotation for node in said.body if isinstance(node, ast.AnnAssign)} if said else {}
        )
        for node in source.body:
            if not isinstance(node, ast.AnnAssign):
                continue
            field = node.target.id
            annotation = self.sources.annotation(file, node.annotation)
            given = types.pop(field, None)
            if given is not None and ast.unparse(given) == ast.unparse(annotation):
                self.problems.say(f"{name}.{field}", f"{self.file.relative_to(ROOT)} says what the code says")
            default = f" = {self.default(node.value)}" if node.value is not None else ""
            lines.append(f"{field}: {ast.unparse(given or annotation)}{default}")
        for field in types:
            self.problems.say(f"{name}.{field}", "the signatures have a field that the class has not")
        return lines

    @staticmethod
    def default(value):
        return ast.unparse(value) if isinstance(value, (ast.Constant, ast.UnaryOp, ast.Tuple)) else "..."

    @staticmethod
    def enumerators(live, source):
        if source is None or not hasattr(live, "__members__"):
            return []
        return [ast.unparse(node) for node in source.body if isinstance(node, ast.Assign)]

    def signatures_of(self, said):
        """name -> the definitions that a class of the signatures file has, or one of its bases there."""
        if said is None:
            return {}
        found = {}
        for base in said.bases:
            if ast.unparse(base) in self.said and not is_public(ast.unparse(base)):
                found |= self.signatures_of(self.said[ast.unparse(base)])
        if not is_public(said.name):
            self.shared.update(map(id, said.body))
        own = {}
        for node in said.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                own.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.AnnAssign):
                own.setdefault(node.target.id, []).append(node)
        return found | own

    def members(self, name, live, source, file, said):
        signatures = self.signatures_of(said)
        covered = {each for base in live.__mro__[1:] if base.__name__ in self.known for each in base.__mro__}
        own = {}
        for base in reversed(live.__mro__):
            if base not in covered and base.__module__.startswith("cucore"):
                own |= vars(base)
        inherited = self.inherited(live)
        is_enumeration = hasattr(live, "__members__")
        fields = getattr(live, "__dataclass_fields__", {})
        names = [each for each in own if is_public(each) and each not in fields and not is_enumeration]
        names = [each for each in names if not isinstance(own[each], type)]
        names += [each for each in signatures if each not in names and each not in fields]
        definitions = {}
        if source is not None:
            for node in source.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    definitions.setdefault(node.name, node)
        lines = []
        for member in names:
            where = f"{self.name}.{name}.{member}"
            if member in own:
                attribute = own[member]
            elif hasattr(live, member) or member == "__buffer__":  # which is there from Python 3.12 on
                attribute = getattr(live, member, None)
            elif any(isinstance(node, ast.AnnAssign) for node in signatures[member]) and source is not None:
                attribute = None  # of instances
            else:
                self.problems.say(where, "is in the signatures only")
                continue
            said_of = signatures.get(member)
            definition = definitions.get(member)
            if said_of is None and member in inherited and not isinstance(attribute, property):
                full = nanobind_function(member, underlying(attribute), self.known)[1]
                if not full and (definition is None or not is_annotated(definition)):
                    continue  # as the base has it
            lines += self.member(where, member, attribute, said_of, definition, file)
        return lines

    def inherited(self, live):
        """What the signatures say of the bases that the stub shows."""
        found = {}
        for base in live.__mro__[1:]:
            if base.__name__ in self.known:
                found |= self.signatures_of(self.said.get(base.__name__))
        return found

    def member(self, where, name, live, said, source, file):
        doc = documentation(live) if is_public(name) and live is not None else None
        if isinstance(live, (str, int, bool)):
            doc = None
        if said and isinstance(said[0], ast.AnnAssign):
            return attribute_lines(name, said[0].annotation, doc)
        if isinstance(live, property):
            if said:
                return [
                    *function_lines(said[0], doc),
                    *(line for setter in said[1:] for line in function_lines(setter, None)),
                ]
            function = self.chosen(where, name, None, source, file, live.fget)
            if function is None:
                return []
            if live.fset is not None:
                return attribute_lines(name, function.returns, doc)
            function.decorator_list = [ast.Name("property")]
            function.args = ast.parse("def f(self): ...").body[0].args
            return function_lines(function, doc)
        function = self.chosen(where, name, said[0] if said else None, source, file, live)
        if function is None:
            return []
        if not said and source is None and (isinstance(live, staticmethod) or type(live).__name__ == "nb_func"):
            function.decorator_list = [ast.Name("staticmethod")]
        return function_lines(function, doc)


def extension_stub(modules):
    """What the package's own modules take of the extension: its public names, as the public modules show them."""
    core = vars(importlib.import_module("cucore._core"))
    lines = ["# Made by tools/make_stubs.py; not to be edited.", "from typing import Any", ""]
    lines += [f"import {module.name}" for module in modules]
    place = {}
    for module in modules:
        for name in module.shown:
            if core.get(name, core) is module.live.__dict__.get(name):
                place.setdefault(name, module.name)
    lines += [f"{name} = {place[name]}.{name}" for name in sorted(place)]
    return "\n".join([*lines, "", "def __getattr__(name: str) -> Any: ..."]) + "\n"


def formatted(text, path):
    ruff = ROOT / ".venv/bin/ruff"
    ruff = str(ruff) if ruff.exists() else shutil.which("ruff")
    file = ["--stdin-filename", str(path), "-"]
    for command in (["check", "--fix-only", "--quiet", "--select", "I,F401", *file], ["format", *file]):
        text = subprocess.run([ruff, *command], input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    problems = Problems()
    sources = Sources()
    modules = [Module(name, sources, problems) for name in MODULES]
    made = {PACKAGE / MODULES[module.name]: module.text() for module in modules}
    made[PACKAGE / "_core.pyi"] = extension_stub(modules)
    for path, text in made.items():
        text = formatted(text, path)
        there = path.read_text() if path.exists() else ""
        if arguments.check and text != there:
            difference = difflib.unified_diff(there.splitlines(), text.splitlines(), "is", "would be made", lineterm="")
            problems.say(path.relative_to(ROOT), "is not what make_stubs.py makes:\n" + "\n".join(difference))
        elif not arguments.check:
            path.write_text(text)
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
