"""The parts that MIG divides a device into, which are devices to NVML too."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Iterator
from typing import Generic

from cucore.system import _numbers as numbers
from cucore.system import _nvml
from cucore.system._nvml_device import SomeDevice
from cucore.system._parts import Part
from cucore.system.exceptions import NotFoundError, error_of


class MigInfo(Part, Generic[SomeDevice]):
    """How a device is divided, or which it is a part of: parts and parent are objects of the device's own class."""

    __slots__ = ()
    _device: SomeDevice

    @property
    def is_mig_device(self) -> bool:
        """Whether it is a part of a device."""
        return bool(self._uint("nvmlDeviceIsMigDeviceHandle"))

    @property
    def mode(self) -> bool:
        """Whether it can be divided. Setting it needs root; a RuntimeWarning says if it has to be reset first."""
        return bool(self._modes()[0])

    @mode.setter
    def mode(self, mode: bool) -> None:
        name = "nvmlDeviceSetMigMode"
        status = self._uint(name, _nvml.uint(bool(mode)))
        if status:
            text = f"MIG's mode will change, but not yet: {error_of(status, name, str(self))}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    @property
    def pending_mode(self) -> bool:
        """Whether it can be divided after the next reset."""
        return bool(self._modes()[1])

    def _modes(self) -> tuple[int, int]:
        now = _nvml.uint()
        pending = self._uint("nvmlDeviceGetMigMode", ctypes.byref(now))
        return now.value, pending

    @property
    def device_count(self) -> int:
        """How many parts there can be, 0 if it cannot be divided."""
        return self._uint("nvmlDeviceGetMaxMigDeviceCount")

    @property
    def parent(self) -> SomeDevice:
        """The device that it is a part of."""
        device = self._device
        arguments = ("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", device._pointer)
        parent = _nvml.get(ctypes.c_void_p, *arguments, on=self)
        return device._at(parent.value, f"parent of {device!r}")

    def get_device_by_index(self, index: int) -> SomeDevice:
        """A part, 0 to device_count - 1; NotFoundError if there is none of this index."""
        device, number = self._device, numbers.unsigned(index, "index")
        arguments = ("nvmlDeviceGetMigDeviceHandleByIndex", device._pointer, _nvml.uint(number))
        part = _nvml.get(ctypes.c_void_p, *arguments, on=f"part {number} of {device!r}")
        return device._at(part.value, f"part {number} of {device!r}")

    def get_all_devices(self) -> Iterator[SomeDevice]:
        """All its parts."""
        for index in range(self.device_count):
            try:
                yield self.get_device_by_index(index)
            except NotFoundError:
                continue
