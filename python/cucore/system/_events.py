"""Waiting for what happens to devices and to the system."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from cucore import _seam
from cucore.system import _numbers as numbers
from cucore.system import _nvml, _structs
from cucore.system.exceptions import TimeoutError
from cucore.system.typing import EventType, SystemEventType

if TYPE_CHECKING:
    from cucore.system._device import Device

_SLICE = 200  # milliseconds between two looks at signals, so that Ctrl-C ends a wait


def _bits(words: dict, events: object) -> int:
    """The bits of a word, or of a list of words."""
    kind = type(next(iter(words)))
    if isinstance(events, str):
        events = [events]
    if not isinstance(events, list):
        raise TypeError(f"events must be a {kind.__name__}, its value or a list of them, not {type(events).__name__}")
    bits = 0
    for event in events:
        bits |= numbers.number_of(words, event, "an event of events")
    return bits


def _wait(wait: Callable[[int], None], timeout_ms: int | None) -> None:
    """Calls ``wait`` with numbers of milliseconds until one of them brings something, or the time is up."""
    if timeout_ms is not None:
        end = time.monotonic() + numbers.unsigned(timeout_ms, "timeout_ms") / 1000
    while True:
        left = _SLICE if timeout_ms is None else max(0, round((end - time.monotonic()) * 1000))
        try:
            return wait(min(left, _SLICE))
        except TimeoutError:
            if timeout_ms is not None and left <= _SLICE:
                raise


class EventData:
    """What happened to a device."""

    __slots__ = ("_data", "_device")

    def __init__(self, device: Device, data: _structs.EventData):
        self._device = device
        self._data = data

    @property
    def device(self) -> Device:
        """The device."""
        return self._device

    @property
    def event_type(self) -> EventType:
        """What happened."""
        return numbers.word_of(numbers.EVENT_TYPES_BY_NUMBER, self._data.eventType, "event_type")

    @property
    def event_data(self) -> int:
        """The number of an XID error; ValueError for other events."""
        return self._of_xid("event_data", self._data.eventData)

    @property
    def gpu_instance_id(self) -> int:
        """The GPU instance that an XID error is of, 2**32 - 1 for none; ValueError for other events."""
        return self._of_xid("gpu_instance_id", self._data.gpuInstanceId)

    @property
    def compute_instance_id(self) -> int:
        """The compute instance that an XID error is of, 2**32 - 1 for none; ValueError for other events."""
        return self._of_xid("compute_instance_id", self._data.computeInstanceId)

    def _of_xid(self, what: str, number: int) -> int:
        if self._data.eventType != numbers.EVENT_TYPES[EventType.XID_CRITICAL_ERROR]:
            raise ValueError(f"only an event of type xid_critical_error has {what}; this one is {self.event_type}")
        return number

    def __repr__(self):
        return f"<EventData of {self._device!r}>"


class DeviceEvents:
    """The events that were registered; what happens from then on is waited for here. ``Device.register_events`` makes
    one."""

    __slots__ = ("__weakref__", "_device", "_process", "_set")

    def __init__(self, device: Device, events: EventType | str | list[EventType | str]):
        self._set = None
        self._device = device
        self._process = os.getpid()
        bits = _bits(numbers.EVENT_TYPES, events)
        self._set = _nvml.get(ctypes.c_void_p, "nvmlEventSetCreate", on=self)
        pointer = device._pointer
        _nvml.call("nvmlDeviceRegisterEvents", pointer, ctypes.c_ulonglong(bits), self._set, on=self)

    def wait(self, timeout_ms: int | None = 0) -> EventData:
        """The next event. After ``timeout_ms`` milliseconds without one, TimeoutError: 0 only looks, None has no limit.

        GpuIsLostError if the device can no longer be reached.
        """
        data = _structs.EventData()

        def wait(milliseconds: int) -> None:
            arguments = (self._set, ctypes.byref(data), _nvml.uint(milliseconds))
            _nvml.call("nvmlEventSetWait_v2", *arguments, on=self)

        _wait(wait, timeout_ms)
        own = self._device._pointer.value == data.device
        return EventData(self._device if own else self._device._at(data.device, f"the device of {self!r}"), data)

    def __del__(self):
        if self._set is not None and self._process == os.getpid():
            _nvml.release("nvmlEventSetFree", self._set)

    def __repr__(self):
        return f"<DeviceEvents of {self._device!r}>"


class SystemEvent(NamedTuple):
    """What happened to the system, and the device's place on the bus as a number."""

    event_type: SystemEventType
    gpu_id: int

    @property
    def device(self) -> Device:
        """The device; NotFoundError if the driver has left it."""
        place = self.gpu_id
        bus_id = f"{place >> 16:08x}:{place >> 8 & 0xFF:02x}:{place >> 3 & 0x1F:02x}.{place & 7:x}"
        return _seam.find("SystemDevice")(pci_bus_id=bus_id)


class SystemEvents(tuple[SystemEvent, ...]):
    """What happened, in order."""

    __slots__ = ()


class RegisteredSystemEvents:
    """The events that were registered; what happens from then on is waited for here. ``register_events`` makes one."""

    __slots__ = ("__weakref__", "_process", "_set")

    def __init__(self, events: SystemEventType | str | list[SystemEventType | str]):
        self._set = None
        self._process = os.getpid()
        bits = _bits(numbers.SYSTEM_EVENT_TYPES, events)
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

        _wait(wait, timeout_ms)
        return SystemEvents(
            SystemEvent(numbers.word_of(numbers.SYSTEM_EVENT_TYPES_BY_NUMBER, each.eventType, "event_type"), each.gpuId)
            for each in data[: request.numEvent]
        )

    def __del__(self):
        if self._set is not None and self._process == os.getpid():
            request = _nvml.versioned(_structs.SystemEventSetRequest, set=self._set)
            _nvml.release("nvmlSystemEventSetFree", ctypes.byref(request))

    def __repr__(self):
        return "<RegisteredSystemEvents>"
