"""Options whose fields are checked whenever they are set, and the checks: each takes the field's name and its value."""

import operator


def truth(name, value):
    return bool(value)


def flag(name, value):
    if value is None or isinstance(value, bool):
        return value
    raise TypeError(f"{name} must be a bool, not {type(value).__name__}")


def whole(name, value):
    """An int; also of a float that is a whole number, as ``n / 2`` is where n is even."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int or None, not {type(value).__name__}") from None


def amount(name, value):
    if value is None:
        raise TypeError(f"{name} must be an int, not None")
    return whole(name, value)


class Checked:
    """Options whose fields are checked whenever they are set, and that have no other attributes."""

    _checks = {}

    def __setattr__(self, name, value):
        if name not in self.__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        check = self._checks.get(name)
        object.__setattr__(self, name, value if check is None else check(name, value))
