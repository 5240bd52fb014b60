"""What holds of every public function: inspect.signature() works, and wrong arguments are told in one sentence."""

import builtins
import importlib
import inspect

import pytest
from conftest import run_python

import cucore

MODULES = ["cucore", *(f"cucore.{name}" for name in ("graph", "texture", "utils", "checkpoint", "system"))]


BUILT_IN = (int, str, tuple, Exception, getattr(builtins, "BaseExceptionGroup", Exception))


def public_callables():
    """Functions and classes by their dotted names, and the methods of the classes."""
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", dir(module)):
            found = getattr(module, name)
            if name.startswith("_") or not callable(found) or found.__module__ == "builtins":
                continue
            if not (isinstance(found, type) and issubclass(found, BaseException)):
                yield f"{module_name}.{name}", found
            if isinstance(found, type) and found.__module__.startswith("cucore"):
                inherited = {name for base in BUILT_IN for name in dir(base)}
                for member in set(dir(found)) - inherited:
                    if not member.startswith("_") and callable(getattr(found, member)):
                        yield f"{module_name}.{name}.{member}", getattr(found, member)


def test_every_public_callable_has_a_signature():
    without = []
    for name, called in public_callables():
        try:
            inspect.signature(called)
        except (TypeError, ValueError):
            without.append(name)
    assert without == []


def test_a_signature_has_names_defaults_and_kinds(stream, device):
    of_class, bound = inspect.signature(cucore.Stream.wait), inspect.signature(stream.wait)
    assert str(of_class) == "(self, event_or_stream: 'object | None', *more, external: 'bool' = False) -> 'None'"
    assert list(bound.parameters) == ["event_or_stream", "more", "external"]
    assert list(inspect.signature(cucore.Stream.from_handle).parameters) == ["handle"]
    assert list(inspect.signature(cucore.EventPool).parameters) == ["device", "capacity"]

    class Pool(cucore.EventPool):
        def __init__(self, size):
            super().__init__(device, capacity=size)

    assert list(inspect.signature(Pool).parameters) == ["size"]


class Wrong:
    pass


@pytest.mark.parametrize(
    "call",
    [
        lambda stream, buffer: stream.wait(stream=Wrong()),
        lambda stream, buffer: stream.sync(1, 2),
        lambda stream, buffer: setattr(stream, "name", Wrong()),
        lambda stream, buffer: buffer.copy_to(no_such=1),
        lambda stream, buffer: buffer.fill(Wrong(), Wrong(), Wrong()),
        lambda stream, buffer: cucore.Stream.from_handle(Wrong()),
        lambda stream, buffer: cucore.Buffer.from_ipc_descriptor(Wrong()),
        lambda stream, buffer: cucore.LaunchConfig(no_such=1),
        lambda stream, buffer: cucore.graph.GraphDefinition(Wrong()),
    ],
)
def test_wrong_arguments_are_told_in_one_sentence(stream, pinned, call):
    with pytest.raises(TypeError) as caught:
        call(stream, pinned.allocate(16))
    sentence = str(caught.value)
    assert "cannot be called with" in sentence and "\n" not in sentence and "incompatible" not in sentence


class Failing:
    def __getattr__(self, name):
        raise TypeError("of the callee")


def test_an_error_of_what_is_called_keeps_its_own_words():
    with pytest.raises(TypeError, match="^of the callee$"):
        cucore.Device().create_stream(Failing())


def test_parameters_have_the_names_of_the_peer():
    pytest.importorskip("cuda.core")
    done = run_python("""
        import importlib, inspect

        def kinds_of_parameters(called):
            try:
                parameters = inspect.signature(called).parameters.values()
                return [(one.name, one.kind) for one in parameters if one.name != "self"]
            except (TypeError, ValueError):
                return None  # the peer's has no signature

        compared = 0
        for module in ("", ".graph", ".texture", ".utils", ".checkpoint", ".system"):
            theirs, ours = importlib.import_module("cuda.core" + module), importlib.import_module("cucore" + module)
            for name in dir(theirs):
                thing = getattr(theirs, name)
                if name.startswith("_") or not getattr(thing, "__module__", "").startswith("cuda.core"):
                    continue
                if isinstance(thing, type) and issubclass(thing, (BaseException, int, str)):
                    continue
                pairs = [(name, thing, getattr(ours, name, None))]
                for member in dir(thing) if isinstance(thing, type) else ():
                    if not member.startswith("_"):
                        pairs.append((f"{name}.{member}", getattr(thing, member), getattr(pairs[0][2], member, None)))
                for place, peer, own in pairs:
                    wanted = kinds_of_parameters(peer) if callable(peer) and own is not None else None
                    if wanted is None:
                        continue
                    compared += 1
                    if (kinds_of_parameters(own) or [])[: len(wanted)] != wanted:
                        print((module + "." + place).lstrip("."))
        assert compared > 400, compared
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
