"""What the sources of the Python package and its extension say of their signatures, for make_stubs.py."""

import ast
import builtins
import inspect
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python/cucore"


class Sources:
    """The classes, functions and aliases that the package's modules define at their top, by name."""

    def __init__(self):
        self.files = {}
        for path in sorted(PACKAGE.rglob("*.py")):
            self.files[path.relative_to(PACKAGE)] = ast.parse(path.read_text())

    def find(self, module, name):
        """(definition, file) of what a module shows as `name`; None if the extension defines it."""
        inside_system = module.startswith("cucore.system")
        found = [
            (node, file)
            for file, tree in self.files.items()
            if (file.parts[0] == "system") == inside_system
            for node in tree.body
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name
        ]
        if len(found) > 1:
            raise LookupError(f"{module}.{name} is defined in {', '.join(str(file) for _, file in found)}")
        return found[0] if found else (None, None)

    def alias(self, file, name):
        """The type that a module's own alias stands for."""
        for node in self.files[file].body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
                return node.value
        return None

    def annotation(self, file, node):
        """An annotation of a source file with the file's own aliases written out."""
        sources = self

        class Written(ast.NodeTransformer):
            def visit_Name(self, name):
                value = sources.alias(file, name.id)
                return self.visit(value) if value is not None else name

            def visit_Subscript(self, subscript):
                subscript = self.generic_visit(subscript)
                if isinstance(subscript.value, ast.Name) and subscript.value.id == "Union":
                    parts = subscript.slice.elts
                    union = parts[0]
                    for part in parts[1:]:
                        union = ast.BinOp(union, ast.BitOr(), part)
                    return union
                return subscript

        return Written().visit(ast.parse(ast.unparse(node), mode="eval").body)


def is_annotated(function):
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if arguments.vararg:
        every.append(arguments.vararg)
    if arguments.kwarg:
        every.append(arguments.kwarg)
    return function.returns is not None and all(
        argument.annotation is not None for argument in every if argument.arg not in ("self", "cls")
    )


def nanobind_function(name, live, known):
    """(the function as nanobind describes it or None, whether its types say all)."""
    overloads = getattr(live, "__nb_signature__", ())
    if len(overloads) != 1:
        return None, False
    text, _, defaults = overloads[0]
    text = re.sub(r"^def \(", "def _(", text).replace("cucore._core.", "")
    text = re.sub(r"\\(\d+)", lambda match: repr((defaults or ())[int(match[1])]), text)
    try:
        function = ast.parse(f"{text}: ...").body[0]
    except SyntaxError:
        return None, False
    function.name = name
    said = all(
        node.id in known or (node.id != "object" and hasattr(builtins, node.id))
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
    ) and not any(isinstance(node, ast.Attribute) for node in ast.walk(function))
    return function, said and is_annotated(function)


def parameters_of(function):
    """[(name, kind, has a default)] of a definition, without self."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = len(positional) - len(arguments.defaults)
    found = [(argument.arg, "positional", i >= defaults) for i, argument in enumerate(positional)]
    if arguments.vararg:
        found.append((arguments.vararg.arg, "*", False))
    found += [
        (argument.arg, "keyword", default is not None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        found.append((arguments.kwarg.arg, "**", False))
    return [entry for entry in found if entry[0] not in ("self", "cls", "type")]


def live_parameters(name, live):
    """The same of a live function, or None where it does not say."""
    described, _ = nanobind_function(name, live, ())
    if described is not None:
        return parameters_of(described)
    if not isinstance(live, staticmethod) and getattr(live, "__text_signature__", None) is None:
        return None
    kinds = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**", "KEYWORD_ONLY": "keyword"}
    try:
        signature = inspect.signature(live)
    except (TypeError, ValueError):
        return None
    return [
        (parameter.name, kinds.get(parameter.kind.name, "positional"), parameter.default is not parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls", "type")
    ]
