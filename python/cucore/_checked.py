"""Options whose fields are checked whenever they are set, the checks, each of which takes the field's name and its
value, and the repr of options."""

import operator
from dataclasses import fields


def truth(name, value):
    return bool(value)


def flag(name, value):
    if value is None or isinstance(value, bool):
        return value
    raise TypeError(f"{name} must be a bool, not {type(value).__name__}")


def whole(name, value, error_of_array=TypeError):
    """What int() makes of a number: a float is cut off, as with cuda.core. Text is none, and neither is an array."""
    if value is None:
        return None
    try:
        return operator.index(value)
    except TypeError:
        if not hasattr(type(value), "__int__"):
            raise TypeError(f"{name} must be an int or None, not {type(value).__name__}") from None
    try:
        return int(value)
    except TypeError:
        raise error_of_array(f"{name} must be one number, not an array of type {type(value).__name__}") from None


def amount(name, value):
    if value is None:
        raise TypeError(f"{name} must be an int, not None")
    return whole(name, value)


class Checked:
    """Options whose fields are checked whenever they are set, and that have no other attributes."""

    __slots__ = ()
    _checks = {}

    def __setattr__(self, name, value):
        if name not in self.__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        check = self._checks.get(name)
        object.__setattr__(self, name, value if check is None else check(name, value))


def shown(options):
    """The repr of options: the fields of cuda.core, and those of our own that are set."""
    parts = [
        f"{one.name}={getattr(options, one.name)!r}"
        for one in fields(options)
        if one.name not in options._own or getattr(options, one.name) != one.default
    ]
    return f"{type(options).__qualname__}({', '.join(parts)})"


def check_extra_sources(sources):
    if isinstance(sources, (str, bytes, bytearray)) or not isinstance(sources, (list, tuple)):
        raise TypeError(f"extra_sources must be a sequence of 2-tuples (name, source), not {type(sources).__name__}")
    for index, item in enumerate(sources):
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError(f"extra_sources: each item must be a 2-tuple (name, source); item {index} is {item!r}")
        name, source = item
        if not isinstance(name, str):
            raise TypeError(f"extra_sources: Module name at index {index} must be a str, not {type(name).__name__}")
        if not isinstance(source, (str, bytes, bytearray)):
            raise TypeError(
                f"extra_sources: Module source at index {index} must be str, bytes or bytearray, "
                f"not {type(source).__name__}"
            )
        if len(source) == 0:
            raise ValueError(f"extra_sources: Module source at index {index} cannot be empty")
