# What type checkers and editors know of cucore. Kept beside __init__.py; test_stubs.py compares the two.
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeVar

from cucore import typing as typing
from cucore import utils as utils
from cucore.typing import CompilerBackendType, IsStreamType, ObjectCodeFormatType, PCHStatusType, SourceCodeType
from cucore.utils import ProgramCacheResource

__version__: str

_Self = TypeVar("_Self")
_Path = str | PathLike[str]
_Dimensions = int | tuple[int, ...] | list[int]

class CUDAError(Exception):
    code: int
    name: str
    call: str
    log: str | None
    hint: str
    @property
    def diagnostics(self) -> list[Diagnostic]: ...

class NVRTCError(CUDAError): ...
class NVVMError(CUDAError): ...
class NvJitLinkError(CUDAError): ...
class UnsupportedOptionError(CUDAError, ValueError): ...

nvvmError = NVVMError
nvJitLinkError = NvJitLinkError

class CUDAWarning(RuntimeWarning): ...

class ComputeCapability(NamedTuple):
    major: int
    minor: int

class ParamInfo(NamedTuple):
    offset: int
    size: int

class MaxPotentialBlockSizeOccupancyResult(NamedTuple):
    min_grid_size: int
    max_block_size: int

class KernelParameter(NamedTuple):
    type: str | None
    kind: str
    offset: int
    size: int
    alignment: int
    name: str | None

class KernelSignature(tuple[KernelParameter, ...]): ...

class AccessPolicyWindow(NamedTuple):
    base_ptr: int | Buffer
    num_bytes: int
    hit_ratio: float = 1.0
    hit_prop: str = "persisting"
    miss_prop: str = "normal"

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

class Diagnostic(NamedTuple):
    file: str
    line: int
    column: int
    severity: str
    number: int
    text: str
    context: str

class _Owner:
    def close(self) -> None: ...
    @property
    def is_closed(self) -> bool: ...
    def __bool__(self) -> bool: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class _LogWriter(Protocol):
    def write(self, text: str, /) -> Any: ...

@dataclass
class StreamOptions:
    nonblocking: bool = True
    priority: int | None = None

@dataclass
class EventOptions:
    timing_enabled: bool = False
    blocking_sync: bool = False
    ipc_enabled: bool = False

@dataclass
class DeviceMemoryResourceOptions:
    ipc_enabled: bool = False
    max_size: int = 0
    release_threshold: int | None = None

@dataclass
class PinnedMemoryResourceOptions:
    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None
    release_threshold: int | None = None

@dataclass
class ProgramOptions:
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
    time: str | None = None
    split_compile: int | None = None
    fdevice_syntax_only: bool | None = None
    minimal: bool | None = None
    no_cache: bool | None = None
    fdevice_time_trace: _Path | None = None
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
    def as_bytes(self, backend: CompilerBackendType | str, target_type: str | None = None) -> list[bytes]: ...
    def snapshot(self) -> ProgramOptions: ...

class DeviceProperties:
    def __getattr__(self, name: str) -> int: ...

class Context(_Owner):
    @property
    def handle(self) -> int | None: ...
    @property
    def device(self) -> Device: ...
    @property
    def is_green(self) -> bool: ...
    def create_stream(self, options: StreamOptions | dict[str, Any] | None = None) -> Stream: ...

class Device:
    def __new__(cls, device_id: Device | int | None = None) -> Device: ...
    @staticmethod
    def get_all_devices() -> tuple[Device, ...]: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    @property
    def device_id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def uuid(self) -> str: ...
    @property
    def pci_bus_id(self) -> str: ...
    @property
    def compute_capability(self) -> ComputeCapability: ...
    @property
    def arch(self) -> str: ...
    @property
    def total_memory(self) -> int: ...
    @property
    def properties(self) -> DeviceProperties: ...
    def can_access_peer(self, peer: Device | int) -> bool: ...
    @property
    def context(self) -> Context: ...
    def set_current(self, ctx: Context | None = None) -> Context | None: ...
    @property
    def memory_resource(self) -> MemoryResource: ...
    @memory_resource.setter
    def memory_resource(self, resource: MemoryResource) -> None: ...
    @property
    def default_stream(self) -> Stream: ...
    def create_stream(
        self, obj: IsStreamType | None = None, options: StreamOptions | dict[str, Any] | None = None
    ) -> Stream: ...
    def create_event(self, options: EventOptions | dict[str, Any] | None = None) -> Event: ...
    def allocate(self, size: int, *, stream: Stream) -> Buffer: ...
    def sync(self) -> None: ...

