# Made by tools/make_stubs.py from the package and from python/signatures/cucore.pyi; not to be edited.

"""Compile, load, launch and time CUDA kernels at run time, on a GPU or with none.

Names and behaviour are those of NVIDIA's ``cuda.core`` 1.2. Importing this creates nothing: no driver is opened, no
context is made, and neither NumPy nor the compiler is loaded before something needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from os import PathLike
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import UUID as _UUID

from cucore import checkpoint as checkpoint
from cucore import debug as debug
from cucore import graph as graph
from cucore import system as system
from cucore import texture as texture
from cucore import typing as typing
from cucore import utils as utils
from cucore.typing import (
    CompilerBackendType,
    DeviceResourcesType,
    IsStreamType,
    ObjectCodeFormatType,
    PCHStatusType,
    SourceCodeType,
    WorkqueueSharingScopeType,
)
from cucore.utils import ProgramCacheResource, StridedMemoryView

__version__: str
_Self = TypeVar("_Self")
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Path = str | PathLike[str]
_Dimensions = int | tuple[int, ...] | list[int]

class _LogWriter(Protocol):
    def write(self, text: str, /) -> Any: ...

LEGACY_DEFAULT_STREAM: Stream
PER_THREAD_DEFAULT_STREAM: Stream

class AccessPolicyWindow(NamedTuple):
    base_ptr: int | Buffer
    num_bytes: int
    hit_ratio: float = 1.0
    hit_prop: str = "persisting"
    miss_prop: str = "normal"

class Buffer:
    """A range of memory and what keeps it alive. Device.allocate(), a MemoryResource's allocate() and
    Buffer.from_handle() make one."""
    @property
    def handle(self) -> int:
        """The address; 0 when closed."""
    @property
    def size(self) -> int:
        """Bytes; 0 when closed."""
    @property
    def device_id(self) -> int:
        """The device whose memory it is, or -1. RuntimeError: it is of none."""
    @property
    def is_device_accessible(self) -> bool:
        """Whether devices can access it."""
    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access it."""
    @property
    def is_managed(self) -> bool:
        """Whether it is managed memory."""
    @property
    def is_mapped(self) -> bool:
        """Whether another process allocated it."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def memory_resource(self) -> MemoryResource | None:
        """What takes the memory back, or None."""
    @property
    def owner(self) -> Any:
        """What is kept alive, or None."""
    @staticmethod
    def from_handle(
        ptr: Any,
        size: int,
        mr: MemoryResource | None = None,
        owner: object | None = None,
        *,
        stream: Stream | graph.GraphBuilder | None = None,
    ) -> Buffer:
        """Wraps an address. With `mr` the buffer owns the memory, which mr.deallocate() takes back, in the order of
        `stream`; `owner` is only kept alive."""
    @property
    def ipc_descriptor(self) -> IPCBufferDescriptor:
        """What other processes open it with, together with its pool: an IPCBufferDescriptor."""
    def copy_to(
        self,
        dst: Buffer | None = None,
        *,
        stream: Stream | graph.GraphBuilder,
        options: utils.CopyOptions | None = None,
    ) -> Buffer:
        """Copies all of it to `dst` (without one: to a new buffer of the same resource) and returns that."""
    def copy_from(
        self, src: Buffer, *, stream: Stream | graph.GraphBuilder, options: utils.CopyOptions | None = None
    ) -> None:
        """Copies all of `src` into it."""
    def fill(self, value: Any, *, stream: Stream | graph.GraphBuilder) -> None:
        """Fills it with a byte (an int), or with a value of 1, 2 or 4 bytes."""
    def set_deallocation_stream(self, stream: Stream | graph.GraphBuilder) -> None:
        """Frees in the order of `stream` instead of the recorded one."""
    def close(self, stream: Stream | graph.GraphBuilder | None = None) -> None:
        """Frees the memory, in the order of `stream` or of the recorded stream. Closing twice is allowed."""
    @classmethod
    def from_ipc_descriptor(
        cls: type[_Self],
        mr: DeviceMemoryResource | PinnedMemoryResource,
        ipc_descriptor: IPCBufferDescriptor,
        *,
        stream: Stream | graph.GraphBuilder,
    ) -> _Self:
        """Opens a buffer of another process, of which `mr` must have the pool. Closing it, in the order of `stream`,
        ends only the use of this process."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class CUDAError(Exception):
    """A CUDA driver call failed.

    Attributes:
        code: the driver's number for the error, 0 when cucore itself refused.
        name: its symbolic name, for example "CUDA_ERROR_OUT_OF_MEMORY", or "".
        call: the function that failed, for example "cuMemAllocFromPoolAsync", or "".
        log: the compiler's, linker's or JIT compiler's log, or None.
        hint: what to do about it, or "".
    """

    code: int
    name: str
    call: str
    log: str | None
    hint: str
    @property
    def api(self) -> str:
        """The same as ``call``."""
    @property
    def is_sticky(self) -> bool:
        """Whether the context is unusable now: every later call in it fails with this error until the process ends."""
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The messages in ``log`` as a list of Diagnostic: file, line, column, severity, number, text, context."""

class CUDAWarning:
    """A failure that cannot be raised: a driver object could not be released in a destructor."""

class CompileErrors(Exception):
    """What compile_all raises when programs could not be compiled: an ExceptionGroup, where Python has that (3.11)."""
    @property
    def exceptions(self) -> tuple[Exception, ...]:
        """The errors, in the order of the programs."""
    @property
    def indices(self) -> tuple[int, ...]:
        """Which of the programs each error belongs to."""
    @property
    def results(self) -> list[ObjectCode | None]:
        """What compile_all would have returned, with None for those that failed."""
    def derive(self, exceptions: Sequence[Exception]) -> Exception:
        """What ``except*`` and ``split`` make of a part: a plain group."""

class Context:
    """Where a device's streams, events and memory belong. Device.context gives one."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def is_green(self) -> bool:
        """Whether it was made from a part of a device's resources; False when closed."""
    @property
    def resources(self) -> DeviceResources:
        """What the context was provisioned with: all of the device unless it is green."""
    @staticmethod
    def from_handle(handle: int) -> Context:
        """Wraps the address of a context that other code owns and keeps alive."""
    @property
    def handle(self) -> int | None:
        """The driver's handle (CUcontext); None when closed."""
    @property
    def device(self) -> Device:
        """The Device the context is on."""
    def current(self) -> AbstractContextManager[Context]:
        """`with context.current():` makes it current, and the one before again afterwards."""
    def close(self) -> None:
        """Drops this reference; a green context is destroyed when no stream or event needs it any more."""
    def create_stream(self, options: StreamOptions | dict[str, Any] | None = None) -> Stream:
        """A new stream that runs on this green context's part of the device; needs no set_current()."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

@dataclass
class ContextOptions:
    """What ``Device.create_context`` makes a green context of.

    resources: SMResource and WorkqueueResource objects of the device.
    """

    resources: DeviceResourcesType

class Device:
    """A GPU, or the CPU device.

    ``Device(n)`` is the n-th device the driver shows, the same object each time in one thread; ``Device()`` is the
    current one. Making one creates no context; ``set_current()`` does, and what creates streams, events or memory needs
    that first, in every thread.
    """

    initializes_on_demand: bool
    @staticmethod
    def get_all_devices() -> tuple[Device, ...]:
        """All devices the driver shows, as a tuple."""
    @staticmethod
    def from_uuid(uuid: str) -> Device:
        """The device with this UUID, as ``uuid`` writes it; hyphens and case do not count."""
    @staticmethod
    def from_pci_bus_id(pci_bus_id: str) -> Device:
        """The device with this bus address, for example "0000:3b:00.0"."""
    def to_system_device(self) -> system.Device:
        """Its ``cucore.system.Device``, which NVML describes: the one with the same UUID. RuntimeError if there is
        none."""
    @staticmethod
    def wait_all(streams: Iterable[Stream]) -> None:
        """Waits until everything submitted so far to each of ``streams`` has completed."""
    @property
    def device_id(self) -> int:
        """The ordinal."""
    @property
    def name(self) -> str:
        """The driver's name for it."""
    @property
    def uuid(self) -> str:
        """Lower-case hexadecimal, 8-4-4-4-12; for a MIG instance, the instance's own."""
    @property
    def pci_bus_id(self) -> str:
        """``dddd:bb:dd.f``."""
    @property
    def compute_capability(self) -> ComputeCapability: ...
    @property
    def arch(self) -> str:
        """The compute capability as digits: "75", "90", "100"."""
    @property
    def total_memory(self) -> int:
        """Bytes of device memory."""
    @property
    def properties(self) -> DeviceProperties:
        """The device's attributes by name."""
    @property
    def memory_info(self) -> MemoryInfo: ...
    @property
    def limits(self) -> Limits:
        """The Limits of the device's primary context, for example ``device.limits.stack_size``; makes the context."""
    def enable_peer_access(self, peer: Device | int) -> None:
        """Lets kernels of this device access memory of ``peer`` that is not from a pool; calling it again is allowed.

        Access to a pool's memory is granted apart: DeviceMemoryResource.peer_accessible_by.
        """
    def disable_peer_access(self, peer: Device | int) -> None:
        """Revokes ``enable_peer_access``; calling it again is allowed."""
    @property
    def priority_range(self) -> PriorityRange: ...
    def can_access_peer(self, peer: Device | int) -> bool:
        """Whether kernels on this device can access memory of ``peer`` (None: the current device); True for itself."""
    @property
    def context(self) -> Context:
        """The Context that the last set_current() on this object made current."""
    def set_current(self, ctx: Context | None = None) -> Context | None:
        """Makes the device's primary context current in this thread, or ``ctx``, and returns the one that was.

        Without ``ctx`` it returns None.
        """
    def current(self) -> AbstractContextManager[Context]:
        """``with device.current():`` makes its primary context current, and the one before again afterwards."""
    @property
    def memory_resource(self) -> MemoryResource:
        """Where ``allocate`` gets memory: the device's default pool until another resource is set."""
    @memory_resource.setter
    def memory_resource(self, resource: MemoryResource) -> None: ...
    @property
    def default_stream(self) -> Stream:
        """LEGACY_DEFAULT_STREAM, or PER_THREAD_DEFAULT_STREAM if the environment variable
        CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM begins with a number other than 0."""
    @property
    def resources(self) -> DeviceResources:
        """The resources of the whole device: multiprocessors and work queues, to be divided among green contexts."""
    def create_context(self, options: ContextOptions | dict[str, Any] | None = None) -> Context:
        """A green context, which runs on ``options.resources`` only. It does not become current."""
    def partition(self, shares: Iterable[int] | Iterable[float]) -> list[Context]:
        """Green contexts, one for each share of the device: numbers of multiprocessors, or fractions (floats)."""
    def create_graph_builder(self) -> graph.GraphBuilder:
        """A GraphBuilder on a stream of its own."""
    @property
    def event_pool(self) -> EventPool:
        """The device's EventPool: ``with device.event_pool.get() as event: ...``. All threads share its events."""
    def allocate(self, size: int, *, stream: Stream | graph.GraphBuilder) -> Buffer:
        """A Buffer of ``size`` bytes from ``memory_resource``, usable in the order of ``stream``."""
    def sync(self) -> None:
        """Waits for everything submitted to the device's context."""
    def create_opaque_array(self, options: texture.OpaqueArrayOptions | dict[str, Any]) -> texture.OpaqueArray:
        """An OpaqueArray, as OpaqueArrayOptions or a dict of its fields say."""
    def create_mipmapped_array(self, options: texture.MipmappedArrayOptions | dict[str, Any]) -> texture.MipmappedArray:
        """A MipmappedArray, as MipmappedArrayOptions or a dict of its fields say."""
    def create_texture_object(
        self,
        *,
        resource: texture.ResourceDescriptor,
        options: texture.TextureObjectOptions | dict[str, Any] | None = None,
    ) -> texture.TextureObject:
        """A TextureObject: the memory of ``resource``, a ResourceDescriptor, read as TextureObjectOptions say."""
    def create_surface_object(self, *, resource: texture.ResourceDescriptor) -> texture.SurfaceObject:
        """A SurfaceObject of the OpaqueArray behind ``resource``, a ResourceDescriptor."""
    def create_event(self, options: EventOptions | dict[str, Any] | None = None) -> Event:
        """A new event, not recorded on any stream."""
    def create_stream(
        self, obj: IsStreamType | None = None, options: StreamOptions | dict[str, Any] | None = None
    ) -> Stream:
        """A new stream; or, for an object with ``__cuda_stream__``, a Stream around its stream."""
    def __new__(cls, device_id: Device | int | None = None) -> Device: ...
    def __int__(self) -> int: ...

