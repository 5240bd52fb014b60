# The types of cucore.utils that its code does not say; tools/make_stubs.py makes the stub of both.
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

class ProgramCacheResource(abc.ABC):
    @abc.abstractmethod
    def __getitem__(self, key: _Key) -> bytes: ...
    @abc.abstractmethod
    def __setitem__(self, key: _Key, value: _Value) -> None: ...
    @abc.abstractmethod
    def __delitem__(self, key: _Key) -> None: ...
    @abc.abstractmethod
    def __len__(self) -> int: ...
    @abc.abstractmethod
    def clear(self) -> None: ...
    def get(self, key: _Key, default: Any = None) -> Any: ...
    def update(self, items: Mapping[Any, _Value] | Iterable[tuple[Any, _Value]], /) -> None: ...
    def close(self) -> None: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class Record(NamedTuple):
    data: bytes
    symbol_mapping: Mapping[str, str]

class _RecordCache:
    keeps_records: bool
    def __getitem__(self, key: _Key) -> bytes: ...
    def __setitem__(self, key: _Key, value: _Value) -> None: ...
    def __delitem__(self, key: _Key) -> None: ...
    def __len__(self) -> int: ...
    def clear(self) -> None: ...
    def get_record(self, key: _Key) -> Record | None: ...
    def set_record(self, key: _Key, record: Record) -> None: ...

class FileStreamProgramCache(_RecordCache):
    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        max_size_bytes: int | None = None,
        shared: bool = False,
        store: object = None,
    ) -> None: ...
    @property
    def path(self) -> Path: ...

class InMemoryProgramCache(_RecordCache):
    def __init__(self, *, max_size_bytes: int | None = None) -> None: ...

class StridedMemoryView:
    ptr: int
    device_id: int
    is_device_accessible: bool
    readonly: bool
    exporting_obj: Any

def copy_batch(
    stream: Stream | GraphBuilder,
    srcs: Sequence[Buffer],
    dsts: Sequence[Buffer],
    *,
    options: CopyOptions | Sequence[CopyOptions | None] | None = None,
) -> None: ...
def discard_batch(stream: Stream | GraphBuilder, buffers: Sequence[Buffer]) -> None: ...
def discard_prefetch_batch(stream: Stream | GraphBuilder, buffers: Sequence[Buffer], locations: _Places) -> None: ...
def prefetch_batch(stream: Stream | GraphBuilder, buffers: Sequence[Buffer], locations: _Places) -> None: ...
def make_program_cache_key(
    *,
    code: str | bytes,
    code_type: SourceCodeType | str,
    options: ProgramOptions | dict[str, Any] | None,
    target_type: ObjectCodeFormatType | str,
    name_expressions: str | bytes | Iterable[str | bytes] = (),
    extra_digest: bytes | bytearray | memoryview | None = None,
) -> bytes: ...