class Stream(_Owner):
    @staticmethod
    def from_handle(handle: int) -> Stream: ...
    @property
    def handle(self) -> int: ...
    @property
    def is_nonblocking(self) -> bool: ...
    @property
    def priority(self) -> int: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def device(self) -> Device: ...
    @property
    def context(self) -> Context: ...
    def sync(self) -> None: ...
    def record(self, event: Event | None = None, options: EventOptions | dict[str, Any] | None = None) -> Event: ...
    def wait(self, event_or_stream: Event | IsStreamType) -> None: ...
    def __cuda_stream__(self) -> tuple[int, int]: ...

class Event(_Owner):
    @property
    def handle(self) -> int: ...
    @property
    def is_timing_enabled(self) -> bool: ...
    @property
    def is_blocking_sync(self) -> bool: ...
    @property
    def is_ipc_enabled(self) -> bool: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def device(self) -> Device | None: ...
    @property
    def context(self) -> Context | None: ...
    def sync(self) -> None: ...
    def record(self, stream: Stream) -> None: ...
    def elapsed_time(self, start: Event) -> float: ...
    def __sub__(self, start: Event) -> float: ...

class MemoryResource:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def allocate(self, size: int, *, stream: Stream | None = ...) -> Buffer: ...
    def deallocate(self, ptr: int, size: int, *, stream: Stream | None = ...) -> None: ...
    @property
    def is_device_accessible(self) -> bool: ...
    @property
    def is_host_accessible(self) -> bool: ...
    @property
    def is_managed(self) -> bool: ...
    @property
    def is_ipc_enabled(self) -> bool: ...
    @property
    def device_id(self) -> int: ...
    def close(self) -> None: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class MemoryPoolAttributes:
    @property
    def reuse_follow_event_dependencies(self) -> bool: ...
    @property
    def reuse_allow_opportunistic(self) -> bool: ...
    @property
    def reuse_allow_internal_dependencies(self) -> bool: ...
    @property
    def release_threshold(self) -> int: ...
    @property
    def reserved_mem_current(self) -> int: ...
    @property
    def reserved_mem_high(self) -> int: ...
    @property
    def used_mem_current(self) -> int: ...
    @property
    def used_mem_high(self) -> int: ...

class _PoolMemoryResource(MemoryResource):
    @property
    def handle(self) -> int: ...
    @property
    def is_handle_owned(self) -> bool: ...
    @property
    def is_mapped(self) -> bool: ...
    @property
    def uuid(self) -> None: ...
    @property
    def attributes(self) -> MemoryPoolAttributes: ...
    def trim_to(self, min_bytes_to_keep: int) -> None: ...
    @property
    def is_closed(self) -> bool: ...
    def __bool__(self) -> bool: ...

class DeviceMemoryResource(_PoolMemoryResource):
    def __init__(
        self, device_id: Device | int, options: DeviceMemoryResourceOptions | dict[str, Any] | None = None
    ) -> None: ...
    peer_accessible_by: Any

class PinnedMemoryResource(_PoolMemoryResource):
    def __init__(self, options: PinnedMemoryResourceOptions | dict[str, Any] | None = None) -> None: ...
    @property
    def numa_id(self) -> int: ...

class LegacyPinnedMemoryResource(MemoryResource):
    def __init__(self) -> None: ...

