"""The options of streams, events, memory resources and programs.

Whatever takes options takes an instance of its class, a dict of its keywords, or None for the defaults; ``accept`` is
that rule.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Union

from cucore import _seam

Flags = Union[str, Sequence[str]]
Macro = Union[str, tuple[str, str], Sequence[str | tuple[str, str]]]
Numbers = Union[int, Sequence[int]]


def accept(cls, options, what="options"):
    """``options`` as an instance of ``cls``: itself, made from a dict, or the defaults for None."""
    if options is None:
        return cls()
    if isinstance(options, cls):
        return options
    if isinstance(options, dict):
        return cls(**options)
    raise TypeError(f"{what} must be a {cls.__name__}, a dict of its fields or None, not {type(options).__name__}")


def member(enumeration, value, what):
    """``value``, a member of a string enumeration or the value of one, as the member. Raises ValueError."""
    try:
        return enumeration(value)
    except ValueError:
        legal = ", ".join(repr(one.value) for one in enumeration)
        raise ValueError(f"{what} {value!r} is no {enumeration.__name__}; it must be one of {legal}") from None


@dataclass
class StreamOptions:
    """How ``Device.create_stream`` makes a stream.

    nonblocking: do not synchronize with the legacy default stream.
    priority: lower numbers are more urgent; None is the least urgent.
    """

    nonblocking: bool = True
    priority: int | None = None


@dataclass
class EventOptions:
    """How ``Device.create_event`` and ``Stream.record`` make an event.

    timing_enabled: record a time, so that events can be subtracted.
    blocking_sync: ``sync()`` blocks the thread instead of spinning.
    ipc_enabled: the event can be sent to another process.
    """

    timing_enabled: bool = False
    blocking_sync: bool = False
    ipc_enabled: bool = False


@dataclass
class ContextOptions:
    """What ``Device.create_context`` makes a green context of.

    resources: SMResource and WorkqueueResource objects of the device.
    """

    resources: Sequence[Any]


@dataclass
class SMResourceOptions:
    """How ``SMResource.split`` divides.

    ``count`` decides how many groups there are: a sequence has one entry for each, an int or None means one group. The
    other fields are one value for all groups or a sequence as long as ``count``.

    count: SMs of a group; None lets the driver choose.
    coscheduled_sm_count: SMs of a group that lie together, for clusters; needs a driver of CUDA 13.1.
    preferred_coscheduled_sm_count: the same, where it can be had.
    backfill: fill a group up with SMs that do not lie together.
    """

    count: int | Sequence[int] | None = None
    coscheduled_sm_count: int | Sequence[int] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int] | None = None
    backfill: bool | Sequence[bool] = False


@dataclass
class WorkqueueResourceOptions:
    """What ``WorkqueueResource.configure`` changes; None leaves it as it is.

    sharing_scope: a WorkqueueSharingScopeType or its value.
    concurrency_limit: how many streams can have work in flight at once; at least 1.
    """

    sharing_scope: str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self):
        if self.sharing_scope is not None:
            from cucore.typing import WorkqueueSharingScopeType

            self.sharing_scope = member(WorkqueueSharingScopeType, self.sharing_scope, "sharing_scope")
        if self.concurrency_limit is not None:
            limit = operator.index(self.concurrency_limit)
            if limit < 1:
                raise ValueError(f"concurrency_limit must be at least 1, not {limit}")


@dataclass
class DeviceMemoryResourceOptions:
    """How ``DeviceMemoryResource`` makes a pool of its own.

    ipc_enabled: the pool can be shared with other processes.
    max_size: bytes the pool may grow to; 0 lets the driver decide.
    release_threshold: bytes the pool keeps when idle instead of giving them back at a synchronization; None keeps all.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    release_threshold: int | None = None


