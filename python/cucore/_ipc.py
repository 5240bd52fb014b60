"""Events that other processes open: their descriptors, and how multiprocessing sends them.

Imported when the first such event is made; importing it registers Event with multiprocessing's pickler.
"""

import multiprocessing.reduction
import threading
import weakref

from cucore import _fork, _seam
from cucore._device import Device

_descriptors = weakref.WeakKeyDictionary()  # the descriptors that were asked for
_lock = threading.RLock()


class IPCEventDescriptor:
    """What another process opens an event with: ``Event.from_ipc_descriptor(descriptor)``."""

    __slots__ = ("__weakref__", "_blocking_sync", "_handle")
    __hash__ = None

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCEventDescriptor cannot be instantiated directly: use Event.ipc_descriptor")

    def __eq__(self, other):
        if not isinstance(other, IPCEventDescriptor):
            return NotImplemented
        return self._handle == other._handle

    def __reduce__(self):
        return descriptor, (self._handle, self._blocking_sync)


def descriptor(handle, blocking_sync):
    """A descriptor of these bytes."""
    made = object.__new__(IPCEventDescriptor)
    made._handle = bytes(handle)
    made._blocking_sync = bool(blocking_sync)
    return made


def event_descriptor(event):
    """``event.ipc_descriptor``: the same object each time."""
    with _lock:
        known = None if event.is_closed else _descriptors.get(event)
        if known is None:
            known = _descriptors[event] = descriptor(_seam.export_ipc_event(event), event.is_blocking_sync)
        return known


def open_event(event_type, ipc_descriptor):
    """``event_type.from_ipc_descriptor``."""
    if not isinstance(ipc_descriptor, IPCEventDescriptor):
        raise TypeError(f"expected an IPCEventDescriptor, not {type(ipc_descriptor).__name__}")
    event = _seam.open_ipc_event(event_type, ipc_descriptor._handle, ipc_descriptor._blocking_sync)
    with _lock:
        _descriptors[event] = ipc_descriptor
    return event


def event_from(ipc_descriptor):
    """What multiprocessing calls in the process that an event arrives in."""
    return open_event(_seam.Event, ipc_descriptor)


class SharedEvent:
    """An IPC-enabled event that can be pickled: what comes back, in another process, has the event and its device.

    ``SharedEvent(event)`` in the process that recorded it; there, or where it is unpickled, ``shared.event`` is the
    Event (opened at first use, on its own device, whichever is current) and ``shared.device`` its Device.
    """

    __slots__ = ("__weakref__", "_descriptor", "_event", "_uuid")

    def __init__(self, event):
        if not isinstance(event, _seam.Event):
            raise TypeError(f"event must be an Event, not {type(event).__name__}")
        self._descriptor = event.ipc_descriptor
        if event.device is None:
            raise ValueError("the event was made by another process: let that process share it")
        self._uuid = event.device.uuid
        self._event = event

    @property
    def device(self):
        """The Device of the event, in this process."""
        return Device.from_uuid(self._uuid)

    @property
    def event(self):
        """The Event."""
        if self._event is None:
            with self.device.current():
                self._event = open_event(_seam.Event, self._descriptor)
        return self._event

    def __reduce__(self):
        return _shared_event, (self._descriptor, self._uuid)

    def __repr__(self):
        return f"<SharedEvent of device {self._uuid}>"


def _shared_event(ipc_descriptor, uuid):
    shared = object.__new__(SharedEvent)
    shared._descriptor, shared._uuid, shared._event = ipc_descriptor, uuid, None
    return shared


def _reduce_event(event):
    _fork.warn_of_start_method(stacklevel=2)
    return event_from, (event.ipc_descriptor,)


IPCEventDescriptor.__module__ = "cucore"
SharedEvent.__module__ = "cucore"
multiprocessing.reduction.ForkingPickler.register(_seam.Event, _reduce_event)