class Buffer(_Owner):
    @staticmethod
    def from_handle(
        ptr: Any,
        size: int,
        mr: MemoryResource | None = None,
        owner: object | None = None,
        *,
        stream: Stream | None = None,
    ) -> Buffer: ...
    @property
    def handle(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def memory_resource(self) -> MemoryResource | None: ...
    @property
    def owner(self) -> Any: ...
    @property
    def device_id(self) -> int: ...
    @property
    def is_device_accessible(self) -> bool: ...
    @property
    def is_host_accessible(self) -> bool: ...
    @property
    def is_managed(self) -> bool: ...
    @property
    def is_mapped(self) -> bool: ...
    @property
    def ipc_descriptor(self) -> Any: ...
    def copy_to(self, dst: Buffer | None = None, *, stream: Stream) -> Buffer: ...
    def copy_from(self, src: Buffer, *, stream: Stream) -> None: ...
    def fill(self, value: Any, *, stream: Stream) -> None: ...
    def set_deallocation_stream(self, stream: Stream) -> None: ...
    def close(self, stream: Stream | None = None) -> None: ...
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

class KernelAttributes:
    def __getitem__(self, device: Device | int) -> KernelAttributes: ...
    max_dynamic_shared_size_bytes: int
    preferred_shared_memory_carveout: int
    required_cluster_width: int
    required_cluster_height: int
    required_cluster_depth: int
    non_portable_cluster_size_allowed: bool
    cluster_scheduling_policy_preference: int
    @property
    def max_threads_per_block(self) -> int: ...
    @property
    def shared_size_bytes(self) -> int: ...
    @property
    def const_size_bytes(self) -> int: ...
    @property
    def local_size_bytes(self) -> int: ...
    @property
    def num_regs(self) -> int: ...
    @property
    def ptx_version(self) -> int: ...
    @property
    def binary_version(self) -> int: ...
    @property
    def cache_mode_ca(self) -> bool: ...
    @property
    def cluster_size_must_be_set(self) -> bool: ...

class KernelOccupancy:
    def max_active_blocks_per_multiprocessor(
        self, block_size: int, dynamic_shared_memory_size: int, *, device: Device | int | None = None
    ) -> int: ...
    def max_potential_block_size(
        self,
        dynamic_shared_memory_needed: int | Callable[[int], int],
        block_size_limit: int,
        *,
        device: Device | int | None = None,
    ) -> MaxPotentialBlockSizeOccupancyResult: ...
    def available_dynamic_shared_memory_per_block(
        self, num_blocks_per_multiprocessor: int, block_size: int, *, device: Device | int | None = None
    ) -> int: ...
    def max_potential_cluster_size(
        self, config: LaunchConfig, *, stream: Stream, device: Device | int | None = None
    ) -> int: ...
    def max_active_clusters(
        self, config: LaunchConfig, *, stream: Stream, device: Device | int | None = None
    ) -> int: ...

class Launcher:
    @property
    def kernel(self) -> Kernel: ...
    @property
    def config(self) -> LaunchConfig: ...
    @property
    def stream(self) -> Stream | IsStreamType | None: ...
    def __call__(self, *stream_and_arguments: Any) -> None: ...
    def batch(self, *stream_and_arguments: Any) -> None: ...

class Kernel:
    @staticmethod
    def from_handle(handle: int, mod: ObjectCode | None = None) -> Kernel: ...
    @property
    def handle(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def attributes(self) -> KernelAttributes: ...
    @property
    def occupancy(self) -> KernelOccupancy: ...
    @property
    def num_arguments(self) -> int: ...
    @property
    def arguments_info(self) -> list[ParamInfo]: ...
    @property
    def signature(self) -> KernelSignature: ...
    def launcher(self, config: LaunchConfig | dict[str, Any]) -> Launcher: ...
    def __getitem__(self, index: Any) -> Launcher: ...

class ObjectCode:
    @staticmethod
    def from_cubin(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode: ...
    @staticmethod
    def from_ptx(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode: ...
    @staticmethod
    def from_ltoir(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode: ...
    @staticmethod
    def from_fatbin(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode: ...
    @staticmethod
    def from_object(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode: ...
    @staticmethod
    def from_library(
        module: bytes | bytearray | _Path, *, name: str = "", symbol_mapping: Mapping[str, str] | None = None
    ) -> ObjectCode: ...
    @staticmethod
    def from_images(
        images: Iterable[ObjectCode] | Mapping[str, ObjectCode],
        *,
        name: str = "",
        symbol_mapping: Mapping[str, str] | None = None,
    ) -> ObjectCode: ...
    @property
    def code(self) -> bytes | bytearray | str: ...
    @property
    def code_type(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def symbol_mapping(self) -> dict[str, str]: ...
    @property
    def ptx(self) -> str | None: ...
    @property
    def images(self) -> list[tuple[str, str | None]]: ...
    @property
    def loaded_image(self) -> tuple[str, str | None] | None: ...
    @property
    def kernels(self) -> list[str]: ...
    @property
    def is_loaded(self) -> bool: ...
    @property
    def handle(self) -> int: ...
    def load(self) -> None: ...
    def get_kernel(self, name: str | bytes) -> Kernel: ...
    def get_global(self, name: str | bytes) -> Buffer: ...
    def serialize(self) -> bytes: ...
    @staticmethod
    def deserialize(data: bytes) -> ObjectCode: ...
    def save(self, path: _Path) -> None: ...
    @staticmethod
    def from_saved(path: _Path) -> ObjectCode: ...

@dataclass
class LinkerOptions:
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
    def as_bytes(self, backend: CompilerBackendType | str = "nvjitlink") -> list[bytes]: ...

class Linker:
    def __init__(self, *object_codes: ObjectCode, options: LinkerOptions | dict[str, Any] | None = None) -> None: ...
    def link(self, target_type: ObjectCodeFormatType | str, *, cache: ProgramCache | None = None) -> ObjectCode: ...
    def get_error_log(self) -> str: ...
    def get_info_log(self) -> str: ...
    @classmethod
    def which_backend(cls) -> CompilerBackendType: ...
    @property
    def handle(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    def close(self) -> None: ...
    def __bool__(self) -> bool: ...
    def __enter__(self) -> Linker: ...
    def __exit__(self, *exception_info: object) -> None: ...

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

class ProgramCache:
    def __init__(
        self, path: _Path | None = None, *, max_bytes: int = 1 << 30, lock_wait: float = 60.0, shared: bool = False
    ) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def stats(self) -> ProgramCacheStats: ...
    @property
    def size_bytes(self) -> int: ...
    def why(
        self, program: Program, target_type: ObjectCodeFormatType | str, name_expressions: Iterable[str | bytes] = ()
    ) -> str: ...
    def __len__(self) -> int: ...
    def clear(self) -> None: ...

class Program(_Owner):
    def __init__(
        self,
        code: str | bytes | bytearray,
        code_type: SourceCodeType | str,
        options: ProgramOptions | dict[str, Any] | None = None,
    ) -> None: ...
    def compile(
        self,
        target_type: ObjectCodeFormatType | str,
        name_expressions: Iterable[str | bytes] = (),
        logs: _LogWriter | None = None,
        *,
        cache: ProgramCache | ProgramCacheResource | None = None,
    ) -> ObjectCode: ...
    @property
    def last_report(self) -> dict[str, str] | None: ...
    @property
    def diagnostics(self) -> list[Diagnostic]: ...
    @property
    def handle(self) -> int: ...
    @property
    def backend(self) -> CompilerBackendType: ...
    @property
    def pch_status(self) -> PCHStatusType | None: ...

class Module:
    def load(self, code: ObjectCode) -> Module: ...
    @property
    def object_code(self) -> ObjectCode: ...
    def get_kernel(self, name: str | bytes) -> Kernel: ...

class LaunchConfig:
    grid: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    block: tuple[int, int, int]
    shmem_size: int
    is_cooperative: bool
    programmatic_stream_serialization: bool
    priority: int | None
    preferred_cluster: tuple[int, int, int] | None
    cluster_scheduling_policy: str | None
    programmatic_event: tuple[Event, bool] | None
    launch_completion_event: Event | None
    memory_sync_domain: str | None
    memory_sync_domain_map: tuple[int, int] | None
    preferred_shared_memory_carveout: int | None
    access_policy_window: AccessPolicyWindow | None
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
    @staticmethod
    def for_kernel(
        kernel: Kernel,
        n: int,
        shmem_size: int = 0,
        block_size_limit: int = 0,
        device: Device | int | None = None,
    ) -> LaunchConfig: ...

LEGACY_DEFAULT_STREAM: Stream
PER_THREAD_DEFAULT_STREAM: Stream

def launch(
    stream: Stream | IsStreamType, config: LaunchConfig | dict[str, Any], kernel: Kernel, *kernel_args: Any
) -> None: ...
def compile_cubin(
    code: str,
    options: ProgramOptions | dict[str, Any] | None = None,
    name_expressions: Iterable[str | bytes] = (),
) -> ObjectCode: ...
def compile_ltoir(
    code: str,
    options: ProgramOptions | dict[str, Any] | None = None,
    name_expressions: Iterable[str | bytes] = (),
) -> ObjectCode: ...
def compile_ptx(
    code: str,
    options: ProgramOptions | dict[str, Any] | None = None,
    name_expressions: Iterable[str | bytes] = (),
) -> ObjectCode: ...
def driver_info() -> DriverInfo: ...
def driver_available() -> bool: ...
def toolkit_info() -> ToolkitInfo: ...