@dataclass
class ManagedMemoryResourceOptions:
    """How ``ManagedMemoryResource`` makes a pool of its own, or does without.

    preferred_location: where the memory rather is, as preferred_location_type says.
    preferred_location_type: "device": a device's ordinal; "host": None; "host_numa": a NUMA node, or None for that of
        the current device; None: a device's ordinal, -1 for the host, or None for no preference.
    pooled: False allocates each buffer by itself. Only such memory takes advice (ManagedBuffer.read_mostly and so on)
        on NVIDIA's drivers.
    release_threshold: bytes the pool keeps when idle; None keeps all.
    """

    preferred_location: int | None = None
    preferred_location_type: str | None = None
    pooled: bool = True
    release_threshold: int | None = None

    def __post_init__(self):
        if self.preferred_location_type is not None:
            from cucore.typing import ManagedMemoryLocationType

            self.preferred_location_type = member(
                ManagedMemoryLocationType, self.preferred_location_type, "preferred_location_type"
            )


@dataclass
class PinnedMemoryResourceOptions:
    """How ``PinnedMemoryResource`` makes a pool of its own.

    ipc_enabled: the pool can be shared with other processes. Drivers share only pools of a NUMA node.
    max_size: bytes the pool may grow to; 0 lets the driver decide.
    numa_id: the NUMA node to allocate on; None leaves it to the driver, or to ipc_enabled: that of the current device.
    release_threshold: bytes the pool keeps when idle; None keeps all.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None
    release_threshold: int | None = None

    def __post_init__(self):
        if self.numa_id is not None and self.numa_id < 0:
            raise ValueError(f"numa_id must be a NUMA node (0 or more) or None, not {self.numa_id}")


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
    self_access, peer_access: what the place of the memory, and the peers, may do: "rw", "r" or None for nothing.
    """

    allocation_type: str = "pinned"
    location_type: str = "device"
    handle_type: str | None = "posix_fd"
    granularity: str = "recommended"
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Sequence[Any] = ()
    self_access: str | None = "rw"
    peer_access: str | None = "rw"
    numa_id: int | None = None

    def __post_init__(self):
        from cucore import typing

        if self.handle_type == "win32":
            raise NotImplementedError("handle_type 'win32' needs security attributes, which are not supported")
        for name, enumeration in (
            ("allocation_type", typing.VirtualMemoryAllocationType),
            ("location_type", typing.VirtualMemoryLocationType),
            ("handle_type", typing.VirtualMemoryHandleType),
            ("granularity", typing.VirtualMemoryGranularityType),
            ("self_access", typing.VirtualMemoryAccessType),
            ("peer_access", typing.VirtualMemoryAccessType),
        ):
            value = getattr(self, name)
            if value is not None or name not in ("handle_type", "self_access", "peer_access"):
                setattr(self, name, member(enumeration, value, name))
        if self.numa_id is not None and self.location_type != "host_numa":
            raise ValueError(f"numa_id is for location_type 'host_numa', not {self.location_type.value!r}")

    def _location(self, device):
        """The Device or Host, for a resource of ``device``."""
        if self.location_type == "device":
            return device
        from cucore._host import Host

        if self.location_type == "host":
            return Host()
        if self.location_type == "host_numa_current":
            return Host.numa_current()
        node = device.properties.host_numa_id if self.numa_id is None else self.numa_id
        if node == -1 and self.numa_id is None:
            raise RuntimeError(f"the driver does not know the NUMA node of device {device.device_id}: give numa_id")
        return Host(node)


