"""Memory that other processes open: the handles of pools, descriptors of buffers, and how multiprocessing sends both.

Imported when the first such pool is made or asked for; importing it registers the memory resources and Buffer with
multiprocessing's pickler. A pool travels as a file descriptor, which only multiprocessing can send; plain pickle names
the pool by its UUID, and the receiver must have that one already.
"""

import multiprocessing.reduction
import os
import threading
import uuid
import weakref
from operator import index

from cucore import _fork, _seam
from cucore._device import Device
from cucore._errors import AssertionValueError, AttributeRuntimeError, RuntimeTypeError, ValueTypeError

_registry = weakref.WeakValueDictionary()  # the resources given to register(), by UUID
_uuids = weakref.WeakKeyDictionary()  # of resources that are shared, once asked for; None until register() tells it
_handles = weakref.WeakKeyDictionary()  # of resources: what they are imported from, once asked for
_lock = threading.RLock()  # of the registry, and of what resources and buffers get when first asked for it


class IPCAllocationHandle:
    """What another process imports a memory pool from: a file descriptor and the pool's UUID.

    A memory resource's ``allocation_handle`` is one, ``from_allocation_handle(...)`` takes one. It is sent through
    multiprocessing: to a child as an argument, or through a queue or pipe.
    """

    __slots__ = ("__weakref__", "_file", "_uuid")

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "IPCAllocationHandle cannot be instantiated directly: use the allocation_handle of a memory resource"
        )

    @property
    def handle(self):
        """The file descriptor; -1 when closed."""
        return self._file

    @property
    def uuid(self):
        """The pool's UUID; None if it was imported from a bare file descriptor."""
        return self._uuid

    @property
    def is_closed(self):
        """Whether the file descriptor has been closed."""
        return self._file < 0

    def close(self):
        """Closes the file descriptor; pools imported from it stay. Closing twice is allowed."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __int__(self):
        if self._file < 0:
            raise ValueError("the IPCAllocationHandle has been closed: keep it open until the pool is imported")
        return self._file

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __del__(self):
        if hasattr(self, "_file"):  # not where __init__ refused
            self.close()

    def __reduce__(self):
        raise TypeError(
            "an IPCAllocationHandle is an open file descriptor, which pickle cannot carry: send it through a queue, "
            "pipe or Process of multiprocessing"
        )

    def __repr__(self):
        return f"<IPCAllocationHandle {'closed' if self._file < 0 else f'handle={self._file}'} uuid={self._uuid}>"


class IPCBufferDescriptor:
    """What another process, which has the buffer's pool, opens the buffer with: ``Buffer.from_ipc_descriptor(...)``."""

    __slots__ = ("__weakref__", "_payload", "_size")

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCBufferDescriptor cannot be instantiated directly: use Buffer.ipc_descriptor")

    @property
    def size(self):
        """Bytes of the buffer."""
        return self._size

    def __eq__(self, other):
        if not isinstance(other, IPCBufferDescriptor):
            return NotImplemented
        return (self._payload, self._size) == (other._payload, other._size)

    def __hash__(self):
        return hash((self._payload, self._size))

    def __reduce__(self):
        return descriptor, (self._payload, self._size)


def descriptor(payload, size):
    """A descriptor of these bytes."""
    made = object.__new__(IPCBufferDescriptor)
    made._payload, made._size = bytes(payload), index(size)
    return made


def _handle(file, pool_uuid):
    made = object.__new__(IPCAllocationHandle)
    made._file, made._uuid = file, pool_uuid
    return made


def _require_ipc(resource):
    if not getattr(resource, "is_ipc_enabled", False):
        raise RuntimeError(
            f"Memory resource is not IPC-enabled: {resource!r}; make it with options={{'ipc_enabled': True}}"
        )


# The IPC members of DeviceMemoryResource and PinnedMemoryResource.


def pool_uuid(resource):
    """``resource.uuid``: one of its own for each pool that this process shares."""
    if not resource.is_ipc_enabled:
        return None
    with _lock:
        if resource not in _uuids:
            _uuids[resource] = uuid.uuid4()
        return _uuids[resource]


def allocation_handle(resource):
    """``resource.allocation_handle``."""
    _require_ipc(resource)
    with _lock:
        if resource not in _handles:
            _handles[resource] = _handle(_seam.export_pool(resource), pool_uuid(resource))
        return _handles[resource]


def import_pool(resource_type, handle, *device):
    """``resource_type.from_allocation_handle``; `device` as the class wants it."""
    if isinstance(handle, IPCAllocationHandle):
        known = _registered(handle.uuid)
        if known is not None:
            if not isinstance(known, resource_type):
                raise TypeError(
                    f"the pool {handle.uuid} is registered as {type(known).__name__}, not {resource_type.__name__}"
                )
            return known
        file, known_uuid = os.dup(int(handle)), handle.uuid
    elif hasattr(handle, "__index__") or hasattr(handle, "__int__"):
        file, known_uuid = os.dup(int(handle)), None
    else:
        error = ValueTypeError if isinstance(handle, str) else TypeError
        raise error(f"alloc_handle must be an IPCAllocationHandle or an int, not {type(handle).__name__}")
    kept = _handle(file, known_uuid)
    made = _seam.import_pool(resource_type, file, *device)
    with _lock:
        _uuids[made], _handles[made] = known_uuid, kept
    return made if known_uuid is None else register(made, known_uuid)


