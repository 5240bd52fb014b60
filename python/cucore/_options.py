"""The options of streams, events, memory resources and programs.

Whatever takes options takes an instance of its class, a dict of its keywords, or None for the defaults; ``accept`` is
that rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from cucore import _seam
from cucore._architecture import current_arch
from cucore._checked import Checked, check_extra_sources, flag, shown, truth, whole
from cucore._errors import AttributeTypeError


def accept(cls, options, what="options", error=TypeError):
    """``options`` as an instance of ``cls``: itself, made from a dict, or the defaults for None. Anything else is an
    ``error``."""
    if options is None:
        return cls()
    if isinstance(options, cls):
        return options
    if isinstance(options, dict):
        try:
            return cls(**options)
        except TypeError as wrong:
            if error is TypeError:
                raise
            raise error(str(wrong)) from None
    raise error(f"{what} must be a {cls.__name__}, a dict of its fields or None, not {type(options).__name__}")


def member(enumeration, value, what):
    """``value``, a member of a string enumeration or the value of one, as the member. Raises ValueError."""
    try:
        return enumeration(value)
    except ValueError:
        legal = ", ".join(repr(one.value) for one in enumeration)
        raise ValueError(
            f"{what} {value!r} is not a member of {enumeration.__name__}; it must be one of {legal}"
        ) from None


@dataclass(slots=True)
class StreamOptions(Checked):
    """How ``Device.create_stream`` makes a stream.

    nonblocking: do not synchronize with the legacy default stream.
    priority: lower numbers are more urgent; None is the least urgent.
    """

    nonblocking: bool = True
    priority: int | None = None

    _checks = {"nonblocking": truth, "priority": whole}


@dataclass(slots=True)
class EventOptions(Checked):
    """How ``Device.create_event`` and ``Stream.record`` make an event.

    timing_enabled: record a time, so that events can be subtracted.
    blocking_sync: ``sync()`` blocks the thread instead of spinning.
    ipc_enabled: the event can be sent to another process.
    """

    timing_enabled: bool = False
    blocking_sync: bool = False
    ipc_enabled: bool = False

    _checks = {"timing_enabled": flag, "blocking_sync": flag, "ipc_enabled": flag}


@dataclass
class ContextOptions:
    """What ``Device.create_context`` makes a green context of.

    resources: SMResource and WorkqueueResource objects of the device.
    """

    resources: Sequence[Any]


@dataclass(slots=True)
class SMResourceOptions(Checked):
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

            member(WorkqueueSharingScopeType, self.sharing_scope, "sharing_scope")  # it stays as it is given
        if self.concurrency_limit is not None:
            limit = whole("concurrency_limit", self.concurrency_limit)
            if isinstance(self.concurrency_limit, float):
                self.concurrency_limit = limit
            if limit < 1:
                raise ValueError(f"concurrency_limit must be at least 1, not {limit}")


@dataclass(slots=True)
class DeviceMemoryResourceOptions(Checked):
    """How ``DeviceMemoryResource`` makes a pool of its own.

    ipc_enabled: the pool can be shared with other processes.
    max_size: bytes the pool may grow to; 0 lets the driver decide.
    release_threshold: bytes the pool keeps when idle instead of giving them back at a synchronization. None: 0, as the
        driver makes pools; 2**64 - 1 keeps all.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    release_threshold: int | None = None

    _checks = {"ipc_enabled": truth, "max_size": whole, "release_threshold": whole}
    _own = ("release_threshold",)
    __repr__ = shown


@dataclass(slots=True)
class ManagedMemoryResourceOptions(Checked):
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

    _checks = {"preferred_location": whole, "pooled": truth, "release_threshold": whole}
    _own = ("pooled", "release_threshold")
    __repr__ = shown


@dataclass(slots=True)
class PinnedMemoryResourceOptions(Checked):
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

    _checks = {"ipc_enabled": truth, "max_size": whole, "numa_id": whole, "release_threshold": whole}
    _own = ("release_threshold",)
    __repr__ = shown