@dataclass(repr=False)
class ProgramOptions:
    """How ``Program`` compiles. None always means: say nothing to the compiler, so that its own default holds.

    Fields stand in the order of the compiler's documentation; each is the compiler's option of the same name. ``arch``
    is "sm_90", "sm_90a", "compute_80" and the like; None is the architecture of the current device, looked up when the
    program is compiled; a list of several makes one object (a fatbin) with an image for each. Options that the compiler
    of the source, or its version, does not have are refused when the Program is made, all in one error. ``time`` is a
    file for C++ source, and True (times in the log) for PTX source. The last three are cucore's own:
    ``headers`` (texts by the names that #include finds, no file needed), ``toolkit_headers`` (False: do not add the
    toolkit's include folders), ``embed_ptx`` (False: leave the PTX out of a cubin).
    """

    name: str | None = "default_program"
    arch: str | Sequence[str] | None = None
    relocatable_device_code: bool | None = None
    extensible_whole_program: bool | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    device_code_optimize: bool | None = None
    ptxas_options: Flags | None = None
    max_register_count: int | None = None
    ftz: bool | None = None
    prec_sqrt: bool | None = None
    prec_div: bool | None = None
    fma: bool | None = None
    use_fast_math: bool | None = None
    extra_device_vectorization: bool | None = None
    link_time_optimization: bool | None = None
    gen_opt_lto: bool | None = None
    define_macro: Macro | None = None
    undefine_macro: Flags | None = None
    include_path: Flags | None = None
    use_bundled_headers: bool | None = None
    pre_include: Flags | None = None
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
    diag_error: Numbers | None = None
    diag_suppress: Numbers | None = None
    diag_warn: Numbers | None = None
    brief_diagnostics: bool | None = None
    time: str | PathLike | bool | None = None
    split_compile: int | None = None
    fdevice_syntax_only: bool | None = None
    minimal: bool | None = None
    no_cache: bool | None = None
    fdevice_time_trace: str | PathLike | None = None
    device_float128: bool | None = None
    frandom_seed: str | None = None
    ofast_compile: str | None = None
    pch: bool | None = None
    create_pch: str | None = None
    use_pch: str | None = None
    pch_dir: str | None = None
    pch_verbose: bool | None = None
    pch_messages: bool | None = None
    instantiate_templates_in_pch: bool | None = None
    extra_sources: Sequence[tuple[str, str | bytes | bytearray]] | None = None
    use_libdevice: bool | None = None
    numba_debug: bool | None = None
    headers: Mapping[str, str] | None = None
    toolkit_headers: bool | None = None
    embed_ptx: bool | None = None

    def __post_init__(self):
        if self.name is None:
            self.name = "default_program"
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a str, not {type(self.name).__name__}")
        _check_extra_sources(self.extra_sources)
        _seam.check_program_options(self)

    def __repr__(self):
        return f"ProgramOptions(name={self.name!r}, arch={self.arch!r})"

    def snapshot(self):
        """A copy whose sequences nobody else holds."""
        copy = object.__new__(ProgramOptions)
        fields = copy.__dict__
        fields.update(self.__dict__)
        for name in _CONTAINERS:
            value = fields[name]
            if value is not None and not isinstance(value, str):
                fields[name] = _copied(value)
        return copy

    def as_bytes(self, backend: Any, target_type: str | None = None) -> list:
        """The flags that ``backend`` ("nvrtc" or "nvvm") is given for these options and ``target_type``."""
        chosen = str(backend).lower()
        target = "" if target_type is None else str(target_type).lower()
        if chosen == "nvrtc":
            return _seam.nvrtc_flags(self, target)
        if chosen != "nvvm":
            raise ValueError(f"Unknown backend {backend!r}: the backends are 'nvrtc' and 'nvvm'")
        return _seam.nvvm_flags(self, target)


# The fields that may hold something that can change.
_CONTAINERS = ("arch", "ptxas_options", "define_macro", "undefine_macro", "include_path", "pre_include", "diag_error",
               "diag_suppress", "diag_warn", "extra_sources", "headers")  # fmt: skip


def _copied(value):
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, list) else value


def _check_extra_sources(sources):
    if sources is None:
        return
    if isinstance(sources, (str, bytes, bytearray)) or not isinstance(sources, (list, tuple)):
        raise TypeError(f"extra_sources must be a sequence of 2-tuples (name, source), not {type(sources).__name__}")
    for index, item in enumerate(sources):
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError(f"extra_sources: each item must be a 2-tuple (name, source); item {index} is {item!r}")
        name, source = item
        if not isinstance(name, str):
            raise TypeError(f"extra_sources: Module name at index {index} must be a str, not {type(name).__name__}")
        if not isinstance(source, (str, bytes, bytearray)):
            raise TypeError(
                f"extra_sources: Module source at index {index} must be str, bytes or bytearray, "
                f"not {type(source).__name__}"
            )
        if len(source) == 0:
            raise ValueError(f"extra_sources: Module source at index {index} cannot be empty")


for _class in (
    StreamOptions,
    EventOptions,
    ContextOptions,
    SMResourceOptions,
    WorkqueueResourceOptions,
    DeviceMemoryResourceOptions,
    ManagedMemoryResourceOptions,
    PinnedMemoryResourceOptions,
    ProgramOptions,
    VirtualMemoryResourceOptions,
):
    _class.__module__ = "cucore"
del _class
