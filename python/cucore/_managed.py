"""Managed memory: what the options of its resource mean, and the live set behind ``ManagedBuffer.accessed_by``."""

import operator
import threading
import warnings
from collections.abc import MutableSet

from cucore._device import Device
from cucore._errors import CUDAInvalidValueError
from cucore._host import Host
from cucore._options import member
from cucore.typing import ManagedMemoryLocationType

_warned = threading.Lock()  # acquired by the one warning of the process, and never released


def warn_without_concurrent_access():
    """Warns, once in a process, where the host must not touch managed memory while a kernel runs."""
    if _warned.locked():
        return
    if all(device.properties.concurrent_managed_access for device in Device.get_all_devices()):
        return
    if _warned.acquire(blocking=False):
        warnings.warn(
            "a device here has no concurrent managed access: while a kernel runs, the host must not touch managed "
            "memory, or the process crashes",
            UserWarning,
            stacklevel=3,
        )


def preferred_location(options):
    """The Device or Host that ``ManagedMemoryResourceOptions`` name, or None."""
    kind, place = options.preferred_location_type, options.preferred_location
    if kind is not None:
        member(ManagedMemoryLocationType, kind, "preferred_location_type")
    if kind is None:
        if place is None:
            return None
        number = _number(place)
        if number < -1:
            raise ValueError(f"preferred_location must be a device's ordinal, -1 for the host or None, not {number}")
        return Host() if number == -1 else _device(number)
    if kind == ManagedMemoryLocationType.DEVICE:
        if place is None or _number(place) < 0:
            raise ValueError(
                f"preferred_location must be a device's ordinal for preferred_location_type 'device', not {place!r}"
            )
        return _device(_number(place))
    if kind == ManagedMemoryLocationType.HOST:
        if place is not None:
            raise ValueError(f"preferred_location must be None for preferred_location_type 'host', not {place!r}")
        return Host()
    if place is not None:
        return Host(_number(place))
    node = Device().properties.host_numa_id
    if node < 0:
        raise RuntimeError("the driver does not know the NUMA node of the current device: give preferred_location")
    return Host(node)


def _device(ordinal):
    try:
        return Device(ordinal)
    except ValueError as error:
        refused = CUDAInvalidValueError(f"CUDA_ERROR_INVALID_VALUE: preferred_location: {error}")
        refused.code, refused.name = 1, "CUDA_ERROR_INVALID_VALUE"
        raise refused from None


def _number(place):
    if isinstance(place, bool) or not hasattr(place, "__index__"):
        raise ValueError(f"preferred_location must be an int or None, not {place!r}")
    return operator.index(place)


class AccessedBy(MutableSet):
    """The devices and the host that keep a mapping of a managed buffer; the driver is asked each time."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer):
        self._buffer = buffer

    @classmethod
    def _from_iterable(cls, locations):
        return set(locations)

    def __contains__(self, location):
        return _is_location(location) and location in self._buffer._accessed_by()

    def __iter__(self):
        return iter(self._buffer._accessed_by())

    def __len__(self):
        return len(self._buffer._accessed_by())

    def add(self, location):
        self._buffer._add_accessed_by(_checked(location))

    def discard(self, location):
        if _is_location(location) and not _has_node(location):
            self._buffer._remove_accessed_by(location)

    def __repr__(self):
        return f"AccessedBy({self._buffer._accessed_by()!r})"


def assign(buffer, locations):
    """``buffer.accessed_by = locations``: all are checked first; then only what differs is changed."""
    wanted = {_checked(location) for location in locations}
    before = set(buffer._accessed_by())
    for location in before - wanted:
        buffer._remove_accessed_by(location)
    for location in wanted - before:
        buffer._add_accessed_by(location)


def _is_location(location):
    return isinstance(location, (Device, Host))


def _has_node(location):
    return isinstance(location, Host) and (location.numa_id is not None or location.is_numa_current)


def _checked(location):
    if not _is_location(location):
        raise TypeError(f"accessed_by holds Devices and Host(), not {type(location).__name__}")
    if _has_node(location):
        raise ValueError(f"accessed_by takes the host, but not a NUMA node of it: use Host() instead of {location!r}")
    return location
