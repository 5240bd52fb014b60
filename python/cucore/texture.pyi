# What type checkers and editors know of cucore.texture.
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from cucore import Buffer, Device, Stream
from cucore.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

_Self = TypeVar("_Self")
_Format = ArrayFormatType | str | Any
_Memory = TypeVar("_Memory")

@dataclass
class OpaqueArrayOptions:
    shape: tuple[int, ...]
    format: _Format
    num_channels: int
    is_surface_load_store: bool = False

@dataclass
class MipmappedArrayOptions:
    shape: tuple[int, ...]
    format: _Format
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False

@dataclass
class TextureObjectOptions:
    address_mode: AddressModeType | str | Sequence[AddressModeType | str] = ...
    filter_mode: FilterModeType | str = ...
    read_mode: ReadModeType | str = ...
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = ...
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: Sequence[float] | None = None

class _Owner:
    def __bool__(self) -> bool: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    @property
    def handle(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def device(self) -> Device: ...
    def close(self) -> None: ...

class _Array(_Owner):
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def format(self) -> ArrayFormatType: ...
    @property
    def num_channels(self) -> int: ...
    @property
    def is_surface_load_store(self) -> bool: ...

class OpaqueArray(_Array):
    @property
    def element_bytes(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    def copy_from(self, src: Buffer | Any, *, stream: Stream) -> None: ...
    def copy_to(self, dst: _Memory, *, stream: Stream) -> _Memory: ...

class MipmappedArray(_Array):
    @property
    def num_levels(self) -> int: ...
    def get_level(self, level: int) -> OpaqueArray: ...

class ResourceDescriptor:
    @staticmethod
    def from_opaque_array(array: OpaqueArray) -> ResourceDescriptor: ...
    @staticmethod
    def from_mipmapped_array(mipmapped_array: MipmappedArray) -> ResourceDescriptor: ...
    @staticmethod
    def from_linear(
        buffer: Buffer, *, format: _Format, num_channels: int, size_bytes: int | None = None
    ) -> ResourceDescriptor: ...
    @staticmethod
    def from_pitch2d(
        buffer: Buffer, *, format: _Format, num_channels: int, width: int, height: int, pitch_bytes: int
    ) -> ResourceDescriptor: ...
    @property
    def kind(self) -> str: ...
    @property
    def source(self) -> OpaqueArray | MipmappedArray | Buffer: ...
    @property
    def format(self) -> ArrayFormatType | None: ...
    @property
    def num_channels(self) -> int | None: ...
    @property
    def size_bytes(self) -> int | None: ...
    @property
    def width(self) -> int | None: ...
    @property
    def height(self) -> int | None: ...
    @property
    def pitch_bytes(self) -> int | None: ...

class TextureObject(_Owner):
    @property
    def resource(self) -> ResourceDescriptor | None: ...
    @property
    def options(self) -> TextureObjectOptions: ...

class SurfaceObject(_Owner):
    @property
    def resource(self) -> ResourceDescriptor | None: ...
