"""Waiting for what happens to devices; what waiting for the system's events shares with it."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from typing import Generic

from cucore.system import _numbers as numbers
from cucore.system import _nvml, _structs
from cucore.system._nvml_device import SomeDevice
from cucore.system.exceptions import TimeoutError
from cucore.system.typing import EventType

_SLICE = 200  # milliseconds between two looks at signals, so that Ctrl-C ends a wait


def bits_of(words: dict, events: object) -> int:
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


def wait_for(wait: Callable[[int], None], timeout_ms: int | None) -> None:
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


class EventData(Generic[SomeDevice]):
    """What happened to a device."""

    __slots__ = ("_data", "_device")

    def __init__(self, device: SomeDevice, data: _structs.EventData):
        self._device = device
        self._data = data

    @property
    def device(self) -> SomeDevice:
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


class DeviceEvents(Generic[SomeDevice]):
    """The events that were registered; what happens from then on is waited for here. ``Device.register_events`` makes
    one."""

    __slots__ = ("__weakref__", "_device", "_process", "_set")

    def __init__(self, device: SomeDevice, events: EventType | str | list[EventType | str]):
        self._set = None
        self._device = device
        self._process = os.getpid()
        bits = bits_of(numbers.EVENT_TYPES, events)
        self._set = _nvml.get(ctypes.c_void_p, "nvmlEventSetCreate", on=self)
        pointer = device._pointer
        _nvml.call("nvmlDeviceRegisterEvents", pointer, ctypes.c_ulonglong(bits), self._set, on=self)

    def wait(self, timeout_ms: int | None = 0) -> EventData[SomeDevice]:
        """The next event. After ``timeout_ms`` milliseconds without one, TimeoutError: 0 only looks, None has no limit.

        GpuIsLostError if the device can no longer be reached.
        """
        data = _structs.EventData()

        def wait(milliseconds: int) -> None:
            arguments = (self._set, ctypes.byref(data), _nvml.uint(milliseconds))
            _nvml.call("nvmlEventSetWait_v2", *arguments, on=self)

        wait_for(wait, timeout_ms)
        own = self._device._pointer.value == data.device
        return EventData(self._device if own else self._device._at(data.device, f"the device of {self!r}"), data)

    def __del__(self):
        if getattr(self, "_set", None) is not None and self._process == os.getpid():  # not where __init__ refused
            _nvml.release("nvmlEventSetFree", self._set)

    def __repr__(self):
        return f"<DeviceEvents of {self._device!r}>"