def _enumeration(name):
    """One of cucore.typing, which is imported when options need it."""
    from cucore import typing

    return getattr(typing, name)


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

    allocation_type: str = field(default_factory=lambda: _enumeration("VirtualMemoryAllocationType").PINNED)
    location_type: str = field(default_factory=lambda: _enumeration("VirtualMemoryLocationType").DEVICE)
    handle_type: str | None = field(default_factory=lambda: _enumeration("VirtualMemoryHandleType").POSIX_FD)
    granularity: str = field(default_factory=lambda: _enumeration("VirtualMemoryGranularityType").RECOMMENDED)
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Sequence[Any] = ()
    self_access: str | None = field(default_factory=lambda: _enumeration("VirtualMemoryAccessType").READ_WRITE)
    peer_access: str | None = field(default_factory=lambda: _enumeration("VirtualMemoryAccessType").READ_WRITE)
    numa_id: int | None = None

    _own = ("numa_id",)
    __repr__ = shown

    def _check(self):
        """For a resource, which calls this first."""
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
                member(enumeration, value, name)
        if self.numa_id is not None and self.location_type != "host_numa":
            raise ValueError(f"numa_id is for location_type 'host_numa', not {str(self.location_type)!r}")

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

    def __post_init__(self):
        if self.name is None:
            self.name = "default_program"
        if not isinstance(self.name, str):
            raise AttributeTypeError(f"name must be a str, not {type(self.name).__name__}")
        if self.arch is None:
            self.arch = current_arch()
        if self.extra_sources is not None:
            check_extra_sources(self.extra_sources)
        if self.use_bundled_headers and _nvrtc_is_older_than(13, 3):
            raise RuntimeError("use_bundled_headers needs NVRTC 13.3 or newer")

    def __repr__(self):
        return f"ProgramOptions(name={self.name!r}, arch={self.arch!r})"

    def snapshot(self):
        """A copy that shares no sequences with the original."""
        copy = object.__new__(ProgramOptions)
        fields = copy.__dict__
        fields.update(self.__dict__)
        for name in _SEQUENCES:
            value = fields[name]
            if value is not None and not isinstance(value, (str, int)):
                fields[name] = _copied(value)
        return copy

    def _differs_from(self, copy):
        """Whether a field other than the name is not as it was in an earlier snapshot."""
        mine, its = self.__dict__, copy.__dict__
        return any(
            mine.get(name) is not its[name] and name != "name" and not _same(mine.get(name), its[name]) for name in its
        )

    def as_bytes(self, backend: Any, target_type: str | None = None) -> list:
        """The flags that ``backend`` ("nvrtc" or "nvvm") is given for these options and ``target_type``."""
        if backend == "nvrtc" or (chosen := str(backend).lower()) == "nvrtc":
            return _seam.nvrtc_flags(self, "")  # the same for every target: compile() adds what "ltoir" needs
        if chosen != "nvvm":
            raise ValueError(f"Unknown backend {backend!r}: the backends are 'nvrtc' and 'nvvm'")
        return _seam.nvvm_flags(self, "" if target_type is None else str(target_type).lower())


# The fields that may be sequences, or mappings.
_SEQUENCES = (
    "arch",
    "ptxas_options",
    "define_macro",
    "undefine_macro",
    "include_path",
    "pre_include",
    "diag_error",
    "diag_suppress",
    "diag_warn",
    "extra_sources",
    "headers",
)


def _same(value, other):
    try:
        return bool(value == other)
    except ValueError:  # an array, say, of which nobody can tell
        return False


def _copied(value):
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, list) else value


def _nvrtc_is_older_than(*version):
    nvrtc = _seam.toolkit_info().nvrtc
    return nvrtc.available and tuple(nvrtc.version[:2]) < version


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