@dataclass(slots=True)
class DeviceMemoryResourceOptions:
    """How ``DeviceMemoryResource`` makes a pool of its own.

    ipc_enabled: the pool can be shared with other processes.
    max_size: bytes the pool may grow to; 0 lets the driver decide.
    release_threshold: bytes the pool keeps when idle instead of giving them back at a synchronization. None: 0, as the
        driver makes pools; 2**64 - 1 keeps all.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    release_threshold: int | None = None

class DeviceResources:
    """What a device has, or a context was provisioned with: Device.resources, Context.resources, Stream.resources."""
    @property
    def sm(self) -> SMResource:
        """The multiprocessors: a new SMResource each time."""
    @property
    def workqueue(self) -> WorkqueueResource:
        """The work queues: a new WorkqueueResource each time."""
    @property
    def device(self) -> Device:
        """The Device they are of."""

class Event:
    """A mark in a stream, to wait for, to ask about, or to take the time between two. Device.create_event() makes one
    that is not recorded; Stream.record() records."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def is_timing_enabled(self) -> bool:
        """Whether it can be subtracted."""
    @property
    def is_blocking_sync(self) -> bool:
        """Whether sync() blocks the thread instead of spinning."""
    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can open it."""
    @property
    def is_done(self) -> bool:
        """Whether the work before the last record has completed; True if it was never recorded."""
    @property
    def context(self) -> Context | None:
        """Its Context; None for an event that other code made."""
    @staticmethod
    def from_handle(handle: int, options: EventOptions | dict[str, Any] | None = None) -> Event:
        """Wraps the address of an event that other code owns; `options` says how that made it. Nothing is checked or
        destroyed. The address of an event of cucore's gives that event."""
    @property
    def ipc_descriptor(self) -> IPCEventDescriptor:
        """What another process opens the event with: an IPCEventDescriptor."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUevent); 0 when closed."""
    @property
    def device(self) -> Device | None:
        """Its Device; None for an event that other code made."""
    def sync(self, timeout: float | timedelta | None = None) -> None:
        """Waits until the work before the last record has completed. With a `timeout` (seconds or a timedelta): for at
        most that long, then TimeoutError; Ctrl-C ends such a wait."""
    def wait_on(self, stream: Stream | graph.GraphBuilder) -> None:
        """Later work in `stream` waits for the last record; the host does not."""
    def future(self) -> Future[None]:
        """A concurrent.futures.Future that is done when the work before the last record has completed; its exception is
        the one that sync() would raise."""
    def record(self, stream: Stream | graph.GraphBuilder) -> None:
        """Records the event after the work submitted to `stream` so far."""
    def elapsed_time(self, start: Event, *, sync: bool = False) -> float:
        """Milliseconds from `start` to this event. Raises RuntimeError if there is no time yet, and says why;
        `sync=True` waits for both first."""
    def elapsed(self, start: Event, *, sync: bool = False) -> timedelta:
        """elapsed_time() as a timedelta, which is a microsecond fine."""
    def close(self) -> None:
        """Destroys the event, or gives it back to the EventPool it is from. Closing twice is allowed."""
    @classmethod
    def from_ipc_descriptor(cls: type[_Self], ipc_descriptor: IPCEventDescriptor) -> _Self:
        """Opens another process's event from what its `ipc_descriptor` gave."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def __sub__(self, start: Event) -> float: ...
    def __await__(self) -> Generator[Any]: ...

@dataclass(slots=True)
class EventOptions:
    """How ``Device.create_event`` and ``Stream.record`` make an event.

    timing_enabled: record a time, so that events can be subtracted.
    blocking_sync: ``sync()`` blocks the thread instead of spinning.
    ipc_enabled: the event can be sent to another process.
    """

    timing_enabled: bool = False
    blocking_sync: bool = False
    ipc_enabled: bool = False

class EventPool:
    """Events to use again: get() lends one and put() takes it back. At most `capacity` idle events of each kind are
    kept. Any thread may use it. device.event_pool is the device's own."""
    def get(self, options: EventOptions | dict[str, Any] | None = None) -> Event:
        """An event on loan: an idle one of that kind, or a new one. close(), leaving `with`, put() and garbage
        collection give it back. It may have been recorded by an earlier user."""
    def put(self, event: Event, /) -> None:
        """Takes back an event that get() gave; it is closed to its user."""
    @property
    def device(self) -> Device:
        """The Device whose events they are."""
    @property
    def idle(self) -> int:
        """How many events wait to be used."""
    @property
    def capacity(self) -> int:
        """How many idle events of each kind are kept."""
    def trim(self, keep: int = 0) -> None:
        """Destroys idle events until at most `keep` of each kind are left."""
    def close(self) -> None:
        """Drops the pool; events on loan stay usable."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def __init__(self, device: Device | int, *, capacity: int = 256) -> None: ...

class Host:
    """The host as a place for memory: ``Host()`` is any of its NUMA nodes, ``Host(numa_id=n)`` one of them, and
    ``Host.numa_current()`` that of the calling thread. There is one object of each."""
    @classmethod
    def numa_current(cls) -> Host:
        """The NUMA node that the calling thread runs on."""
    @property
    def numa_id(self) -> int | None:
        """The NUMA node, or None."""
    @property
    def is_numa_current(self) -> bool:
        """Whether it is the calling thread's NUMA node."""
    def __new__(cls, numa_id: int | None = None, *, is_numa_current: bool = False) -> Host: ...

class GraphicsResource:
    """A buffer or image of OpenGL that has been registered with CUDA. ``map()`` gives its memory, and OpenGL must leave
    that alone until it is unmapped::

        with GraphicsResource.from_gl_buffer(vbo) as resource:
            with resource.map(stream=stream) as buffer:
                launch(stream, config, kernel, buffer, n)
    """
    @classmethod
    def from_gl_buffer(
        cls, gl_buffer: int, *, flags: str | Sequence[str] | None = None, stream: Stream | None = None
    ) -> GraphicsResource:
        """Registers the buffer object with this name. With ``stream``, ``with`` maps it and gives the Buffer.

        flags: "none", "read_only", "write_discard", "surface_load_store", "texture_gather", or several of them.
        """
    @classmethod
    def from_gl_image(cls, image: int, target: int, *, flags: str | Sequence[str] | None = None) -> GraphicsResource:
        """Registers the texture or renderbuffer with this name; ``target`` is GL_TEXTURE_2D and the like."""
    @property
    def handle(self) -> int:
        """The driver's handle as an int; 0 when closed."""
    @property
    def resource_handle(self) -> int:
        """The same as ``handle``."""
    @property
    def is_mapped(self) -> bool:
        """Whether it is mapped; False when closed."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    def map(self, *, stream: Stream) -> Any:
        """Its memory, in the order of ``stream``: a Buffer, or of an image an OpaqueArray. Closing that unmaps it, in
        the order of ``stream`` or of the one that a Buffer is closed with."""
    def unmap(self, *, stream: Stream | None = None) -> None:
        """Closes what ``map()`` gave, in the order of ``stream`` or of the stream it was mapped with."""
    def close(self, stream: Stream | None = None) -> None:
        """Unmaps, if need be in the order of ``stream``, and ends the registration. Closing twice is allowed."""
    def __enter__(self) -> Any: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class IPCAllocationHandle:
    """What another process imports a memory pool from: a file descriptor and the pool's UUID.

    A memory resource's ``allocation_handle`` is one, ``from_allocation_handle(...)`` takes one. It is sent through
    multiprocessing: to a child as an argument, or through a queue or pipe.
    """
    @property
    def handle(self) -> int:
        """The file descriptor; -1 when closed."""
    @property
    def uuid(self) -> _UUID | None:
        """The pool's UUID; None if it was imported from a bare file descriptor."""
    @property
    def is_closed(self) -> bool:
        """Whether the file descriptor has been closed."""
    def close(self) -> None:
        """Closes the file descriptor; pools imported from it stay. Closing twice is allowed."""
    def __int__(self) -> int: ...
    def __enter__(self) -> IPCAllocationHandle: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class IPCBufferDescriptor:
    """What another process, which has the buffer's pool, opens the buffer with: ``Buffer.from_ipc_descriptor(...)``."""
    @property
    def size(self) -> int:
        """Bytes of the buffer."""

class IPCEventDescriptor:
    """What another process opens an event with: ``Event.from_ipc_descriptor(descriptor)``."""

class Kernel:
    """A function that launch() can run. ObjectCode.get_kernel() gives one."""
    @property
    def attributes(self) -> KernelAttributes:
        """What the compiler made of it: registers, memory and limits."""
    @property
    def occupancy(self) -> KernelOccupancy:
        """How it fills a device."""
    @staticmethod
    def from_handle(handle: int, mod: ObjectCode | None = None) -> Kernel:
        """Wraps a kernel (CUkernel) that other code loaded; `mod`, if given, is loaded and kept alive, with a
        UserWarning if the kernel is not one of its own."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUkernel)."""
    @property
    def name(self) -> str:
        """Its symbol."""
    @property
    def num_arguments(self) -> int:
        """How many parameters it has."""
    @property
    def arguments_info(self) -> list[ParamInfo]: ...
    @property
    def signature(self) -> KernelSignature:
        """The parameters with their types, as far as the PTX, the mangled name and the driver tell: a tuple that prints
        as a C++ parameter list. NotImplementedError if nothing is known."""
    def launcher(self, config: LaunchConfig | dict[str, Any]) -> Launcher:
        """A Launcher: launcher(stream, *args) runs the kernel with `config`, which is checked once, here."""
    def __getitem__(self, index: Any) -> Launcher: ...

class LaunchConfig:
    """How to launch a kernel. With a cluster, `grid` counts clusters. What depends on the device is checked by
    launch(). Fields that are None leave the driver's default alone."""

    grid: tuple[int, int, int]
    """How many blocks there are on each axis; with a cluster, how many clusters."""
    block: tuple[int, int, int]
    """How many threads a block has on each axis."""
    cluster: tuple[int, int, int] | None
    """How many blocks a cluster has on each axis; None: no clusters."""
    shmem_size: int
    """Bytes of dynamic shared memory for each block."""
    is_cooperative: bool
    """Whether all blocks run at once, so that they can wait for each other."""
    programmatic_stream_serialization: bool
    """Whether the kernel may begin before the one in front of it in the stream has ended."""
    priority: int | None
    """The kernel's priority; None: the stream's."""
    preferred_cluster: tuple[int, int, int] | None
    """The extents of a cluster where there is room, multiples of those of `cluster`."""
    cluster_scheduling_policy: str | None
    """How clusters are distributed over the device."""
    programmatic_event: tuple[Event, bool] | None
    """The event that the kernel's blocks trigger, as (event, flags)."""
    launch_completion_event: Event | None
    """The event that is recorded when all blocks have begun."""
    memory_sync_domain: str | None
    """The domain in which its memory is ordered."""
    memory_sync_domain_map: tuple[int, int] | None
    """The numbers of the default and the remote domain."""
    preferred_shared_memory_carveout: int | None
    """The percentage of the L1 cache that is to be shared memory."""
    access_policy_window: AccessPolicyWindow | None
    """What is to stay in the L2 cache."""
    @staticmethod
    def for_kernel(
        kernel: Kernel, n: int, shmem_size: int = 0, block_size_limit: int = 0, device: Device | int | None = None
    ) -> LaunchConfig:
        """A config with at least `n` threads in one dimension, in blocks of the size that fills the device best with
        this kernel (cuOccupancyMaxPotentialBlockSize). `block_size_limit` 0: none. The kernel has to check its index
        against n. Without `device`: for the current one."""
    def __init__(
        self,
        grid: _Dimensions | None = None,
        cluster: _Dimensions | None = None,
        block: _Dimensions | None = None,
        shmem_size: int | None = None,
        is_cooperative: bool = False,
        programmatic_stream_serialization: bool = False,
        *,
        priority: int | None = None,
        preferred_cluster: _Dimensions | None = None,
        cluster_scheduling_policy: str | None = None,
        programmatic_event: Event | tuple[Event, bool] | None = None,
        launch_completion_event: Event | None = None,
        memory_sync_domain: str | None = None,
        memory_sync_domain_map: tuple[int, int] | None = None,
        preferred_shared_memory_carveout: int | None = None,
        access_policy_window: AccessPolicyWindow | tuple[Any, ...] | dict[str, Any] | None = None,
    ) -> None: ...

class Launcher:
    """A kernel prepared to be launched many times with one config: launcher(stream, *args), or launcher(*args) if it
    was made with a stream. Kernel.launcher(config) and kernel[grid, block, shared, stream] make one. Any threads may
    call it. Errors are those of launch()."""
    def batch(self, *stream_and_arguments: Any) -> None:
        """batch(stream, rows), or batch(rows) with a bound stream: launches once for each tuple of arguments in `rows`,
        in order. All of them are checked before the first is launched."""
    @property
    def kernel(self) -> Kernel:
        """The Kernel it launches."""
    @property
    def config(self) -> LaunchConfig:
        """A copy of the LaunchConfig it launches with."""
    @property
    def stream(self) -> Stream | IsStreamType | None:
        """The stream it launches on; None: the first argument of each call."""
    def __call__(self, *stream_and_arguments: Any) -> None: ...

