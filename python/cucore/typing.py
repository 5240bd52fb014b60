"""Enumerations and aliases that appear in cucore's signatures.

Every enumeration is a string enumeration: a member equals, hashes and prints like its value, and whatever takes a
member takes the plain string too.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING as TYPE_CHECKING  # which cuda.core shows too
from typing import Literal, Protocol, runtime_checkable

from cucore._seam import SMResource, WorkqueueResource

if sys.version_info >= (3, 11):
    StrEnum = enum.StrEnum
else:

    class StrEnum(str, enum.Enum):
        """What enum.StrEnum is from Python 3.11 on."""

        __str__ = str.__str__
        __format__ = str.__format__


__all__ = [
    "AddressModeType",
    "ArrayFormatType",
    "CompilerBackendType",
    "DevicePointerType",
    "DeviceResourcesType",
    "FilterModeType",
    "GraphConditionalType",
    "GraphMemoryType",
    "IsStreamType",
    "ManagedMemoryLocationType",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "ProcessStateType",
    "ReadModeType",
    "SourceCodeType",
    "VirtualMemoryAccessType",
    "VirtualMemoryAllocationType",
    "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType",
    "VirtualMemoryLocationType",
    "WorkqueueSharingScopeType",
]


class SourceCodeType(StrEnum):
    """What a Program is made of."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(StrEnum):
    """What an ObjectCode holds."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(StrEnum):
    """Which compiler or linker does the work."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(StrEnum):
    """What became of a precompiled header in the last compile."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class GraphConditionalType(StrEnum):
    """The kinds of conditional node."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphMemoryType(StrEnum):
    """Where an allocation node allocates."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class ManagedMemoryLocationType(StrEnum):
    """Where managed memory is preferably."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


class MemcpySrcAccessOrder(StrEnum):
    """When the source of a copy may be read."""

    STREAM = "stream"
    DURING_API_CALL = "during_api_call"
    ANY = "any"


class MemcpyOverlapMode(StrEnum):
    """Whether a copy leaves the SMs to kernels."""

    DEFAULT = "default"
    PREFER_OVERLAP_WITH_COMPUTE = "prefer_overlap_with_compute"


class VirtualMemoryAllocationType(StrEnum):
    """The kind of physical memory."""

    PINNED = "pinned"
    MANAGED = "managed"


class VirtualMemoryLocationType(StrEnum):
    """Where physical memory is."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class VirtualMemoryHandleType(StrEnum):
    """How physical memory can be given to other processes."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryGranularityType(StrEnum):
    """What sizes round up to."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


class VirtualMemoryAccessType(StrEnum):
    """What may be done with mapped memory."""

    READ_WRITE = "rw"
    READ = "r"


class WorkqueueSharingScopeType(StrEnum):
    """Which contexts a work queue may be shared between."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"


class ArrayFormatType(StrEnum):
    """What a channel of an array's elements is."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class AddressModeType(StrEnum):
    """What a texture reads outside its memory."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(StrEnum):
    """Which element, or mean of elements, a texture reads."""

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(StrEnum):
    """How a texture reads integers: as they are, or as floats from 0 or -1 to 1."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]


@runtime_checkable
class IsStreamType(Protocol):
    """An object that can be used as a stream: a method that returns (0, address of the CUstream)."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


DevicePointerType = int | None
"""A device address; what takes one also takes anything with ``__int__``."""

DeviceResourcesType = Sequence[SMResource | WorkqueueResource]
"""What a green context is made of."""