def register(resource, pool_uuid_):
    """``resource.register``."""
    with _lock:
        known = _registered(pool_uuid_)
        if known is not None:
            return known
        if pool_uuid_ is None:
            raise RuntimeTypeError("uuid must be a uuid.UUID, not None")
        _require_ipc(resource)
        if not isinstance(pool_uuid_, uuid.UUID):
            raise TypeError(f"uuid must be a uuid.UUID, not {type(pool_uuid_).__name__}")
        own = pool_uuid(resource)
        if own is None:
            _uuids[resource] = pool_uuid_
            _handles[resource]._uuid = pool_uuid_
        elif own != pool_uuid_:
            raise AssertionValueError(f"the memory resource is the pool {own}, not {pool_uuid_}")
        _registry[pool_uuid_] = resource
        return resource


def _registered(pool_uuid_):
    with _lock:
        known = _registry.get(pool_uuid_)
        return None if known is None or known.is_closed else known


def from_registry(pool_uuid_):
    """The resource that was registered under this UUID."""
    known = _registered(pool_uuid_)
    if known is None:
        raise RuntimeError(
            f"Memory resource {pool_uuid_} was not found: send the resource or its allocation_handle through "
            "multiprocessing first, and keep the resource; plain pickle only names it"
        )
    return known


def reduce_pool(resource):
    """``resource.__reduce__``: for plain pickle."""
    _require_ipc(resource)
    known = pool_uuid(resource)
    if known is None:
        raise RuntimeError(
            "the memory resource was imported from a bare file descriptor and has no name: call "
            "register(uuid) on it first, with the uuid of the resource it was exported from"
        )
    return from_registry, (known,)


# The IPC members of Buffer.

_descriptors = weakref.WeakKeyDictionary()  # those that buffers were asked for or opened with


def buffer_descriptor(buffer):
    """``buffer.ipc_descriptor``: the same object each time."""
    with _lock:
        if not buffer.is_closed and not isinstance(buffer.memory_resource, _seam.PoolMemoryResource):
            raise AttributeRuntimeError(
                f"Memory resource is not IPC-enabled: {buffer.memory_resource!r}; other processes can open memory of "
                "a DeviceMemoryResource or PinnedMemoryResource that was made with options={'ipc_enabled': True}"
            )
        known = None if buffer.is_closed else _descriptors.get(buffer)
        if known is None:
            known = _descriptors[buffer] = descriptor(*_seam.export_buffer(buffer))
        return known


def open_buffer(buffer_type, resource, ipc_descriptor, stream):
    """``buffer_type.from_ipc_descriptor``."""
    if not isinstance(ipc_descriptor, IPCBufferDescriptor):
        raise TypeError(f"ipc_descriptor must be an IPCBufferDescriptor, not {type(ipc_descriptor).__name__}")
    _require_ipc(resource)
    made = _seam.open_ipc_buffer(buffer_type, resource, ipc_descriptor._payload, ipc_descriptor._size, stream)
    with _lock:
        _descriptors[made] = ipc_descriptor
    return made


def reduce_buffer(buffer):
    """``buffer.__reduce__``, and what multiprocessing does: their ways of sending the resource differ."""
    ipc_descriptor = buffer.ipc_descriptor  # first: raises for buffers that cannot be sent
    return received_buffer, (buffer.memory_resource, ipc_descriptor)


def received_buffer(resource, ipc_descriptor):
    """A buffer that has arrived, to be freed in the order of the default stream."""
    stream = Device(max(0, resource.device_id)).default_stream
    return open_buffer(_seam.Buffer, resource, ipc_descriptor, stream)


# What multiprocessing sends.


def received_handle(duplicate, pool_uuid_):
    """A handle that has arrived."""
    return _handle(duplicate.detach(), pool_uuid_)


def received_pool(resource_type, handle, device_uuid):
    """A memory resource that has arrived: imported and registered, or the one that is registered already."""
    with handle:
        device = () if device_uuid is None else (Device.from_uuid(device_uuid),)
        return resource_type.from_allocation_handle(*device, handle)


def _send_handle(handle):
    return received_handle, (multiprocessing.reduction.DupFd(int(handle)), handle.uuid)


def _send_pool(resource):
    _fork.warn_of_start_method(stacklevel=2)
    device_uuid = None if resource.device_id < 0 else Device(resource.device_id).uuid
    return received_pool, (type(resource), resource.allocation_handle, device_uuid)


def _send_buffer(buffer):
    _fork.warn_of_start_method(stacklevel=2)
    return reduce_buffer(buffer)


for _type, _reducer in (
    (IPCAllocationHandle, _send_handle),
    (_seam.DeviceMemoryResource, _send_pool),
    (_seam.PinnedMemoryResource, _send_pool),
    (_seam.Buffer, _send_buffer),
):
    multiprocessing.reduction.ForkingPickler.register(_type, _reducer)
IPCAllocationHandle.__module__ = "cucore"
IPCBufferDescriptor.__module__ = "cucore"
