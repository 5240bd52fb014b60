"""Compile, load, launch and time CUDA kernels at run time, on a GPU or with none.

Names and behaviour are those of NVIDIA's ``cuda.core`` 1.2. Importing this creates nothing: no driver is opened, no
context is made, and neither NumPy nor the compiler is loaded before something needs it.
"""

import os as _os
import sys as _sys

from cucore import _by_reference as _by_reference
from cucore import _fork as _fork
from cucore import _pickling as _pickling
from cucore import _seam
from cucore._device import Device
from cucore._errors import (
    CUDAError,
    CUDAInvalidArgumentError,
    CUDAInvalidContextError,
    CUDAInvalidValueError,
    CUDANotReadyError,
    CUDAOutOfMemoryError,
    CUDAStickyError,
    CUDAWarning,
    NvJitLinkError,
    NVRTCError,
    NVVMError,
    UnsupportedOptionError,
    nvJitLinkError,
    nvvmError,
)
from cucore._seam import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    Context,
    DeviceMemoryResource,
    DeviceResources,
    Event,
    EventPool,
    GraphMemoryResource,
    Kernel,
    LaunchConfig,
    Launcher,
    LegacyPinnedMemoryResource,
    ManagedBuffer,
    ManagedMemoryResource,
    MemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    ProgramCache,
    SMResource,
    Stream,
    StridedLayout,
    VirtualMemoryResource,
    WorkqueueResource,
    __version__,
    driver_available,
    driver_info,
    launch,
    toolkit_info,
)

# Names whose modules import dataclasses or enum, by module: loaded at first use.
_LATER = {
    "AccessPolicyWindow": "_tuples",
    "ContextOptions": "_options",
    "DeviceMemoryResourceOptions": "_options",
    "EventOptions": "_options",
    "GraphicsResource": "_graphics",
    "Host": "_host",
    "IPCAllocationHandle": "_ipc_memory",
    "IPCBufferDescriptor": "_ipc_memory",
    "IPCEventDescriptor": "_ipc",
    "ManagedMemoryResourceOptions": "_options",
    "SharedEvent": "_ipc",
    "PinnedMemoryResourceOptions": "_options",
    "ProgramOptions": "_options",
    "SMResourceOptions": "_options",
    "StreamOptions": "_options",
    "VirtualMemoryResourceOptions": "_options",
    "WorkqueueResourceOptions": "_options",
    "Linker": "_linker",
    "LinkerOptions": "_linker",
    "TensorMapDataType": "_tensor_map",
    "TensorMapDescriptor": "_tensor_map",
    "TensorMapDescriptorOptions": "_tensor_map",
    "TensorMapInterleave": "_tensor_map",
    "TensorMapL2Promotion": "_tensor_map",
    "TensorMapOOBFill": "_tensor_map",
    "TensorMapSwizzle": "_tensor_map",
    "Timer": "_timing",
    "CompileErrors": "_compile_all",
    "compile_all": "_compile_all",
    "Module": "_program",
    "Program": "_program",
    "compile_cubin": "_program",
    "compile_ltoir": "_program",
    "compile_ptx": "_program",
}
_SUBMODULES = ("checkpoint", "debug", "graph", "system", "texture", "typing", "utils")

__all__ = [
    "__version__",
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "AccessPolicyWindow",
    "Buffer",
    "CUDAError",
    "CUDAInvalidArgumentError",
    "CUDAInvalidContextError",
    "CUDAInvalidValueError",
    "CUDANotReadyError",
    "CUDAOutOfMemoryError",
    "CUDAStickyError",
    "CUDAWarning",
    "CompileErrors",
    "Context",
    "ContextOptions",
    "Device",
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "DeviceResources",
    "Event",
    "EventOptions",
    "EventPool",
    "GraphMemoryResource",
    "Host",
    "GraphicsResource",
    "IPCAllocationHandle",
    "IPCBufferDescriptor",
    "IPCEventDescriptor",
    "Kernel",
    "LaunchConfig",
    "Launcher",
    "LegacyPinnedMemoryResource",
    "Linker",
    "LinkerOptions",
    "ManagedBuffer",
    "ManagedMemoryResource",
    "ManagedMemoryResourceOptions",
    "MemoryResource",
    "Module",
    "NVRTCError",
    "NVVMError",
    "NvJitLinkError",
    "ObjectCode",
    "PinnedMemoryResource",
    "PinnedMemoryResourceOptions",
    "Program",
    "ProgramCache",
    "ProgramOptions",
    "SMResource",
    "SMResourceOptions",
    "SharedEvent",
    "Stream",
    "StreamOptions",
    "StridedLayout",
    "TensorMapDataType",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
    "Timer",
    "UnsupportedOptionError",
    "VirtualMemoryResource",
    "VirtualMemoryResourceOptions",
    "WorkqueueResource",
    "WorkqueueResourceOptions",
    "checkpoint",
    "compile_all",
    "compile_cubin",
    "compile_ltoir",
    "compile_ptx",
    "debug",
    "driver_available",
    "driver_info",
    "graph",
    "launch",
    "nvJitLinkError",
    "nvvmError",
    "system",
    "texture",
    "toolkit_info",
    "typing",
    "utils",
]


def _import_module(name):
    __import__(name)
    return _sys.modules[name]


def __getattr__(name):
    if name in _SUBMODULES:
        return _import_module(f"cucore.{name}")
    try:
        module = _LATER[name]
    except KeyError:
        raise AttributeError(f"module 'cucore' has no attribute {name!r}") from None
    value = getattr(_import_module(f"cucore.{module}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})


def _package_folders():
    """Folders of packages with NVIDIA's among them, which the core knows: that of cucore, then those along sys.path."""
    own = _os.path.dirname(_os.path.dirname(_os.path.abspath(__file__)))
    folders = [own, *(entry for entry in _sys.path if entry.endswith(("site-packages", "dist-packages")))]
    return [folder for folder in dict.fromkeys(folders) if _os.path.isdir(_os.path.join(folder, "nvidia"))]


_seam.find_now()
try:
    _seam.set_toolkit_search_paths(_package_folders())
except RuntimeError:
    pass  # imported again after the toolkit was opened: the libraries found then stay in use
