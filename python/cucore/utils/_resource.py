"""The interface of program caches: keys to the bytes of compiled code."""

import abc
import functools
from collections import namedtuple

from cucore._seam import ObjectCode

Record = namedtuple("Record", "data symbol_mapping")
"""Compiled code as a cache keeps it for Program.compile(); the mapping has str on both sides."""

_record = functools.partial(tuple.__new__, Record)  # of a pair


def text_mapping(mapping):
    """The symbol mapping of an ObjectCode for a Record."""
    return {name: symbol.decode() if isinstance(symbol, bytes) else symbol for name, symbol in mapping.items()}


def key_bytes(key):
    """A key as bytes; str is UTF-8, so that "k" and b"k" are one entry."""
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, (bytes, bytearray)):
        return bytes(key)
    raise TypeError(f"a key must be bytes or str, not {type(key).__name__}")


def value_bytes(value):
    """A value as bytes. The file of path-backed code is read now."""
    if not isinstance(value, ObjectCode):
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        raise TypeError(f"a value must be bytes or an ObjectCode, not {type(value).__name__}")
    code = value.code
    if isinstance(code, str):
        with open(code, "rb") as file:
            return file.read()
    return bytes(code)


class ProgramCacheResource(abc.ABC):
    """A program cache. There is no ``in`` and no iteration: an entry may be removed between a test and a read; use
    ``get``."""

    @abc.abstractmethod
    def __getitem__(self, key):
        """The bytes for ``key``. Raises KeyError."""

    @abc.abstractmethod
    def __setitem__(self, key, value):
        """Stores bytes, or the bytes of an ObjectCode."""

    @abc.abstractmethod
    def __delitem__(self, key):
        """Removes an entry. Raises KeyError."""

    @abc.abstractmethod
    def __len__(self):
        """How many entries there are."""

    @abc.abstractmethod
    def clear(self):
        """Removes all entries."""

    def get(self, key, default=None):
        """The bytes for ``key``, or ``default``."""
        try:
            return self[key]
        except KeyError:
            return default

    def update(self, items, /):
        """Stores each entry of a mapping or of (key, value) pairs."""
        for key, value in items.items() if hasattr(items, "items") else items:
            self[key] = value

    def close(self):  # noqa: B027 - most caches hold nothing
        """Gives back what the cache holds."""

    def __enter__(self):
        return self

    def __exit__(self, *exception_info):
        self.close()


class RecordCache(ProgramCacheResource):
    """A cache that can also keep the mapping from name expressions to symbols beside the bytes."""

    __contains__ = None

    keeps_records = True
    """Whether compile() may use records; not for subclasses that look up or store in a way of their own."""

    def __init_subclass__(cls, **arguments):
        super().__init_subclass__(**arguments)
        own = next(base for base in cls.__mro__ if base.__module__.partition(".")[0] == "cucore")
        ways = ("get", "__getitem__", "__setitem__")
        cls.keeps_records = all(getattr(cls, way) is getattr(own, way) for way in ways)

    @abc.abstractmethod
    def get_record(self, key):
        """The Record for ``key``, or None."""

    @abc.abstractmethod
    def set_record(self, key, record):
        """Stores a Record."""

    def __getitem__(self, key):
        record = self.get_record(key)
        if record is None:
            raise KeyError(key)
        return record.data

    def __setitem__(self, key, value):
        if type(value) is ObjectCode:
            mapping, data = value.symbol_mapping, value.code
            if type(data) is not bytes:
                data = value_bytes(value)
        else:
            mapping, data = getattr(value, "symbol_mapping", None), value_bytes(value)
        self.set_record(key, _record((data, text_mapping(mapping) if mapping else {})))
