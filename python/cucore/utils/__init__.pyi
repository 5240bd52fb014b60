# Made by tools/make_stubs.py from the package and from python/signatures/utils.pyi; not to be edited.

"""Caches, where ``Program.compile(..., cache=)`` keeps what it has compiled, batches of copies, and views of arrays."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import numpy

from cucore import (
    Buffer,
    Device,
    Host,
    ObjectCode,
    ProgramOptions,
    Stream,
    StridedLayout,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
)
from cucore import ProgramCache as ProgramCache
from cucore.graph import GraphBuilder
from cucore.typing import MemcpyOverlapMode as MemcpyOverlapMode
from cucore.typing import MemcpySrcAccessOrder as MemcpySrcAccessOrder
from cucore.typing import ObjectCodeFormatType, SourceCodeType

_Self = TypeVar("_Self")
_Key = bytes | bytearray | str
_Value = bytes | bytearray | memoryview | ObjectCode
_Places = Device | Host | Sequence[Device | Host]

@dataclass(frozen=True)
class CopyOptions:
    """How a batch copies.

    src_access_order: "stream": the source is read in the order of the stream; "during_api_call": before the call
        returns; "any": at any time until the copy is complete.
    src_location_hint, dst_location_hint: the Device or Host where managed or pageable memory is, and is to be.
    overlap_mode: "prefer_overlap_with_compute" leaves the SMs to kernels, even if the copy is slower for it.
    """

    src_access_order: MemcpySrcAccessOrder | str = ...
    src_location_hint: Device | Host | None = None
    dst_location_hint: Device | Host | None = None
    overlap_mode: MemcpyOverlapMode | str = ...

class ProgramCacheResource(abc.ABC):
    """A program cache. There is no ``in`` and no iteration: an entry may be removed between a test and a read; use
    ``get``."""
    @abc.abstractmethod
    def clear(self) -> None:
        """Removes all entries."""
    def get(self, key: _Key, default: Any = None) -> Any:
        """The bytes for ``key``, or ``default``."""
    def update(self, items: Mapping[Any, _Value] | Iterable[tuple[Any, _Value]], /) -> None:
        """Stores each entry of a mapping or of (key, value) pairs."""
    def close(self) -> None:
        """Gives back what the cache holds."""
    @abc.abstractmethod
    def __getitem__(self, key: _Key) -> bytes: ...
    @abc.abstractmethod
    def __setitem__(self, key: _Key, value: _Value) -> None: ...
    @abc.abstractmethod
    def __delitem__(self, key: _Key) -> None: ...
    @abc.abstractmethod
    def __len__(self) -> int: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class StridedMemoryView:
    """Memory of another object as a strided array: address, shape, strides and dtype. Nothing is copied.

    Made by the class methods ``from_*``, or by :func:`args_viewable_as_strided_memory`. Where they take ``stream_ptr``,
    it is the address of the stream that is going to use the memory (``stream.handle``): what the producer has under
    way comes before later work on that stream. ``-1`` leaves the order to the caller. A view is immutable, so any
    thread may read it; it keeps the object that it views.
    """
    @classmethod
    def from_dlpack(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """A view of what has ``__dlpack__`` and ``__dlpack_device__``.

        The producer gets ``stream_ptr``, which only memory that both the host and devices reach can do without.
        BufferError: it is None for other memory, or the memory is of another kind of device. ValueError: elements that
        are no whole bytes.
        """
    @classmethod
    def from_cuda_array_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """A view of what has ``__cuda_array_interface__``, version 2 (PyTorch's) or later and without a mask.

        If it names a stream, an event orders that one before ``stream_ptr``. BufferError: ``stream_ptr`` is None, an
        older version, a mask, memory that no device reaches. ValueError: strides that are no whole elements.
        """
    @classmethod
    def from_array_interface(cls, obj: object) -> StridedMemoryView:
        """A view of what has ``__array_interface__``, such as a NumPy array: memory of the host, ``device_id`` is 0.

        BufferError: a version before 3, a mask, no data pointer.
        """
    @classmethod
    def from_any_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """By DLPack if ``obj`` has it, else by ``__cuda_array_interface__``. BufferError: it has neither."""
    @classmethod
    def from_buffer(
        cls,
        buffer: Buffer,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        *,
        itemsize: int | None = None,
        dtype: numpy.dtype | None = None,
        is_readonly: bool = False,
    ) -> StridedMemoryView:
        """A view of a Buffer. ``strides`` are in elements. Nothing is ordered: that is up to the caller.

        ValueError: neither ``itemsize`` nor ``dtype``, or two that disagree; the buffer has a memory resource and is
        too small, or elements lie before it. RuntimeError: it has been closed.
        """
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...] | None:
        """In elements; None for C order that was not spelt out."""
    @property
    def size(self) -> int:
        """How many elements there are."""
    @property
    def dtype(self) -> numpy.dtype | None:
        """None if none was given. NotImplementedError: vectors, or bfloat16 without ml_dtypes. TypeError: unknown."""
    def view(self, layout: StridedLayout | None = None, dtype: numpy.dtype | None = None) -> StridedMemoryView:
        """The same memory in another layout or as another dtype; itself if neither is given.

        ValueError: the sizes of an element disagree, or the layout goes beyond a Buffer that has a memory resource.
        """
    def as_tensor_map(
        self,
        box_dim: tuple[int, ...] | None = None,
        *,
        options: TensorMapDescriptorOptions | None = None,
        element_strides: tuple[int, ...] | None = None,
        data_type: object = None,
        interleave: object = None,
        swizzle: object = None,
        l2_promotion: object = None,
        oob_fill: object = None,
    ) -> TensorMapDescriptor:
        """A tiled TensorMapDescriptor of it: see TensorMapDescriptor.tiled()."""
    def copy_from(
        self, other: StridedMemoryView, stream: Stream, allocator: object = None, blocking: bool | None = None
    ) -> None:
        """Not implemented, as in cuda.core."""
    def copy_to(
        self,
        other: StridedMemoryView,
        stream: Stream | None = None,
        allocator: object = None,
        blocking: bool | None = None,
    ) -> None:
        """Not implemented, as in cuda.core."""
    device_id: int
    exporting_obj: Any
    is_device_accessible: bool
    ptr: int
    readonly: bool

class Record(NamedTuple):
    data: bytes
    symbol_mapping: Mapping[str, str]

class FileStreamProgramCache(ProgramCacheResource):
    """Compiled code in a folder (by default one of the user's), shared by any number of threads and processes.

    With ``max_size_bytes``, a soft cap, the entries whose last use is longest ago go when the images' sum passes it
    (their records do not count).
    ``shared`` takes entries of other users, who can then put code into this process; root's are always taken.
    ``store``, a URL or a store of ``cucore.stores``, is asked for what the folder lacks, and gets what is put here: all
    who use it must mean the same by a key, as those of ``make_program_cache_key`` do. ``clear`` leaves it alone.
    """

    keeps_records: bool
    def get_record(self, key: _Key) -> Record | None: ...
    def set_record(self, key: _Key, record: Record) -> None: ...
    @property
    def path(self) -> Path:
        """The folder."""
    def clear(self) -> None: ...
    def __getitem__(self, key: _Key) -> bytes: ...
    def __setitem__(self, key: _Key, value: _Value) -> None: ...
    def __delitem__(self, key: _Key) -> None: ...
    def __len__(self) -> int: ...
    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        max_size_bytes: int | None = None,
        shared: bool = False,
        store: object = None,
    ) -> None: ...

class InMemoryProgramCache(ProgramCacheResource):
    """Compiled code in memory; with ``max_size_bytes``, the least recently used entries go when the sum passes it."""

    keeps_records: bool
    def get_record(self, key: _Key) -> Record | None: ...
    def set_record(self, key: _Key, record: Record) -> None: ...
    def clear(self) -> None: ...
    def __getitem__(self, key: _Key) -> bytes: ...
    def __setitem__(self, key: _Key, value: _Value) -> None: ...
    def __delitem__(self, key: _Key) -> None: ...
    def __len__(self) -> int: ...
    def __init__(self, *, max_size_bytes: int | None = None) -> None: ...

def args_viewable_as_strided_memory(arg_indices: tuple[int, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the positional arguments at these places become proxies with ``obj``, ``has_dlpack`` and ``view()``.

    ``proxy.view(stream.handle)`` is the StridedMemoryView. The call raises BufferError for an argument that has neither
    protocol, and IndexError for one that was not given by position.
    """

def copy_batch(
    stream: Stream | GraphBuilder,
    srcs: Sequence[Buffer],
    dsts: Sequence[Buffer],
    *,
    options: CopyOptions | Sequence[CopyOptions | None] | None = None,
) -> None:
    """Copies each Buffer of ``srcs`` whole into the one of ``dsts`` with the same index, in one call of the driver.

    ``options``: CopyOptions for all, or a sequence with one for each pair. The items may run in any order: what they
    touch must not overlap.
    """

def discard_batch(stream: Stream | GraphBuilder, buffers: Sequence[Buffer]) -> None:
    """Says that what is in the managed buffers is not needed any more, in one call of the driver."""

def discard_prefetch_batch(stream: Stream | GraphBuilder, buffers: Sequence[Buffer], locations: _Places) -> None:
    """Discards what is in the managed buffers and makes room at the locations, in one call of the driver."""

def make_program_cache_key(
    *,
    code: str | bytes,
    code_type: SourceCodeType | str,
    options: ProgramOptions | dict[str, Any] | None,
    target_type: ObjectCodeFormatType | str,
    name_expressions: str | bytes | Iterable[str | bytes] = (),
    extra_digest: bytes | bytearray | memoryview | None = None,
) -> bytes:
    """The key of such a compile of ``code``: SHA-256 over every input, the compiler's version and build, and the
    contents of the headers that the source can reach.

    What cannot be keyed raises ValueError. ``extra_digest`` (bytes of your own that stand for files the options name)
    lifts that for options that name files.
    """

def prefetch_batch(stream: Stream | GraphBuilder, buffers: Sequence[Buffer], locations: _Places) -> None:
    """Brings managed buffers to a Device or a Host, or each to its own of a sequence, in one call of the driver."""