class Linker:
    """Links ObjectCodes: PTX, LTO-IR, cubins, fat binaries, objects and libraries, also mixed, in bytes or files.

    nvJitLink does the work and needs neither a driver nor a GPU when ``options.arch`` is given; where it is missing or
    older than 12.3, the driver's own linker (with one RuntimeWarning). No input is loaded. A linked cubin carries the
    PTX it was made from where all inputs have it, host objects and libraries too; get_info_log() says why not where it
    does not. A symbol that two inputs define, and that is not weak, is a ValueError naming both. The options are
    copied, but for the name, which may change until a link.
    """
    def link(self, target_type: ObjectCodeFormatType | str, *, cache: ProgramCache | None = None) -> ObjectCode:
        """Links to "cubin", "ptx" (of LTO-IR, or one PTX input as it is) or "ltoir" (nvJitLink 13.4), and returns an
        ObjectCode named ``options.name``. A second link to the same target gives the same code again.

        Args:
            target_type: what to make.
            cache: a ProgramCache.
        """
    def get_error_log(self) -> str:
        """The linker's error log of the last link. RuntimeError after ``close``, unless it has linked."""
    def get_info_log(self) -> str:
        """The linker's info log of the last link. RuntimeError after ``close``, unless it has linked."""
    @property
    def kernel_statistics(self) -> list[KernelStatistics]:
        """What the info log says of each kernel, as a list of named tuples: kernel, arch, registers, barriers,
        stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, constant_bytes, local_bytes. Empty without
        ``verbose`` or ``ptxas_options="-v"``."""
    @classmethod
    def which_backend(cls) -> CompilerBackendType:
        """Who links: nvJitLink or the driver. Looks for nvJitLink at the first call and warns if there is none."""
    @property
    def handle(self) -> int:
        """The linker's own object (nvJitLinkHandle or CUlinkState) as an int, with the inputs added; 0 when closed."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    def close(self) -> None:
        """Frees the inputs and the linker's object. Closing twice is allowed; a later link raises RuntimeError."""
    def __init__(self, *object_codes: ObjectCode, options: LinkerOptions | dict[str, Any] | None = None) -> None: ...
    def __enter__(self) -> Linker: ...
    def __exit__(self, *exception_info: object) -> None: ...

@dataclass
class LinkerOptions:
    """How ``Linker`` links. None always means: say nothing to the linker, so that its own default holds.

    A DeprecationWarning names what the driver's linker ignores; options that only nvJitLink has, it refuses. The last
    two are cucore's own.

    The fields of LinkerOptions:

    name: name of the result
    arch: "sm_90", "sm_90a"; "compute_90" for target ptx. Not set: the current device's, found when linking.
    max_register_count: registers of a thread, at most
    time: times into the info log (nvJitLink only)
    verbose: registers and sizes into the info log
    link_time_optimization: not set: on if an input is LTO-IR (the driver's linker ignores it)
    ptx: make PTX; link("ptx") needs no option (nvJitLink only)
    optimization_level: nvJitLink 0 or 3, the driver 0 to 4
    debug: debug information
    lineinfo: line numbers
    ftz: flush denormals; LTO-IR inputs only, as the next three (the driver's linker ignores it)
    prec_div: IEEE division (the driver's linker ignores it)
    prec_sqrt: IEEE square root (the driver's linker ignores it)
    fma: contract a*b+c (the driver's linker ignores it)
    kernels_used: keep only these kernels, with LTO (the driver's linker ignores it)
    variables_used: keep only these variables, with LTO (the driver's linker ignores it)
    optimize_unused_variables: drop variables that nothing uses, with LTO (the driver's linker ignores it)
    ptxas_options: for ptxas, one each (nvJitLink only)
    split_compile: threads, 0 = one per CPU (nvJitLink only)
    split_compile_extended: as above, with LTO (nvJitLink only)
    no_cache: nvJitLink's and the driver's own caches (nvJitLink 12.5 or newer)
    numba_debug: no linker has it
    incremental: Make a relocatable cubin, in which symbols may stay undefined, as an input for further links (nvJitLink
        only).
    embed_ptx: False: leave the PTX out of a cubin
    """

    name: str | None = "<default linker>"
    arch: str | None = None
    max_register_count: int | None = None
    time: bool | None = None
    verbose: bool | None = None
    link_time_optimization: bool | None = None
    ptx: bool | None = None
    optimization_level: int | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    ftz: bool | None = None
    prec_div: bool | None = None
    prec_sqrt: bool | None = None
    fma: bool | None = None
    kernels_used: str | Sequence[str] | None = None
    variables_used: str | Sequence[str] | None = None
    optimize_unused_variables: bool | None = None
    ptxas_options: str | Sequence[str] | None = None
    split_compile: int | None = None
    split_compile_extended: int | None = None
    no_cache: bool | None = None
    numba_debug: bool | None = None
    incremental: bool | None = None
    embed_ptx: bool | None = None
    def as_bytes(self, backend: CompilerBackendType | str = "nvjitlink") -> list[bytes]:
        """The flags that nvJitLink is given for these options."""

@dataclass(slots=True)
class ManagedMemoryResourceOptions:
    """How ``ManagedMemoryResource`` makes a pool of its own, or does without.

    preferred_location: where the memory is preferably, as preferred_location_type says.
    preferred_location_type: "device": a device's ordinal; "host": None; "host_numa": a NUMA node, or None for that of
        the current device; None: a device's ordinal, -1 for the host, or None for no preference.
    pooled: False allocates each buffer by itself. Only such memory takes advice (ManagedBuffer.read_mostly and so on)
        on NVIDIA's drivers.
    release_threshold: bytes the pool keeps when idle; None: 0, 2**64 - 1 keeps all.
    """

    preferred_location: int | None = None
    preferred_location_type: str | None = None
    pooled: bool = True
    release_threshold: int | None = None

class MemoryResource:
    """Where buffers come from and go back to. To make your own, derive from it and define allocate, deallocate,
    is_device_accessible, is_host_accessible and device_id."""
    def allocate(self, size: int, *, stream: Stream | graph.GraphBuilder | None = ...) -> Buffer:
        """A Buffer of `size` bytes, usable in the order of `stream`."""
    def deallocate(self, ptr: int, size: int, *, stream: Stream | graph.GraphBuilder | None = ...) -> None:
        """Takes memory back in the order of `stream`."""
    @property
    def is_device_accessible(self) -> bool:
        """Whether devices can access its memory."""
    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access its memory."""
    @property
    def device_id(self) -> int:
        """The device whose memory it is, or -1."""
    @property
    def is_managed(self) -> bool:
        """Whether its memory is managed."""
    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can use its memory."""
    def close(self) -> None:
        """Gives back what the resource itself holds; buffers stay valid."""
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class Module:
    """Explicit loading, for programs that want its cost and its errors at a place of their choice.

    ``kernel = Module().load(code).get_kernel("saxpy")``
    """
    def load(self, code: ObjectCode) -> Module:
        """Loads ``code`` (an ObjectCode) now and keeps it in place of what was loaded before. Returns self."""
    @property
    def object_code(self) -> ObjectCode:
        """What is loaded."""
    def get_kernel(self, name: str | bytes) -> Kernel:
        """The kernel of that name."""

