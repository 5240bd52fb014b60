"""Waiting for what happens to the system: drivers that leave devices, or take them."""

from __future__ import annotations

import ctypes
import os
from typing import NamedTuple

from cucore.system import _numbers as numbers
from cucore.system import _nvml, _structs
from cucore.system._device import Device
from cucore.system._events import bits_of, wait_for
from cucore.system.typing import SystemEventType


class SystemEvent(NamedTuple):
    """What happened to the system, and the device's place on the bus as a number."""

    event_type: SystemEventType
    gpu_id: int

    @property
    def device(self) -> Device:
        """The device; NotFoundError if the driver has left it."""
        place = self.gpu_id
        bus_id = f"{place >> 16:08x}:{place >> 8 & 0xFF:02x}:{place >> 3 & 0x1F:02x}.{place & 7:x}"
        return Device(pci_bus_id=bus_id)


class SystemEvents(tuple[SystemEvent, ...]):
    """What happened, in order."""

    __slots__ = ()


class RegisteredSystemEvents:
    """The events that were registered; what happens from then on is waited for here. ``register_events`` makes one."""

    __slots__ = ("__weakref__", "_process", "_set")

    def __init__(self, events: SystemEventType | str | list[SystemEventType | str]):
        self._set = None
        self._process = os.getpid()
        bits = bits_of(numbers.SYSTEM_EVENT_TYPES, events)
        self._set = _nvml.get_versioned(_structs.SystemEventSetRequest, "nvmlSystemEventSetCreate", on=self).set
        request = _nvml.versioned(_structs.SystemRegisterEventRequest, eventTypes=bits, set=self._set)
        _nvml.call("nvmlSystemRegisterEvents", ctypes.byref(request), on=self)

    def wait(self, timeout_ms: int | None = 0, buffer_size: int = 1) -> SystemEvents:
        """The next events, at most ``buffer_size``. After ``timeout_ms`` milliseconds without one, TimeoutError: 0 only
        looks, None has no limit."""
        size = numbers.unsigned(buffer_size, "buffer_size")
        if size == 0:
            raise ValueError("buffer_size must be at least 1")
        data = (_structs.SystemEventData * size)()
        request = _nvml.versioned(_structs.SystemEventSetWaitRequest, set=self._set, data=data, dataSize=size)

        def wait(milliseconds: int) -> None:
            request.timeoutms = milliseconds
            _nvml.call("nvmlSystemEventSetWait", ctypes.byref(request), on=self)

        wait_for(wait, timeout_ms)
        return SystemEvents(
            SystemEvent(numbers.word_of(numbers.SYSTEM_EVENT_TYPES_BY_NUMBER, each.eventType, "event_type"), each.gpuId)
            for each in data[: request.numEvent]
        )

    def __del__(self):
        if getattr(self, "_set", None) is not None and self._process == os.getpid():  # not where __init__ refused
            request = _nvml.versioned(_structs.SystemEventSetRequest, set=self._set)
            _nvml.release("nvmlSystemEventSetFree", ctypes.byref(request))

    def __repr__(self):
        return "<RegisteredSystemEvents>"
