"""A device as NVML has it: an address, and calls about it. Device is derived from it; its parts need no more."""

from __future__ import annotations

import ctypes
from typing import Any, TypeVar

from cucore.system import _nvml

SomeDevice = TypeVar("SomeDevice", bound="NvmlDevice")


class NvmlDevice:
    """The address of a device, and what it is called in errors."""

    __slots__ = ("__weakref__", "_arguments", "_pointer")

    @classmethod
    def _at(cls: type[SomeDevice], address: int, what: str) -> SomeDevice:
        """The device with this address of NVML's, named ``what`` in errors."""
        self = cls.__new__(cls)
        self._arguments = what
        self._pointer = ctypes.c_void_p(address)
        return self

    def _uint(self, name: str) -> int:
        return _nvml.get_uint(name, self._pointer, on=self)

    def _text(self, name: str) -> str:
        return _nvml.get_text(name, self._pointer, on=self)

    def _struct(self, kind: Any, name: str) -> Any:
        return _nvml.get(kind, name, self._pointer, on=self)

    def _versioned(self, kind: Any, name: str) -> Any:
        return _nvml.get_versioned(kind, name, self._pointer, on=self)

    @property
    def _handle(self) -> int:
        return self._pointer.value

    def __eq__(self, other):
        if not isinstance(other, NvmlDevice):
            return NotImplemented
        return self._pointer.value == other._pointer.value

    def __hash__(self):
        return hash(self._pointer.value)

    def __repr__(self):
        return f"<system.Device {self._arguments}>"