class ObjectCode:
    """Compiled code: bytes, what kind they are, a name, and how C++ names map to symbols. Loaded by the first use that
    needs the driver. Program.compile() and the from_ methods make one."""
    @staticmethod
    def from_cubin(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """From a cubin: bytes, or the path of a file."""
    @staticmethod
    def from_ptx(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """From PTX: bytes, or the path of a file."""
    @staticmethod
    def from_ltoir(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """From LTO-IR, for the linker: bytes, or the path of a file."""
    @staticmethod
    def from_fatbin(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """From a fatbin: bytes, or the path of a file."""
    @staticmethod
    def from_object(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """From an object file, for the linker: bytes, or a path."""
    @staticmethod
    def from_library(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode:
        """From a static library, for the linker: bytes, or a path."""
    @staticmethod
    def from_images(
        images: Iterable[ObjectCode] | Mapping[str, ObjectCode],
        *,
        name: str = "",
        symbol_mapping: Mapping[str, str] | None = None,
    ) -> ObjectCode:
        """Code for several architectures in one object (a fatbin): ObjectCodes with cubins or PTX, in a sequence or a
        dict by architecture. The PTX a cubin carries is the fallback for devices no cubin is for."""
    @property
    def code(self) -> bytes | bytearray | str:
        """The code as it was given: bytes or bytearray, or the path of its file."""
    @property
    def code_type(self) -> str:
        """ "ptx", "cubin", "ltoir", "fatbin", "object" or "library"."""
    @property
    def name(self) -> str:
        """Its name, for messages."""
    @property
    def symbol_mapping(self) -> dict[str, str]:
        """A copy of the mapping from name expressions to symbols, which are bytes; or of what was given as such."""
    @property
    def ptx(self) -> str | None:
        """The PTX as str: the code itself, or what a cubin carries; None if there is none."""
    @property
    def images(self) -> list[tuple[str, str | None]]:
        """What is in it, as (code type, architecture): the images of a fat binary, a cubin and the PTX it carries, or
        PTX."""
    @property
    def loaded_image(self) -> tuple[str, str | None] | None:
        """The image that was loaded, as (code type, architecture); None before, and where the driver chooses."""
    @property
    def kernels(self) -> list[str]:
        """Symbols of the kernels, read from the PTX or, where there is none, from a binary."""
    @property
    def is_loaded(self) -> bool:
        """Whether the driver has it. Never loads."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUlibrary). Loads."""
    def get_module(self) -> int:
        """The driver's module of the current context (CUmodule), for calls that know no libraries. Loads."""
    def load(self) -> None:
        """Loads now, if that has not happened."""
    def get_kernel(self, name: str | bytes) -> Kernel:
        """The kernel of that name: a name expression given to compile(), a symbol, or its name in C++. Loads."""
    def get_global(self, name: str | bytes) -> Buffer:
        """A __device__ or __constant__ variable on the current device, as a Buffer. Loads."""
    def serialize(self) -> bytes:
        """Type, name, mapping and bytes in cucore's own format, with version and checksum."""
    @staticmethod
    def deserialize(data: bytes) -> ObjectCode:
        """The object that serialize() was called on, not loaded. Bad bytes raise ValueError."""
    def save(self, path: _Path) -> None:
        """serialize() into a file, which is replaced whole or not at all."""
    @staticmethod
    def from_saved(path: _Path) -> ObjectCode:
        """The object that was saved in that file, not loaded. Bad contents raise ValueError."""

@dataclass(slots=True)
class PinnedMemoryResourceOptions:
    """How ``PinnedMemoryResource`` makes a pool of its own.

    ipc_enabled: the pool can be shared with other processes. Drivers share only pools of a NUMA node.
    max_size: bytes the pool may grow to; 0 lets the driver decide.
    numa_id: the NUMA node to allocate on; None leaves it to the driver, or to ipc_enabled: that of the current device.
    release_threshold: bytes the pool keeps when idle; None: 0, 2**64 - 1 keeps all.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None
    release_threshold: int | None = None

class Program:
    """Source text and options.

    ``code_type`` is "c++" (compiled by NVRTC), "ptx" (by nvJitLink, or the driver where there is none) or "nvvm" (by
    libNVVM). Needs neither a driver nor a GPU when ``options.arch`` is given. Options that are changed later count from
    the next compile on, but for the name, and for PTX, whose linker is made at once. C++ source with ``debug`` or
    ``lineinfo`` and no ``name`` is also written to a file of the temporary folder, which debuggers show, until the
    Program is closed or gone.
    """
    def compile(
        self,
        target_type: ObjectCodeFormatType | str,
        name_expressions: Iterable[str | bytes] = (),
        logs: _LogWriter | None = None,
        *,
        cache: ProgramCache | ProgramCacheResource | None = None,
    ) -> ObjectCode:
        """Compiles to "ptx", "cubin" or "ltoir" and returns an ObjectCode named ``options.name``.

        Args:
            target_type: what to make. C++ source: "ptx", "cubin" or "ltoir", with several architectures "cubin" or
                "fatbin"; PTX source: "cubin", or "ptx" for the source as it is; NVVM source: "ptx" or "ltoir".
            name_expressions: C++ spellings of kernels or variables to instantiate, for example ``"axpy<float>"``;
                ``get_kernel`` takes them as they are spelled here.
            logs: an object with ``write(str)`` that is given the compiler's log after success, if there is one.
            cache: a ProgramCache, or a program cache of ``cucore.utils``.
        """
    @property
    def last_report(self) -> dict[str, str] | None:
        """The report of the last compile, also if it failed, as a dict: log, cache, cache_why, cache_key; None
        before."""
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The messages of the last compile, also if it failed, as a list of named tuples: file, line, column, severity
        ("info", "remark", "warning", "error" or "fatal"), number, text, context."""
    @property
    def kernel_statistics(self) -> list[KernelStatistics]:
        """What the log of the last compile says of each kernel, as a list of named tuples: kernel (its symbol), arch,
        registers, barriers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, constant_bytes,
        local_bytes. Empty without ``ptxas_options="-v"``."""
    def cancel(self) -> None:
        """Ends the compiles of C++ source that other threads have asked for and that have not returned: they raise
        NVRTCError with the name NVRTC_ERROR_CANCELLED. Later compiles are not affected. Does not wait: NVRTC checks
        while it generates code, not while it parses."""
    @property
    def handle(self) -> int:
        """The compiler's own object, as an int: an nvrtcProgram, an nvvmProgram, an nvJitLinkHandle or a CUlinkState.
        Valid until the next compile or close()."""
    @property
    def backend(self) -> CompilerBackendType:
        """Which compiler does the work."""
    @property
    def pch_status(self) -> PCHStatusType | None:
        """What became of the precompiled header in the last compile; None if none was asked for."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    def close(self) -> None:
        """Frees the source. Closing twice is allowed; a later compile raises RuntimeError."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def __init__(
        self,
        code: str | bytes | bytearray,
        code_type: SourceCodeType | str,
        options: ProgramOptions | dict[str, Any] | None = None,
    ) -> None: ...

class ProgramCache:
    """Compiled code kept in a folder, shared by any number of threads and processes. Pass it as compile(..., cache=).
    path: the folder; None is $CUCORE_CACHE_DIR, else $XDG_CACHE_HOME/cucore, else ~/.cache/cucore. max_bytes: what was
    used longest ago goes when the files' sum passes it. lock_wait: seconds to wait for another process that compiles
    the same thing. shared: use a folder that belongs to another user and entries written by others, who can then put
    code into this process. store: what other hosts share, asked after the folder: a URL or a store of cucore.stores;
    None is $CUCORE_CACHE_STORE, if that is set."""
    @property
    def path(self) -> str:
        """The folder."""
    @property
    def stats(self) -> ProgramCacheStats:
        """Counts since this object was made: hits, misses, uncacheable and others."""
    def why(
        self, program: Program, target_type: ObjectCodeFormatType | str, name_expressions: Iterable[str | bytes] = ()
    ) -> str:
        """What compiling `program` so would meet: "hit", "miss: " and what differs from the last compile of that name,
        or "uncacheable: " and the reason. Compiles nothing and counts nothing."""
    @property
    def size_bytes(self) -> int:
        """The sum of the sizes of all files."""
    def clear(self) -> None:
        """Removes all entries."""
    def entries(self) -> list[ProgramCacheEntry]:
        """What the folder has, the most recently used first: key, bytes, and the times (as time.time()) at which each
        was stored and last used."""
    def prune(
        self,
        *,
        max_bytes: int | None = None,
        max_age: float | None = None,
        max_unused: float | None = None,
        dry_run: bool = False,
    ) -> list[ProgramCacheEntry]:
        """Removes what any of the limits says, and returns it. max_bytes: what is to be left at most; max_age,
        max_unused: seconds since an entry was stored and last used. dry_run: removes nothing."""
    def export_archive(
        self, path: _Path, *, keys: Any = None, allow_unsigned: bool = False, only: Iterable[str] = ()
    ) -> int:
        """Writes the entries, or those whose keys are in `only`, into one signed archive (a tar file), and returns how
        many. keys: a cucore.stores.KeyRing; None is the file that $CUCORE_CACHE_KEYS names."""
    def import_archive(
        self, path: _Path, *, keys: Any = None, allow_unsigned: bool = False, only: Iterable[str] = ()
    ) -> ArchiveImport:
        """Takes in the entries of an archive that are signed with one of the keys, and returns counts: imported,
        already_there, and the reasons of those rejected by their keys. Raises ValueError for a file that is cut."""
    def __init__(
        self,
        path: _Path | None = None,
        *,
        max_bytes: int = 1 << 30,
        lock_wait: float = 60.0,
        shared: bool = False,
        store: Any = None,
    ) -> None: ...

@dataclass(repr=False)
class ProgramOptions:
    """How ``Program`` compiles. None always means: say nothing to the compiler, so that its own default holds.

    Each field is the compiler's option of the same name, or cucore's own (the last three). ``arch`` may be a list of
    several: they make one object (a fatbin) with an image for each. Options that the compiler of the source, or its
    version, does not have are refused when the Program is made, all in one error; values that it does not have, when
    it compiles, as the compiler's error.

    The fields of ProgramOptions:

    name: Name of the program: the file name in messages, and the name of the ObjectCode. A directory part is where
        quoted includes are looked for first; without one that is the current directory (see no_source_include). Empty =
        the default.
    arch: "sm_90", "sm_90a", "sm_100f", or "compute_90" (PTX only). Not set: the architecture of the current device,
        found when compiling; with no device that is an error then, not here.
    relocatable_device_code: code may refer to symbols of other objects
    extensible_whole_program: --extensible-whole-program
    debug: --device-debug (PTX: -g)
    lineinfo: --generate-line-info (PTX: -lineinfo)
    device_code_optimize: --dopt=on, only useful with debug (PTX: -O3)
    ptxas_options: one --ptxas-options= each (PTX: -Xptxas=)
    max_register_count: --maxrregcount=
    ftz: flush denormals to zero
    prec_sqrt: IEEE square root
    prec_div: IEEE division
    fma: contract a*b+c
    use_fast_math: --use_fast_math (PTX: the four above, where they are not set)
    extra_device_vectorization: vectorize more
    link_time_optimization: --dlink-time-opt; added by itself for target "ltoir", and left out for others, which it
        would leave empty
    gen_opt_lto: --gen-opt-lto
    define_macro: "NAME" or "NAME=VALUE" each
    undefine_macro: names of macros, undefined before the source
    include_path: folders, searched in this order
    use_bundled_headers: The headers of CUDA that NVRTC carries instead of an installed toolkit's; NVRTC writes them
        once into nvrtc-headers-VERSION in the folder of a default ProgramCache (NVRTC 13.3 or newer).
    pre_include: headers included before the source
    no_source_include: do not search the program's own (or the current) directory
    std: "c++03", "c++11", "c++14", "c++17", "c++20"
    builtin_move_forward: std::move and std::forward are built in
    builtin_initializer_list: std::initializer_list is built in
    disable_warnings: no warnings at all
    restrict: all kernel pointers are restrict
    device_as_default_execution_space: what is not marked is __device__
    device_int128: __int128 in device code
    optimization_info: "inline": remarks on what is inlined
    no_display_error_number: messages without their numbers
    diag_error: diagnostics to make errors
    diag_suppress: diagnostics to silence
    diag_warn: diagnostics to make warnings
    brief_diagnostics: messages without the source's line
    time: C++ source: CSV file to append compile times to; True does nothing. PTX source: times in the log.
    split_compile: threads, 0 = one per CPU
    fdevice_syntax_only: check only: the result has no code in it (PTX: nothing)
    minimal: fewer things built into the language, to compile faster
    no_cache: the compiler's and linker's own cache, not ProgramCache (NVRTC 12.9 or newer)
    fdevice_time_trace: JSON file for a trace of the compile
    device_float128: __float128 in device code; needs sm_100 or newer
    frandom_seed: what names that must be unique are made from
    ofast_compile: "0", "min", "mid" or "max"
    pch: automatic precompiled headers (NVRTC 12.8 or newer)
    create_pch: file to write (NVRTC 12.8 or newer)
    use_pch: file to read (NVRTC 12.8 or newer)
    pch_dir: folder of precompiled headers (NVRTC 12.8 or newer)
    pch_verbose: say why a precompiled header is not used (NVRTC 12.8 or newer)
    pch_messages: say when one is made or used (NVRTC 12.8 or newer)
    instantiate_templates_in_pch: instantiate templates before a precompiled header is written (NVRTC 12.8 or newer)
    extra_sources: (name, source) of further modules; NVVM source only
    use_libdevice: NVVM source: link with libdevice (C++ always has it)
    numba_debug: debug information for Numba (PTX: nothing) (NVRTC 13.2 or newer)
    headers: (name, text) to include; no file is needed
    toolkit_headers: False: do not add the toolkit's own include folders
    embed_ptx: False: leave the PTX out of a cubin
    """

    name: str | None = "default_program"
    arch: str | Sequence[str] | None = None
    relocatable_device_code: bool | None = None
    extensible_whole_program: bool | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    device_code_optimize: bool | None = None
    ptxas_options: str | Sequence[str] | None = None
    max_register_count: int | None = None
    ftz: bool | None = None
    prec_sqrt: bool | None = None
    prec_div: bool | None = None
    fma: bool | None = None
    use_fast_math: bool | None = None
    extra_device_vectorization: bool | None = None
    link_time_optimization: bool | None = None
    gen_opt_lto: bool | None = None
    define_macro: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None
    undefine_macro: str | Sequence[str] | None = None
    include_path: str | Sequence[str] | None = None
    use_bundled_headers: bool | None = None
    pre_include: str | Sequence[str] | None = None
    no_source_include: bool | None = None
    std: str | None = None
    builtin_move_forward: bool | None = None
    builtin_initializer_list: bool | None = None
    disable_warnings: bool | None = None
    restrict: bool | None = None
    device_as_default_execution_space: bool | None = None
    device_int128: bool | None = None
    optimization_info: str | None = None
    no_display_error_number: bool | None = None
    diag_error: int | Sequence[int] | None = None
    diag_suppress: int | Sequence[int] | None = None
    diag_warn: int | Sequence[int] | None = None
    brief_diagnostics: bool | None = None
    time: str | PathLike[str] | bool | None = None
    split_compile: int | None = None
    fdevice_syntax_only: bool | None = None
    minimal: bool | None = None
    no_cache: bool | None = None
    fdevice_time_trace: str | PathLike[str] | None = None
    device_float128: bool | None = None
    frandom_seed: str | None = None
    ofast_compile: str | None = None
    pch: bool | None = None
    create_pch: str | PathLike[str] | None = None
    use_pch: str | PathLike[str] | None = None
    pch_dir: str | PathLike[str] | None = None
    pch_verbose: bool | None = None
    pch_messages: bool | None = None
    instantiate_templates_in_pch: bool | None = None
    extra_sources: Sequence[tuple[str, str | bytes | bytearray]] | None = None
    use_libdevice: bool | None = None
    numba_debug: bool | None = None
    headers: Mapping[str, str] | None = None
    toolkit_headers: bool | None = None
    embed_ptx: bool | None = None
    def snapshot(self) -> ProgramOptions:
        """A copy that shares no sequences with the original."""
    def as_bytes(self, backend: CompilerBackendType | str, target_type: str | None = None) -> list[bytes]:
        """The flags that ``backend`` ("nvrtc" or "nvvm") is given for these options and ``target_type``."""

class SMResource:
    """Multiprocessors (SMs) of a device, to be divided among green contexts."""
    @property
    def handle(self) -> int:
        """The address of the driver's description (CUdevResource), valid as long as this object lives."""
    @property
    def sm_count(self) -> int:
        """How many SMs there are."""
    @property
    def min_partition_size(self) -> int:
        """The smallest group a split can give."""
    @property
    def coscheduled_alignment(self) -> int:
        """Groups are multiples of this many."""
    @property
    def flags(self) -> int:
        """The driver's flags of the resource."""
    @property
    def device(self) -> Device:
        """The Device whose SMs they are."""
    @property
    def is_dry_run(self) -> bool:
        """Whether no context can be made of it."""
    def split(
        self, options: SMResourceOptions | dict[str, Any], *, dry_run: bool = False
    ) -> tuple[list[SMResource], SMResource]:
        """(groups, remainder): divides the SMs as SMResourceOptions say. With `dry_run` the counts are the same, but no
        context can be made of the result."""
    def split_fractions(self, *fractions: float, dry_run: bool = False) -> tuple[list[SMResource], SMResource]:
        """(groups, remainder): groups of these fractions of the SMs, each rounded down to what a split can give."""
    def split_evenly(self, groups: int, *, dry_run: bool = False) -> tuple[list[SMResource], SMResource]:
        """(groups, remainder): that many groups of one size, as large as can be."""

@dataclass(slots=True)
class SMResourceOptions:
    """How ``SMResource.split`` divides.

    ``count`` decides how many groups there are: a sequence has one entry for each, an int or None means one group. The
    other fields are one value for all groups or a sequence as long as ``count``.

    count: SMs of a group; None lets the driver choose.
    coscheduled_sm_count: SMs of a group that lie together, for clusters; needs a driver of CUDA 13.1.
    preferred_coscheduled_sm_count: the same, but only as far as possible.
    backfill: fill a group up with SMs that do not lie together.
    """

    count: int | Sequence[int] | None = None
    coscheduled_sm_count: int | Sequence[int] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int] | None = None
    backfill: bool | Sequence[bool] = False

class SharedEvent:
    """An IPC-enabled event that can be pickled: what comes back, in another process, has the event and its device.

    ``SharedEvent(event)`` in the process that recorded it; there, or where it is unpickled, ``shared.event`` is the
    Event (opened at first use, on its own device, whichever is current) and ``shared.device`` its Device.
    """
    @property
    def device(self) -> Device:
        """The Device of the event, in this process."""
    @property
    def event(self) -> Event:
        """The Event."""
    def __init__(self, event: Event) -> None: ...

class Stream:
    """A queue of work on a device, executed in order. Device.create_stream() makes one."""
    def record(
        self,
        event: Event | None = None,
        options: EventOptions | dict[str, Any] | None = None,
        *,
        external: bool = False,
    ) -> Event:
        """Records `event` after the work submitted so far and returns it; without one, makes it from `options`. With
        `external`, in a stream that is being captured, the graph records it each time it runs."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def is_nonblocking(self) -> bool:
        """Whether it does not synchronize with the legacy default stream."""
    @property
    def priority(self) -> int:
        """Its priority; a lower number is more urgent."""
    @property
    def context(self) -> Context:
        """The stream's Context; of the default streams, the current one."""
    @property
    def resources(self) -> DeviceResources:
        """What the stream's context was provisioned with: all of the device unless that is a green one."""
    @staticmethod
    def from_handle(handle: int) -> Stream:
        """Wraps the address of a stream that other code owns. Nothing is checked or destroyed."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUstream); 0 when closed."""
    @property
    def is_done(self) -> bool:
        """Whether everything submitted so far has completed."""
    @property
    def device(self) -> Device:
        """The Device of the calling thread that the stream is on."""
    def sync(self, timeout: float | timedelta | None = None) -> None:
        """Waits until everything submitted so far has completed. With a `timeout` (seconds or a timedelta): for at most
        that long, then TimeoutError; Ctrl-C ends such a wait."""
    @property
    def id(self) -> int:
        """The driver's number of the stream, unique in the process."""
    @property
    def is_capturing(self) -> bool:
        """Whether work submitted now is recorded into a graph."""
    def timer(self) -> Timer:
        """A Timer of work on this stream: `with stream.timer() as t: ...`, then `t.ms`."""
    def wait(self, event_or_stream: Event | IsStreamType, *more: Event | IsStreamType, external: bool = False) -> None:
        """Later work here waits for an event's last record, or for the work submitted to another stream so far; for
        each of several."""
    def close(self) -> None:
        """Drops the stream; one that cucore made is destroyed when its pending work is done."""
    def create_graph_builder(self) -> graph.GraphBuilder:
        """A GraphBuilder that captures on this stream."""
    def callback(self, function: Callable[[], Any]) -> None:
        """Calls `function()` on a thread of the driver when the work submitted so far has completed; later work here
        waits for it to return. It must not call CUDA; what it raises goes to sys.unraisablehook. It is not called if
        that work failed."""
    def wait_value(self, address: Buffer | int, value: int, condition: str = ">=", *, bits: int = 32) -> None:
        """Later work here waits until the value in device memory at `address` (a Buffer or an int) is as `condition`
        says: '>=' (their difference, with a sign, is not negative), '==', '&' (a bit in common) or 'nor' (a bit set in
        neither). The host does not wait."""
    def write_value(self, address: Buffer | int, value: int, *, bits: int = 32) -> None:
        """Writes a value to device memory when the work submitted so far has completed."""
    sync_policy: str
    """How a thread that waits for the stream waits: 'auto', 'spin', 'yield' or 'blocking_sync'."""
    mem_sync_domain: str
    """'default' or 'remote': whose writes the memory fences of its kernels wait for."""
    name: str | None
    """A name for people and tools, shown in its repr; None at first."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def __await__(self) -> Generator[Any]: ...
    def __cuda_stream__(self) -> tuple[int, int]: ...

@dataclass(slots=True)
class StreamOptions:
    """How ``Device.create_stream`` makes a stream.

    nonblocking: do not synchronize with the legacy default stream.
    priority: lower numbers are more urgent; None is the least urgent.
    """

    nonblocking: bool = True
    priority: int | None = None

class StridedLayout:
    """Where the elements of a tensor lie: shape, strides, element size and slice offset."""
    @property
    def ndim(self) -> int:
        """How many axes there are."""
    @property
    def shape(self) -> tuple[int, ...]:
        """How many elements along each axis."""
    @property
    def strides(self) -> tuple[int, ...] | None:
        """In elements; None for C order that was not spelt out."""
    @property
    def strides_in_bytes(self) -> tuple[int, ...] | None:
        """The same in bytes."""
    @property
    def stride_order(self) -> tuple[int, ...]:
        """The axes from the outermost to the innermost."""
    @property
    def volume(self) -> int:
        """How many elements there are."""
    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
    @property
    def slice_offset(self) -> int:
        """Where the first element is, in elements from the base address."""
    @property
    def slice_offset_in_bytes(self) -> int:
        """The same in bytes."""
    @property
    def is_contiguous_c(self) -> bool:
        """Whether the elements lie one after another in C order."""
    @property
    def is_contiguous_f(self) -> bool:
        """Whether they do in Fortran order."""
    @property
    def is_contiguous_any(self) -> bool:
        """Whether they do in some order of the axes."""
    @property
    def is_dense(self) -> bool:
        """Whether that is so, from the base address on."""
    @property
    def is_unique(self) -> bool:
        """Whether no two elements share an address, as far as can be told."""
    @property
    def offset_bounds(self) -> tuple[int, int]:
        """The first and the last element, from the base address."""
    @property
    def min_offset(self) -> int:
        """The first element, from the base address."""
    @property
    def max_offset(self) -> int:
        """The last element, from the base address."""
    def required_size_in_bytes(self) -> int:
        """Bytes that memory for it must have."""
    @staticmethod
    def dense(shape: Sequence[int], itemsize: int, stride_order: str | Sequence[int] = "C") -> StridedLayout:
        """Without gaps, its axes in the order "C", "F", or as listed from the outermost to the innermost."""
    @staticmethod
    def dense_like(other: StridedLayout, stride_order: str | Sequence[int] = "K") -> StridedLayout:
        """Without gaps, of the same shape; "K" keeps the order of the axes."""
    def to_dense(self, stride_order: str | Sequence[int] = "K") -> StridedLayout:
        """No gaps and no offset; itself if that is so already."""
    def reshaped(self, shape: Sequence[int]) -> StridedLayout:
        """The same elements in another shape; one extent may be -1."""
    def permuted(self, axes: Sequence[int]) -> StridedLayout:
        """Its axes in another order."""
    def squeezed(self) -> StridedLayout:
        """Without the axes of extent 1."""
    def unsqueezed(self, axis: int | Sequence[int]) -> StridedLayout:
        """With axes of extent 1 at these places."""
    def flattened(self, start_axis: int = 0, end_axis: int = -1, mask: int | None = None) -> StridedLayout:
        """Axes from `start_axis` to `end_axis` that can be one, as one; `mask` is as flattened_axis_mask() gives it."""
    def flattened_axis_mask(self) -> int:
        """Bit i: axis i continues axis i - 1. What two layouts have in common is the `and` of both."""
    def broadcast_to(self, shape: Sequence[int]) -> StridedLayout:
        """Repeated along axes of extent 1, and new ones, to this shape."""
    def repacked(self, itemsize: int, data_ptr: int = 0, axis: int = -1, keep_dim: bool = True) -> StridedLayout:
        """Elements of another size along an axis of stride 1."""
    def max_compatible_itemsize(self, max_itemsize: int = 16, data_ptr: int = 0, axis: int = -1) -> int:
        """The largest element size up to `max_itemsize` that repacked() takes."""
    def sliced(self, slices: int | slice | tuple[int | slice, ...]) -> StridedLayout:
        """A part, as layout[slices]."""
    def __init__(
        self, shape: Sequence[int], strides: Sequence[int] | None, itemsize: int, divide_strides: bool = False
    ) -> None: ...
    def __getitem__(self, slices: int | slice | tuple[int | slice, ...]) -> StridedLayout: ...

class TensorMapDataType(IntEnum):
    """What an element is. ``_FTZ`` reads subnormal numbers as 0."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12

class TensorMapDescriptor:
    """How kernels copy boxes of a tensor (TMA, compute capability 9.0): 128 bytes, an argument of a launch.

    Made by ``StridedMemoryView.as_tensor_map()``, or by ``tiled()`` and ``im2col()``. Its kernel takes it as
    ``const __grid_constant__ CUtensorMap``. It keeps the view, and so the memory.
    """
    @classmethod
    def tiled(
        cls,
        view: StridedMemoryView,
        box_dim: tuple[int, ...] | None = None,
        *,
        options: TensorMapDescriptorOptions | dict[str, Any] | None = None,
        **choices: Any,
    ) -> TensorMapDescriptor:
        """Boxes of ``box_dim`` elements of the view; ``choices`` as TensorMapDescriptorOptions has them, which are an
        alternative to all of them.

        TypeError: both, neither, or a wrong enumeration. ValueError: memory, type, alignment, strides or box that a map
        cannot have. CUDAError: what else the driver refuses (cuTensorMapEncodeTiled).
        """
    @classmethod
    def im2col(
        cls,
        view: StridedMemoryView,
        pixel_box_lower_corner: tuple[int, ...],
        pixel_box_upper_corner: tuple[int, ...],
        channels_per_pixel: int,
        pixels_per_column: int,
        **choices: Any,
    ) -> TensorMapDescriptor:
        """Columns of pixels for convolutions, of a view with 3 to 5 axes; corners have an entry for each axis but the
        first and the last. Raises as tiled() does (cuTensorMapEncodeIm2col)."""
    @property
    def device(self) -> Device:
        """The device that was current when it was made."""
    def replace_address(self, tensor: object) -> None:
        """The same geometry over the memory of another view, or of what can be viewed.

        RuntimeError: another device is current than when it was made. ValueError: the memory is of no device or of
        another, or not aligned to 16 bytes. Nothing has changed then.
        """

@dataclass
class TensorMapDescriptorOptions:
    """What a tiled map copies, for ``StridedMemoryView.as_tensor_map(options=...)``.

    box_dim: elements of a box along each axis, 1 to 256, in the order of the view's shape.
    element_strides: 1 to 8 for each axis: read every n-th element. Default: all.
    data_type: a NumPy dtype, or a TensorMapDataType. Default: the view's dtype. Where the view is of single bytes, as
        that of a Buffer is, its shape and strides count elements of this type.
    """

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: object = None
    interleave: TensorMapInterleave = ...
    swizzle: TensorMapSwizzle = ...
    l2_promotion: TensorMapL2Promotion = ...
    oob_fill: TensorMapOOBFill = ...

class TensorMapInterleave(IntEnum):
    """Whether channels lie in slices of 16 or 32 bytes."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2

class TensorMapL2Promotion(IntEnum):
    """How much of a line the L2 cache fetches at once."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3

class TensorMapOOBFill(IntEnum):
    """What elements outside the tensor read as: zeros, or a NaN that fused multiplications treat as 0."""

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1

class TensorMapSwizzle(IntEnum):
    """The length of the lines in which 16-byte chunks are permuted in shared memory, to avoid bank conflicts."""

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3

class Timer:
    """Times what is submitted to a stream: as a context manager, as a decorator, with and without asyncio.

    ::

        with stream.timer() as timer:
            launch(stream, config, kernel, *args)
        timer.ms                      # waits for the end, the first time it is read


        async with stream.timer() as timer:
            launch(stream, config, kernel, *args)
        await timer                   # the same number, without blocking the event loop

        @timer                        # every call is timed; timer.times has them all
        def step(): ...

    Entering records an event, leaving records another; neither waits. The events come from the device's pool and go
    back when their time is read. A timer may be entered again and again, but not while it is entered. An exception in
    the block passes on; what was submitted until then is timed. One thread at a time.
    """
    @property
    def ms(self) -> float:
        """Milliseconds of the last run; waits for its end."""
    @property
    def times(self) -> list[float]:
        """Milliseconds of every run, in order, as a list; waits for the end of the last."""
    @property
    def is_done(self) -> bool:
        """Whether the last run has completed, so that reading its time does not wait."""
    def __init__(self, stream: Stream) -> None: ...
    def __enter__(self) -> Timer: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    async def __aenter__(self) -> Timer: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def __call__(self, function: _Function) -> _Function: ...
    def __await__(self) -> Generator[Any, None, float]: ...

@dataclass
class VirtualMemoryResourceOptions:
    """How ``VirtualMemoryResource`` allocates.

    allocation_type: "pinned" or "managed".
    location_type: "device"; "host"; "host_numa": the node numa_id, or None for that of the device; "host_numa_current":
        that of the thread that makes the resource.
    handle_type: how the memory can be given to other processes: "posix_fd", "win32_kmt", "fabric" or None. Memory of
        location_type "host" cannot be.
    granularity: sizes round up to the "minimum" or the "recommended" one.
    gpu_direct_rdma: the memory can be reached by GPUDirect RDMA.
    addr_hint: where the addresses are to be, if they are free.
    addr_align: what the address is a multiple of; None: the granularity.
    peers: further devices that access the memory: Devices or ordinals.
    self_access, peer_access: what the memory's own location, and the peers, may do: "rw", "r" or None for nothing.
    """

    allocation_type: str = ...
    location_type: str = ...
    handle_type: str | None = ...
    granularity: str = ...
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Sequence[Device | int] = ()
    self_access: str | None = ...
    peer_access: str | None = ...
    numa_id: int | None = None

class WorkqueueResource:
    """How work reaches the device from a context."""
    @property
    def handle(self) -> int:
        """The address of the driver's description (CUdevResource), valid as long as this object lives."""
    @property
    def sharing_scope(self) -> WorkqueueSharingScopeType:
        """Which contexts the queues may be shared between."""
    @property
    def concurrency_limit(self) -> int:
        """How many streams can have work in flight at once; at first the most the driver has."""
    @property
    def device(self) -> Device:
        """The Device it belongs to."""
    def configure(self, options: WorkqueueResourceOptions | dict[str, Any]) -> None:
        """Changes this object as WorkqueueResourceOptions say, and so the contexts that are made of it later."""

@dataclass
class WorkqueueResourceOptions:
    """What ``WorkqueueResource.configure`` changes; None leaves it as it is.

    sharing_scope: a WorkqueueSharingScopeType or its value.
    concurrency_limit: how many streams can have work in flight at once; at least 1.
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

class ComputeCapability(NamedTuple):
    major: int
    minor: int

class MemoryInfo(NamedTuple):
    free: int
    total: int

class PriorityRange(NamedTuple):
    lowest: int
    highest: int

class ParamInfo(NamedTuple):
    offset: int
    size: int

class MaxPotentialBlockSizeOccupancyResult(NamedTuple):
    min_grid_size: int
    max_block_size: int

class KernelSignature(tuple[KernelParameter, ...]):
    """A kernel's parameters, in order: a tuple of KernelParameter that prints as a C++ parameter list."""

class DriverInfo(NamedTuple):
    kind: str
    path: str
    version: int
    chosen_by: str

class ToolkitLibrary(NamedTuple):
    available: bool
    path: str
    version: tuple[int, int]
    build: str
    found_by: str
    why_not: str

class ToolkitInfo(NamedTuple):
    nvrtc: ToolkitLibrary
    nvjitlink: ToolkitLibrary
    include_paths: list[str]
    nvvm: ToolkitLibrary
    libdevice: str

class KernelStatistics(NamedTuple):
    kernel: str
    arch: str
    registers: int
    barriers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int
    constant_bytes: int
    local_bytes: int

class Diagnostic(NamedTuple):
    file: str
    line: int
    column: int
    severity: str
    number: int
    text: str
    context: str

class DeviceProperties:
    """The device's attributes by the driver's names, in lower case."""
    @property
    def max_threads_per_block(self) -> int:
        """Most threads of a block."""
    @property
    def max_block_dim_x(self) -> int:
        """Most threads of a block in x."""
    @property
    def max_block_dim_y(self) -> int:
        """Most threads of a block in y."""
    @property
    def max_block_dim_z(self) -> int:
        """Most threads of a block in z."""
    @property
    def max_grid_dim_x(self) -> int:
        """Most blocks of a grid in x."""
    @property
    def max_grid_dim_y(self) -> int:
        """Most blocks of a grid in y."""
    @property
    def max_grid_dim_z(self) -> int:
        """Most blocks of a grid in z."""
    @property
    def max_shared_memory_per_block(self) -> int:
        """Most shared memory of a block, in bytes, unless its kernel opts in to more."""
    @property
    def total_constant_memory(self) -> int:
        """Memory for __constant__ variables, in bytes."""
    @property
    def warp_size(self) -> int:
        """Threads of a warp."""
    @property
    def max_pitch(self) -> int:
        """Largest pitch of a copy, in bytes."""
    @property
    def max_registers_per_block(self) -> int:
        """Most registers of 32 bits of a block."""
    @property
    def clock_rate(self) -> int:
        """Highest clock of the multiprocessors, in kHz."""
    @property
    def texture_alignment(self) -> int:
        """What addresses of textures are multiples of, in bytes."""
    @property
    def gpu_overlap(self) -> bool:
        """Whether it can copy while a kernel runs; async_engine_count says more."""
    @property
    def multiprocessor_count(self) -> int:
        """Multiprocessors (SMs)."""
    @property
    def kernel_exec_timeout(self) -> bool:
        """Whether kernels may run for a limited time only."""
    @property
    def integrated(self) -> bool:
        """Whether it shares its memory with the host."""
    @property
    def can_map_host_memory(self) -> bool:
        """Whether host memory can be mapped into its addresses."""
    @property
    def compute_mode(self) -> int:
        """Who may make contexts, a CUcomputemode: 0 everybody, 2 nobody, 3 one process."""
    @property
    def maximum_texture1d_width(self) -> int:
        """Largest width of a 1D texture."""
    @property
    def maximum_texture2d_width(self) -> int:
        """Largest width of a 2D texture."""
    @property
    def maximum_texture2d_height(self) -> int:
        """Largest height of a 2D texture."""
    @property
    def maximum_texture3d_width(self) -> int:
        """Largest width of a 3D texture."""
    @property
    def maximum_texture3d_height(self) -> int:
        """Largest height of a 3D texture."""
    @property
    def maximum_texture3d_depth(self) -> int:
        """Largest depth of a 3D texture."""
    @property
    def maximum_texture2d_layered_width(self) -> int:
        """Largest width of a layered 2D texture."""
    @property
    def maximum_texture2d_layered_height(self) -> int:
        """Largest height of a layered 2D texture."""
    @property
    def maximum_texture2d_layered_layers(self) -> int:
        """Most layers of a layered 2D texture."""
    @property
    def surface_alignment(self) -> int:
        """What addresses of surfaces are multiples of, in bytes."""
    @property
    def concurrent_kernels(self) -> bool:
        """Whether several kernels of one context can run at a time."""
    @property
    def ecc_enabled(self) -> bool:
        """Whether its memory corrects errors (ECC)."""
    @property
    def pci_bus_id(self) -> int:
        """Number of its PCI bus."""
    @property
    def pci_device_id(self) -> int:
        """Its number on the PCI bus."""
    @property
    def tcc_driver(self) -> bool:
        """Whether its driver is one for computing alone (TCC, on Windows)."""
    @property
    def memory_clock_rate(self) -> int:
        """Highest clock of its memory, in kHz."""
    @property
    def global_memory_bus_width(self) -> int:
        """Width of the way to its memory, in bits."""
    @property
    def l2_cache_size(self) -> int:
        """L2 cache, in bytes."""
    @property
    def max_threads_per_multiprocessor(self) -> int:
        """Most threads that a multiprocessor holds."""
    @property
    def async_engine_count(self) -> int:
        """Copies that can run at a time, beside kernels."""
    @property
    def unified_addressing(self) -> bool:
        """Whether host and devices share one range of addresses."""
    @property
    def maximum_texture1d_layered_width(self) -> int:
        """Largest width of a layered 1D texture."""
    @property
    def maximum_texture1d_layered_layers(self) -> int:
        """Most layers of a layered 1D texture."""
    @property
    def can_tex2d_gather(self) -> bool:
        """Whether a fetch can gather four texels of a 2D texture (tex2Dgather)."""
    @property
    def maximum_texture2d_gather_width(self) -> int:
        """Largest width of a 2D texture to gather from."""
    @property
    def maximum_texture2d_gather_height(self) -> int:
        """Largest height of a 2D texture to gather from."""
    @property
    def maximum_texture3d_width_alternate(self) -> int:
        """Largest width of a 3D texture under its other limits; 0: it has none."""
    @property
    def maximum_texture3d_height_alternate(self) -> int:
        """Largest height of a 3D texture under its other limits; 0: it has none."""
    @property
    def maximum_texture3d_depth_alternate(self) -> int:
        """Largest depth of a 3D texture under its other limits; 0: it has none."""
    @property
    def pci_domain_id(self) -> int:
        """Number of its PCI domain."""
    @property
    def texture_pitch_alignment(self) -> int:
        """What pitches of textures in linear memory are multiples of, in bytes."""
    @property
    def maximum_texturecubemap_width(self) -> int:
        """Largest width of a cube map's faces."""
    @property
    def maximum_texturecubemap_layered_width(self) -> int:
        """Largest width of the faces of a layered cube map."""
    @property
    def maximum_texturecubemap_layered_layers(self) -> int:
        """Most layers of a layered cube map."""
    @property
    def maximum_surface1d_width(self) -> int:
        """Largest width of a 1D surface."""
    @property
    def maximum_surface2d_width(self) -> int:
        """Largest width of a 2D surface."""
    @property
    def maximum_surface2d_height(self) -> int:
        """Largest height of a 2D surface."""
    @property
    def maximum_surface3d_width(self) -> int:
        """Largest width of a 3D surface."""
    @property
    def maximum_surface3d_height(self) -> int:
        """Largest height of a 3D surface."""
    @property
    def maximum_surface3d_depth(self) -> int:
        """Largest depth of a 3D surface."""
    @property
    def maximum_surface1d_layered_width(self) -> int:
        """Largest width of a layered 1D surface."""
    @property
    def maximum_surface1d_layered_layers(self) -> int:
        """Most layers of a layered 1D surface."""
    @property
    def maximum_surface2d_layered_width(self) -> int:
        """Largest width of a layered 2D surface."""
    @property
    def maximum_surface2d_layered_height(self) -> int:
        """Largest height of a layered 2D surface."""
    @property
    def maximum_surface2d_layered_layers(self) -> int:
        """Most layers of a layered 2D surface."""
    @property
    def maximum_surfacecubemap_width(self) -> int:
        """Largest width of the faces of a cube map surface."""
    @property
    def maximum_surfacecubemap_layered_width(self) -> int:
        """Largest width of the faces of a layered cube map surface."""
    @property
    def maximum_surfacecubemap_layered_layers(self) -> int:
        """Most layers of a layered cube map surface."""
    @property
    def maximum_texture1d_linear_width(self) -> int:
        """Largest width of a 1D texture in linear memory."""
    @property
    def maximum_texture2d_linear_width(self) -> int:
        """Largest width of a 2D texture in linear memory."""
    @property
    def maximum_texture2d_linear_height(self) -> int:
        """Largest height of a 2D texture in linear memory."""
    @property
    def maximum_texture2d_linear_pitch(self) -> int:
        """Largest pitch of a 2D texture in linear memory, in bytes."""
    @property
    def maximum_texture2d_mipmapped_width(self) -> int:
        """Largest width of a mipmapped 2D texture."""
    @property
    def maximum_texture2d_mipmapped_height(self) -> int:
        """Largest height of a mipmapped 2D texture."""
    @property
    def compute_capability_major(self) -> int:
        """Compute capability, first number."""
    @property
    def compute_capability_minor(self) -> int:
        """Compute capability, second number."""
    @property
    def maximum_texture1d_mipmapped_width(self) -> int:
        """Largest width of a mipmapped 1D texture."""
    @property
    def stream_priorities_supported(self) -> bool:
        """Whether streams have priorities."""
    @property
    def global_l1_cache_supported(self) -> bool:
        """Whether global memory can be cached in L1."""
    @property
    def local_l1_cache_supported(self) -> bool:
        """Whether local memory can be cached in L1."""
    @property
    def max_shared_memory_per_multiprocessor(self) -> int:
        """Most shared memory of a multiprocessor, in bytes."""
    @property
    def max_registers_per_multiprocessor(self) -> int:
        """Most registers of 32 bits of a multiprocessor."""
    @property
    def managed_memory(self) -> bool:
        """Whether it has managed memory."""
    @property
    def multi_gpu_board(self) -> bool:
        """Whether other GPUs are on its board."""
    @property
    def multi_gpu_board_group_id(self) -> int:
        """The same number for all GPUs of one board."""
    @property
    def host_native_atomic_supported(self) -> bool:
        """Whether atomics on host memory are the hardware's."""
    @property
    def single_to_double_precision_perf_ratio(self) -> int:
        """How many times as fast float is as double."""
    @property
    def pageable_memory_access(self) -> bool:
        """Whether kernels can access pageable host memory as it is."""
    @property
    def concurrent_managed_access(self) -> bool:
        """Whether the host may access managed memory while a kernel runs."""
    @property
    def compute_preemption_supported(self) -> bool:
        """Whether kernels can be interrupted for others."""
    @property
    def can_use_host_pointer_for_registered_mem(self) -> bool:
        """Whether registered host memory has one address for host and device."""
    @property
    def cooperative_launch(self) -> bool:
        """Whether it has cooperative launches."""
    @property
    def max_shared_memory_per_block_optin(self) -> int:
        """Most shared memory of a block, in bytes, where its kernel opts in to it."""
    @property
    def can_flush_remote_writes(self) -> bool:
        """Whether streams can flush writes of other devices to its memory."""
    @property
    def host_register_supported(self) -> bool:
        """Whether host memory can be registered."""
    @property
    def pageable_memory_access_uses_host_page_tables(self) -> bool:
        """Whether it reads the host's page tables for pageable memory."""
    @property
    def direct_managed_mem_access_from_host(self) -> bool:
        """Whether the host accesses managed memory on it without moving it."""
    @property
    def virtual_memory_management_supported(self) -> bool:
        """Whether it has virtual memory management (cuMemCreate, cuMemMap)."""
    @property
    def handle_type_posix_file_descriptor_supported(self) -> bool:
        """Whether its memory can be shared by file descriptor."""
    @property
    def handle_type_win32_handle_supported(self) -> bool:
        """Whether its memory can be shared by Windows NT handle."""
    @property
    def handle_type_win32_kmt_handle_supported(self) -> bool:
        """Whether its memory can be shared by Windows KMT handle."""
    @property
    def max_blocks_per_multiprocessor(self) -> int:
        """Most blocks that a multiprocessor holds."""
    @property
    def generic_compression_supported(self) -> bool:
        """Whether it has compressible memory."""
    @property
    def max_persisting_l2_cache_size(self) -> int:
        """Most L2 cache that can be set aside for persisting accesses, in bytes."""
    @property
    def max_access_policy_window_size(self) -> int:
        """Largest AccessPolicyWindow, in bytes."""
    @property
    def gpu_direct_rdma_with_cuda_vmm_supported(self) -> bool:
        """Whether memory of cuMemCreate can be for GPUDirect RDMA."""
    @property
    def reserved_shared_memory_per_block(self) -> int:
        """Shared memory of each block that the driver keeps for itself, in bytes."""
    @property
    def sparse_cuda_array_supported(self) -> bool:
        """Whether it has sparse arrays."""
    @property
    def read_only_host_register_supported(self) -> bool:
        """Whether host memory can be registered to be read only."""
    @property
    def timeline_semaphore_interop_supported(self) -> bool:
        """Whether external timeline semaphores can be used."""
    @property
    def memory_pools_supported(self) -> bool:
        """Whether it has stream-ordered memory pools."""
    @property
    def gpu_direct_rdma_supported(self) -> bool:
        """Whether it has GPUDirect RDMA."""
    @property
    def gpu_direct_rdma_flush_writes_options(self) -> int:
        """How GPUDirect RDMA writes can be flushed: bits of CUflushGPUDirectRDMAWritesOptions."""
    @property
    def gpu_direct_rdma_writes_ordering(self) -> int:
        """Who sees GPUDirect RDMA writes in order unflushed, a CUGPUDirectRDMAWritesOrdering."""
    @property
    def mempool_supported_handle_types(self) -> int:
        """How pools can be shared: bits of CUmemAllocationHandleType."""
    @property
    def cluster_launch(self) -> bool:
        """Whether it has launches in clusters."""
    @property
    def deferred_mapping_cuda_array_supported(self) -> bool:
        """Whether arrays can be made first and mapped later."""
    @property
    def can_use_64_bit_stream_mem_ops(self) -> bool:
        """Whether streams can write and wait for values of 64 bits."""
    @property
    def can_use_stream_wait_value_nor(self) -> bool:
        """Whether streams can wait until some bit is set in neither of two values."""
    @property
    def dma_buf_supported(self) -> bool:
        """Whether its memory can be exported as a dma-buf."""
    @property
    def ipc_event_supported(self) -> bool:
        """Whether it has events that processes share."""
    @property
    def mem_sync_domain_count(self) -> int:
        """Memory synchronization domains."""
    @property
    def tensor_map_access_supported(self) -> bool:
        """Whether kernels can copy by tensor maps (TMA)."""
    @property
    def handle_type_fabric_supported(self) -> bool:
        """Whether its memory can be shared by fabric handle."""
    @property
    def unified_function_pointers(self) -> bool:
        """Whether function pointers are the same on all devices."""
    @property
    def numa_config(self) -> int:
        """How it is a NUMA node, a CUdeviceNumaConfig: 0 not at all, 1 one."""
    @property
    def numa_id(self) -> int:
        """The NUMA node that its memory is."""
    @property
    def multicast_supported(self) -> bool:
        """Whether it has multicast objects."""
    @property
    def mps_enabled(self) -> bool:
        """Whether its contexts go through the Multi-Process Service."""
    @property
    def host_numa_id(self) -> int:
        """The NUMA node of the host that is nearest; -1 where none is known."""
    @property
    def d3d12_cig_supported(self) -> bool:
        """Whether contexts can share the graphics queue of Direct3D 12."""
    @property
    def mem_decompress_algorithm_mask(self) -> int:
        """What it can decompress: bits of CUmemDecompressAlgorithm."""
    @property
    def mem_decompress_maximum_length(self) -> int:
        """Most bytes of one decompression."""
    @property
    def vulkan_cig_supported(self) -> bool:
        """Whether contexts can share the graphics queue of Vulkan."""
    @property
    def gpu_pci_device_id(self) -> int:
        """PCI numbers of the device and its vendor, 16 bits each."""
    @property
    def gpu_pci_subsystem_id(self) -> int:
        """PCI numbers of the subsystem and its vendor, 16 bits each."""
    @property
    def host_numa_virtual_memory_management_supported(self) -> bool:
        """Whether virtual memory management can place memory on a NUMA node of the host."""
    @property
    def host_numa_memory_pools_supported(self) -> bool:
        """Whether pools can be on a NUMA node of the host."""
    @property
    def host_numa_multinode_ipc_supported(self) -> bool:
        """Whether memory on a NUMA node of the host can be shared between machines."""
    @property
    def host_memory_pools_supported(self) -> bool:
        """Whether pools can be on the host."""
    @property
    def host_virtual_memory_management_supported(self) -> bool:
        """Whether virtual memory management can place memory on the host."""
    @property
    def host_alloc_dma_buf_supported(self) -> bool:
        """Whether host memory of the driver's can be exported as a dma-buf."""
    @property
    def only_partial_host_native_atomic_supported(self) -> bool:
        """Whether only some atomics on host memory are the hardware's."""
    def __iter__(self) -> Iterator[str]: ...

class Limits:
    """What kernels may use of a context's resources: numbers that can be read and set, sizes in bytes.

    The driver may round up what is set. A limit that the device does not have is a CUDAError.
    """

    stack_size: int
    """The stack of each thread."""
    printf_fifo_size: int
    """What kernels may print between two synchronizations."""
    malloc_heap_size: int
    """The heap of malloc() in kernels."""
    dev_runtime_sync_depth: int
    """How many nested launches may wait."""
    dev_runtime_pending_launch_count: int
    """How many launches by kernels may wait for their turn."""
    max_l2_fetch_granularity: int
    """0 to 128; a hint."""
    persisting_l2_cache_size: int
    """L2 cache set aside for persisting accesses."""

class MemoryPoolAttributes:
    """State of a memory pool, asked for at each access."""
    @property
    def reuse_follow_event_dependencies(self) -> bool:
        """Whether memory freed on one stream is used again on another that waits for it."""
    @property
    def reuse_allow_opportunistic(self) -> bool:
        """Whether memory freed on one stream is used again on another once the free has completed."""
    @property
    def reuse_allow_internal_dependencies(self) -> bool:
        """Whether a stream may be made to wait for another so that memory can be used again."""
    @property
    def release_threshold(self) -> int:
        """Unused bytes that stay in the pool at a synchronization."""
    @property
    def reserved_mem_current(self) -> int:
        """Bytes that the pool has of the device now."""
    @property
    def reserved_mem_high(self) -> int:
        """The most bytes that it had of the device."""
    @property
    def used_mem_current(self) -> int:
        """Bytes that are allocated from the pool now."""
    @property
    def used_mem_high(self) -> int:
        """The most bytes that were allocated from it."""

class GraphMemoryResourceAttributes:
    """Memory that the graphs of a device hold, in bytes, asked for at each access."""
    @property
    def reserved_mem_current(self) -> int:
        """Taken from the system."""
    @property
    def used_mem_current(self) -> int:
        """Allocated by graphs."""
    reserved_mem_high: int
    """The most it was; assigning 0 lets it begin again."""
    used_mem_high: int
    """The most it was; assigning 0 lets it begin again."""

class KernelAttributes:
    """A kernel's attributes on the current device; attributes[device] is a view of another one."""
    @property
    def max_threads_per_block(self) -> int:
        """Most threads of a block that it can be launched with."""
    @property
    def shared_size_bytes(self) -> int:
        """Static shared memory of a block, in bytes."""
    @property
    def const_size_bytes(self) -> int:
        """Constant memory that it uses, in bytes."""
    @property
    def local_size_bytes(self) -> int:
        """Local memory of each thread, in bytes."""
    @property
    def num_regs(self) -> int:
        """Registers of each thread."""
    @property
    def ptx_version(self) -> int:
        """Of the virtual architecture it was compiled for: 10 x major + minor."""
    @property
    def binary_version(self) -> int:
        """Of the architecture it was compiled for: 10 x major + minor."""
    @property
    def cache_mode_ca(self) -> bool:
        """Whether it was compiled to cache global loads at all levels (-Xptxas --dlcm=ca)."""
    @property
    def cluster_size_must_be_set(self) -> bool:
        """Whether every launch must give a cluster."""
    max_dynamic_shared_size_bytes: int
    """Most dynamic shared memory of a launch, in bytes; launch() raises it where it must."""
    preferred_shared_memory_carveout: int
    """Percent of the L1 cache's memory to use as shared memory; -1: the driver's choice."""
    required_cluster_width: int
    """The cluster's x that every launch must have; 0: any."""
    required_cluster_height: int
    """The cluster's y that every launch must have; 0: any."""
    required_cluster_depth: int
    """The cluster's z that every launch must have; 0: any."""
    non_portable_cluster_size_allowed: bool
    """Whether clusters may have more than 8 blocks."""
    cluster_scheduling_policy_preference: int
    """How the blocks of a cluster are placed, a CUclusterSchedulingPolicy."""
    def __getitem__(self, device: Device | int) -> KernelAttributes: ...

class KernelOccupancy:
    """How a kernel fills a device: `device`, else the current one."""
    def max_active_blocks_per_multiprocessor(
        self, block_size: int, dynamic_shared_memory_size: int, *, device: Device | int | None = None
    ) -> int:
        """How many blocks of this size a multiprocessor holds at a time."""
    def max_potential_block_size(
        self,
        dynamic_shared_memory_needed: int | Callable[[int], int],
        block_size_limit: int,
        *,
        device: Device | int | None = None,
    ) -> MaxPotentialBlockSizeOccupancyResult:
        """(min_grid_size, max_block_size) for a number of bytes per block, or a function from the block size to it."""
    def available_dynamic_shared_memory_per_block(
        self, num_blocks_per_multiprocessor: int, block_size: int, *, device: Device | int | None = None
    ) -> int:
        """Bytes that each of so many blocks on a multiprocessor can have."""
    def max_potential_cluster_size(
        self, config: LaunchConfig, *, stream: Stream | graph.GraphBuilder, device: Device | int | None = None
    ) -> int:
        """The largest cluster that can be launched with `config`, whose own cluster does not count."""
    def max_active_clusters(
        self, config: LaunchConfig, *, stream: Stream | graph.GraphBuilder, device: Device | int | None = None
    ) -> int:
        """How many clusters of `config` can be resident at a time."""
    def plot(
        self,
        dynamic_shared_memory: int | Callable[[int], int] = 0,
        *,
        device: Device | int | None = None,
        axes: Any | None = None,
    ) -> Any:
        """Draws the occupancy for each size of block, by matplotlib, on `axes` or a figure of its own; returns the
        axes. `dynamic_shared_memory`: bytes of each block, or a function from the block's size to them."""

class ProgramCacheStats(NamedTuple):
    hits: int
    shared: int
    misses: int
    uncacheable: int
    bad_records: int
    stores: int
    store_failures: int
    evictions: int
    lock_timeouts: int
    store_hits: int

class ProgramCacheEntry(NamedTuple):
    key: str
    bytes: int
    stored: float
    used: float

class ArchiveImport(NamedTuple):
    imported: int
    already_there: int
    rejected: dict[str, str]

class CUDAInvalidArgumentError(CUDAError):
    """Arguments of a kernel that are missing, for which the driver would refuse the launch with ``code``."""

class CUDAInvalidContextError(CUDAError):
    """No context is current where one is needed, or it has been destroyed."""

class CUDAInvalidValueError(CUDAError):
    """A value that the driver would refuse with ``code``, said in words before it is asked."""

class CUDANotReadyError(CUDAError):
    """CUDA_ERROR_NOT_READY: what was asked about has not completed."""

class CUDAOutOfMemoryError(CUDAError):
    """CUDA_ERROR_OUT_OF_MEMORY: there is not enough memory on the device, or on the host, for what was asked."""

class CUDAStickyError(CUDAError):
    """The context is unusable now (``is_sticky``): every later call in it fails with this error."""

class DeviceMemoryResource(MemoryResource):
    """Device memory from a stream-ordered pool: the device's current one, or with options one of its own."""
    @property
    def is_handle_owned(self) -> bool:
        """False for the driver's own current pool."""
    @property
    def is_mapped(self) -> bool:
        """Whether it is imported from another process, which alone allocates from it; False when closed."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def attributes(self) -> MemoryPoolAttributes:
        """State of the pool, asked for at each access; what was taken before close() goes on answering."""
    @property
    def uuid(self) -> _UUID | None:
        """The name of a pool that processes share, a uuid.UUID; None for others."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUmemoryPool); 0 when closed."""
    def trim_to(self, min_bytes_to_keep: int) -> None:
        """Returns idle memory above that to the operating system."""
    def close(self) -> None:
        """Detaches from the pool; a pool of its own is destroyed after its last buffer."""
    peer_accessible_by: Any
    """Live set of the other devices whose kernels may read and write the pool's memory."""
    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """What other processes import the pool from: an IPCAllocationHandle, which the resource keeps."""
    def register(self: _Self, uuid: _UUID) -> _Self:
        """Makes the resource the one that pickles with this UUID mean in this process, as long as it lives. Returns it,
        or the one that is registered already."""
    @staticmethod
    def from_registry(uuid: _UUID) -> DeviceMemoryResource:
        """The resource that is registered under the UUID; RuntimeError if there is none."""
    @classmethod
    def from_allocation_handle(
        cls: type[_Self], device_id: Device | int, alloc_handle: IPCAllocationHandle | int
    ) -> _Self:
        """Imports a pool of another process from its IPCAllocationHandle, or from a file descriptor, which stays the
        caller's. `device_id`: the pool's device, in this process."""
    def __init__(
        self, device_id: Device | int, options: DeviceMemoryResourceOptions | dict[str, Any] | None = None
    ) -> None: ...

class GraphMemoryResource(MemoryResource):
    """Memory that a graph allocates each time it runs: for capturing streams only. One object for each device."""
    def trim(self) -> None:
        """Returns memory that no graph uses at the moment to the system."""
    @property
    def attributes(self) -> GraphMemoryResourceAttributes:
        """What the graphs of the device hold, asked for at each access."""
    def close(self) -> None:
        """Does nothing: there is nothing to give back."""
    def __new__(cls, device_id: Device | int) -> GraphMemoryResource: ...

class LegacyPinnedMemoryResource(MemoryResource):
    """Page-locked host memory, allocated and freed at once."""
    @property
    def device_id(self) -> int:
        """RuntimeError: it is of no device."""

class ManagedBuffer(Buffer):
    """A buffer of managed memory, with advice to the driver on how it will be used."""
    @staticmethod
    def from_handle(
        ptr: Any,
        size: int,
        mr: MemoryResource | None = None,
        owner: object | None = None,
        *,
        stream: Stream | None = None,
    ) -> ManagedBuffer:
        """Wraps managed memory that something else allocated, as Buffer.from_handle(); whether it is managed is asked
        at the first use."""
    read_mostly: bool
    """Whether it is mostly read, so that every reader may have a copy of its own."""
    preferred_location: Device | Host | None
    """Where it is preferably: a Device, a Host or None."""
    accessed_by: Any
    """The devices and the host that keep a mapping of it: a live set."""
    @property
    def last_prefetch_location(self) -> Device | Host | None:
        """Where it was prefetched to last, or None."""
    def prefetch(self, location: Device | Host, *, stream: Stream) -> None:
        """Brings it to a Device or a Host, in the order of `stream`."""
    def discard(self, *, stream: Stream) -> None:
        """Says that what is in it is not needed any more, so that nothing is moved for its sake."""
    def discard_prefetch(self, location: Device | Host, *, stream: Stream) -> None:
        """Discards what is in it and makes room at a Device or a Host."""

class ManagedMemoryResource(MemoryResource):
    """Memory that the host and every device can use at one address, from the driver's managed pool, with options from
    one of its own or (pooled=False) each buffer by itself."""
    @property
    def is_handle_owned(self) -> bool:
        """False for the driver's own current pool."""
    @property
    def is_mapped(self) -> bool:
        """Whether it is imported from another process, which alone allocates from it; False when closed."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def attributes(self) -> MemoryPoolAttributes:
        """State of the pool, asked for at each access; what was taken before close() goes on answering."""
    @property
    def uuid(self) -> _UUID | None:
        """The name of a pool that processes share, a uuid.UUID; None for others."""
    def allocate(self, size: int, *, stream: Stream | None = ...) -> ManagedBuffer:
        """Managed memory, usable in the order of `stream`, and freed in its order."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUmemoryPool); 0 when closed."""
    def trim_to(self, min_bytes_to_keep: int) -> None:
        """Returns idle memory above that to the operating system."""
    def close(self) -> None:
        """Detaches from the pool; a pool of its own is destroyed after its last buffer."""
    @property
    def preferred_location(self) -> tuple[str, int | None] | None:
        """Where its memory is preferably: None, or (type, id), with id None for the host."""
    @property
    def is_pooled(self) -> bool:
        """Whether buffers are from a pool."""
    def __init__(self, options: ManagedMemoryResourceOptions | dict[str, Any] | None = None) -> None: ...

class NVRTCError(CUDAError):
    """An NVRTC call failed; ``log`` is the compilation log."""

class NVVMError(CUDAError):
    """A libNVVM call failed; ``log`` is its program log."""

class NvJitLinkError(CUDAError):
    """An nvJitLink call failed; ``log`` is its error log."""

class PinnedMemoryResource(MemoryResource):
    """Page-locked host memory from a stream-ordered pool, which every visible device may use."""
    @property
    def is_handle_owned(self) -> bool:
        """False for the driver's own current pool."""
    @property
    def is_mapped(self) -> bool:
        """Whether it is imported from another process, which alone allocates from it; False when closed."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def attributes(self) -> MemoryPoolAttributes:
        """State of the pool, asked for at each access; what was taken before close() goes on answering."""
    @property
    def uuid(self) -> _UUID | None:
        """The name of a pool that processes share, a uuid.UUID; None for others."""
    @property
    def handle(self) -> int:
        """The driver's handle (CUmemoryPool); 0 when closed."""
    def trim_to(self, min_bytes_to_keep: int) -> None:
        """Returns idle memory above that to the operating system."""
    def close(self) -> None:
        """Detaches from the pool; a pool of its own is destroyed after its last buffer."""
    @property
    def numa_id(self) -> int:
        """The NUMA node it was made for, or -1."""
    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """What other processes import the pool from: an IPCAllocationHandle, which the resource keeps."""
    def register(self: _Self, uuid: _UUID) -> _Self:
        """Makes the resource the one that pickles with this UUID mean in this process, as long as it lives. Returns it,
        or the one that is registered already."""
    @staticmethod
    def from_registry(uuid: _UUID) -> PinnedMemoryResource:
        """The resource that is registered under the UUID; RuntimeError if there is none."""
    @classmethod
    def from_allocation_handle(cls: type[_Self], alloc_handle: IPCAllocationHandle | int) -> _Self:
        """Imports a pool of another process from its IPCAllocationHandle, or from a file descriptor, which stays the
        caller's."""
    def __init__(self, options: PinnedMemoryResourceOptions | dict[str, Any] | None = None) -> None: ...

class UnsupportedOptionError(CUDAError):
    """Options are set that the compiler, or its version, does not have; the message names all of them."""

class VirtualMemoryResource(MemoryResource):
    """Memory that is mapped piece by piece, so that its buffers can grow (modify_allocation)."""
    @property
    def device(self) -> Device:
        """The Device it was made for."""
    @property
    def config(self) -> VirtualMemoryResourceOptions:
        """The VirtualMemoryResourceOptions it was made with, or that modify_allocation was given since."""
    def modify_allocation(
        self, buf: Buffer, new_size: int, config: VirtualMemoryResourceOptions | dict[str, Any] | None = None
    ) -> Buffer:
        """Makes `buf` at least `new_size` bytes long and keeps what is in it. Returns a new Buffer, at the same address
        where there is room behind it, and closes `buf`. One that is as long already is returned as it is, with the
        access rights given anew. `config`, if given, is the resource's from now on."""
    def __init__(
        self, device_id: Device | int, config: VirtualMemoryResourceOptions | dict[str, Any] | None = None
    ) -> None: ...

nvJitLinkError = NvJitLinkError

nvvmError = NVVMError

class KernelParameter(NamedTuple):
    """One parameter of a kernel: its C++ (else PTX) type, what kind of value it takes, where it lies in the parameter
    block in bytes, and its name where hand-written PTX has one."""

    type: str | None
    kind: str
    offset: int
    size: int
    alignment: int
    name: str | None

def compile_all(
    programs: Iterable[Program | tuple[Program, Iterable[str | bytes]]],
    target_type: str = "cubin",
    *,
    workers: int | None = None,
    cache: ProgramCache | ProgramCacheResource | None = None,
    progress: bool | Callable[..., Any] = False,
) -> list[ObjectCode]:
    """Compiles many Programs in parallel; returns their ObjectCodes in the order of ``programs``.

    Args:
        programs: Programs, or pairs of a Program and its name expressions.
        target_type: what to make of each, as for ``Program.compile``.
        workers: how many compile at the same time; None: as many as the process has CPU cores.
        cache: as for ``Program.compile``.
        progress: True shows a bar on a terminal (tqdm's where that is installed, else a line); a class such as
            ``tqdm.notebook.tqdm`` is called with total, desc and unit, and told with ``update(1)`` and ``close()``.

    Every program is compiled, also when others fail; then CompileErrors has all errors. Ctrl-C, and any other exception
    that reaches the waiting thread, ends the compiles that run, as ``Program.cancel`` does, and starts no more.
    What is done is logged, at level DEBUG, by the logger ``cucore.compile``.
    """

def compile_cubin(
    code: str, options: ProgramOptions | dict[str, Any] | None = None, name_expressions: Iterable[str | bytes] = ()
) -> ObjectCode:
    """C++ source to a cubin in one call."""

def compile_ltoir(
    code: str, options: ProgramOptions | dict[str, Any] | None = None, name_expressions: Iterable[str | bytes] = ()
) -> ObjectCode:
    """C++ source to LTO-IR in one call."""

def compile_ptx(
    code: str, options: ProgramOptions | dict[str, Any] | None = None, name_expressions: Iterable[str | bytes] = ()
) -> ObjectCode:
    """C++ source to PTX in one call."""

def driver_available() -> bool:
    """Whether a driver can be used. Opens it; never raises."""

def driver_info() -> DriverInfo:
    """Opens the driver if that has not happened yet, and says which it is: kind ("gpu" or "cpu"), path, version,
    chosen_by."""

def launch(
    stream: Stream | IsStreamType, config: LaunchConfig | dict[str, Any], kernel: Kernel, *kernel_args: Any
) -> None:
    """Runs `kernel` on `stream` with `kernel_args`, and returns when the work is queued.

    Arguments are Buffers, Python numbers, NumPy, ml_dtypes and ctypes scalars, structures and pointers, arrays with
    __cuda_array_interface__ or DLPack (their address), objects with __kernel_argument__(), and None for a null pointer.
    They are checked against the kernel's parameters, `kernel.signature`: int, float, complex and bool take the
    parameter's type.

    Raises TypeError (number or type of arguments), OverflowError (a number out of its parameter's range), ValueError
    (the config is impossible, a Buffer is closed) before anything reaches the driver, and CUDAError (cuLaunchKernelEx
    refused), which names the limit exceeded. Any threads may launch one kernel with one config; changing a config while
    another thread launches with it needs exclusion on free-threaded Python.
    """

def toolkit_info() -> ToolkitInfo:
    """Finds and opens NVRTC, nvJitLink and libNVVM if that has not happened yet, and says what was found where."""
