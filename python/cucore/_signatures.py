"""The signatures of the extension's functions, for inspect.signature(): parsed from nanobind's texts."""

import ast
import inspect
import re


def signature_of(function):
    """An inspect.Signature, of a class that of making one; annotations are texts. AttributeError: there is none."""
    if isinstance(function, type):
        return _signature_of_class(function)
    bound = getattr(function, "__self__", None)
    forms = function.__nb_signature__
    text, _, defaults = max(forms, key=lambda form: form[0].count(":"))  # of several, the one with the most parameters
    # Places of defaults are written \0, \1...: a name that no one can have stands for each.
    text = re.sub(r"\\(\d+)", r"_default_\1_", text)
    text = re.sub(r"^def [^(]*", "def f", text) + ": ..."
    try:
        definition = ast.parse(text).body[0]
    except SyntaxError:
        raise AttributeError("__signature__") from None
    signature = inspect.Signature(list(_parameters(definition.args, defaults or ())))
    if definition.returns is not None:
        signature = signature.replace(return_annotation=ast.unparse(definition.returns))
    if bound is None:
        return signature
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _signature_of_class(cls):
    for base in cls.__mro__[:-1]:
        made = vars(base)
        if "__signature__" in made:
            return made["__signature__"]
        new, init = (made.get(name) for name in ("__new__", "__init__"))
        if isinstance(new, staticmethod) or hasattr(new, "__nb_signature__"):
            made_by = new.__func__ if isinstance(new, staticmethod) else new
        elif init is not None:
            made_by = init
        else:
            continue
        signature = inspect.signature(made_by)
        parameters = list(signature.parameters.values())[1:]
        return inspect.Signature(parameters)
    raise AttributeError("__signature__")


def _parameters(arguments, values):
    kinds = inspect.Parameter

    def made(argument, kind, default=None):
        annotation = kinds.empty if argument.annotation is None else ast.unparse(argument.annotation)
        return kinds(argument.arg, kind, default=_value(default, values), annotation=annotation)

    positional = [(one, kinds.POSITIONAL_ONLY) for one in arguments.posonlyargs]
    positional += [(one, kinds.POSITIONAL_OR_KEYWORD) for one in arguments.args]
    without = len(positional) - len(arguments.defaults)
    for index, (argument, kind) in enumerate(positional):
        yield made(argument, kind, None if index < without else arguments.defaults[index - without])
    if arguments.vararg:
        yield made(arguments.vararg, kinds.VAR_POSITIONAL)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield made(argument, kinds.KEYWORD_ONLY, default)
    if arguments.kwarg:
        yield made(arguments.kwarg, kinds.VAR_KEYWORD)


def _value(default, values):
    if default is None:
        return inspect.Parameter.empty
    if isinstance(default, ast.Name) and default.id.startswith("_default_"):
        return values[int(default.id.split("_")[2])]
    return ast.literal_eval(default)
