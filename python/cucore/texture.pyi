# Made by tools/make_stubs.py from the package and from python/signatures/texture.pyi; not to be edited.

"""Textures and surfaces: memory that kernels read with filtering and bounds, and write by element.

An OpaqueArray or MipmappedArray is made by a Device; a ResourceDescriptor says which memory a texture or surface is of;
``Device.create_texture_object`` and ``create_surface_object`` make the objects that kernels take, as arguments of
``launch`` like any other.
"""

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

class MipmappedArray:
    """Levels of an image, each of half the extents of the one before. Device.create_mipmapped_array() makes one."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def handle(self) -> int:
        """The driver's handle as an int; 0 when closed."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def format(self) -> ArrayFormatType:
        """The ArrayFormatType of each channel."""
    @property
    def num_channels(self) -> int:
        """Channels of an element: 1, 2 or 4."""
    @property
    def is_surface_load_store(self) -> bool:
        """Whether kernels may write it through a SurfaceObject."""
    @property
    def device(self) -> Device:
        """The Device whose memory it is."""
    def close(self) -> None:
        """Drops this reference; the memory is freed after its last use. Closing twice is allowed."""
    @property
    def num_levels(self) -> int:
        """How many levels there are."""
    def get_level(self, level: int) -> OpaqueArray:
        """One level as an OpaqueArray, which keeps all of them."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

@dataclass
class MipmappedArrayOptions:
    """How ``Device.create_mipmapped_array`` makes an array.

    shape: of level 0, as in OpaqueArrayOptions; each level has half the extents of the one before, at least 1.
    format: an ArrayFormatType, its value, or a NumPy dtype.
    num_channels: 1, 2 or 4.
    num_levels: at most until all extents are 1.
    is_surface_load_store: kernels may write its levels through a SurfaceObject.
    """

    shape: tuple[int, ...]
    format: _Format
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False

class OpaqueArray:
    """Memory that the device lays out for textures and surfaces. It has no address: copies fill and read it, and
    kernels through a TextureObject or SurfaceObject. Device.create_opaque_array() makes one."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def handle(self) -> int:
        """The driver's handle as an int; 0 when closed."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def format(self) -> ArrayFormatType:
        """The ArrayFormatType of each channel."""
    @property
    def num_channels(self) -> int:
        """Channels of an element: 1, 2 or 4."""
    @property
    def is_surface_load_store(self) -> bool:
        """Whether kernels may write it through a SurfaceObject."""
    @property
    def device(self) -> Device:
        """The Device whose memory it is."""
    def close(self) -> None:
        """Drops this reference; the memory is freed after its last use. Closing twice is allowed."""
    @property
    def element_bytes(self) -> int:
        """Bytes of an element: all its channels."""
    @property
    def size_bytes(self) -> int:
        """Bytes of all elements, side by side."""
    def copy_from(self, src: Buffer | Any, *, stream: Stream) -> None:
        """Copies size_bytes from the beginning of `src`, a Buffer or an object with the buffer protocol, in the order
        of `stream`. The object is kept until then; in a graph that is being captured, keep it yourself."""
    def copy_to(self, dst: _Memory, *, stream: Stream) -> _Memory:
        """Copies all of it to the beginning of `dst`, and returns `dst`; as copy_from()."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

@dataclass
class OpaqueArrayOptions:
    """How ``Device.create_opaque_array`` makes an array.

    shape: (width,), (width, height) or (width, height, depth), in elements.
    format: an ArrayFormatType, its value, or a NumPy dtype.
    num_channels: 1, 2 or 4.
    is_surface_load_store: kernels may write it through a SurfaceObject.
    """

    shape: tuple[int, ...]
    format: _Format
    num_channels: int
    is_surface_load_store: bool = False

class ResourceDescriptor:
    """Which memory a texture or surface is of. It keeps that memory: from_opaque_array(), from_mipmapped_array(),
    from_linear() and from_pitch2d() make one."""
    @property
    def kind(self) -> str:
        """ "array", "mipmapped_array", "linear" or "pitch2d"."""
    @property
    def source(self) -> OpaqueArray | MipmappedArray | Buffer:
        """The object it was made of."""
    @property
    def format(self) -> ArrayFormatType | None:
        """The ArrayFormatType of a channel of a Buffer's elements, else None."""
    @property
    def num_channels(self) -> int | None:
        """Channels of a Buffer's elements, else None."""
    @property
    def size_bytes(self) -> int | None:
        """Bytes of linear memory, else None."""
    @property
    def width(self) -> int | None:
        """Elements of a row of pitched memory, else None."""
    @property
    def height(self) -> int | None:
        """Rows of pitched memory, else None."""
    @property
    def pitch_bytes(self) -> int | None:
        """Bytes from row to row of pitched memory, else None."""
    @staticmethod
    def from_opaque_array(array: OpaqueArray) -> ResourceDescriptor:
        """Of an OpaqueArray: for textures and surfaces."""
    @staticmethod
    def from_mipmapped_array(mipmapped_array: MipmappedArray) -> ResourceDescriptor:
        """Of a MipmappedArray: for textures."""
    @staticmethod
    def from_linear(
        buffer: Buffer, *, format: _Format, num_channels: int, size_bytes: int | None = None
    ) -> ResourceDescriptor:
        """Of a Buffer as one row, all of it or the first `size_bytes`: for textures fetched by index, for which
        addressing and filtering do not count."""
    @staticmethod
    def from_pitch2d(
        buffer: Buffer, *, format: _Format, num_channels: int, width: int, height: int, pitch_bytes: int
    ) -> ResourceDescriptor:
        """Of a Buffer as `height` rows of `width` elements, `pitch_bytes` apart: for textures."""

class SurfaceObject:
    """An OpaqueArray as kernels write it; an argument of launch(). Device.create_surface_object() makes one."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def handle(self) -> int:
        """The driver's handle, a 64-bit number; 0 when closed."""
    @property
    def resource(self) -> ResourceDescriptor | None:
        """Its ResourceDescriptor; None when closed."""
    @property
    def device(self) -> Device:
        """The Device it is for."""
    def close(self) -> None:
        """Destroys it; kernels that use it must have completed. Closing twice is allowed."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

class TextureObject:
    """Memory as kernels read it, with filtering and bounds; an argument of launch(). Device.create_texture_object()
    makes one."""
    @property
    def is_closed(self) -> bool:
        """Whether it has been closed."""
    @property
    def handle(self) -> int:
        """The driver's handle, a 64-bit number; 0 when closed."""
    @property
    def resource(self) -> ResourceDescriptor | None:
        """Its ResourceDescriptor; None when closed."""
    @property
    def device(self) -> Device:
        """The Device it is for."""
    def close(self) -> None:
        """Destroys it; kernels that use it must have completed. Closing twice is allowed."""
    @property
    def options(self) -> TextureObjectOptions:
        """The TextureObjectOptions it was made with."""
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

@dataclass
class TextureObjectOptions:
    """How ``Device.create_texture_object`` reads. Of linear memory addressing and filtering do not count.

    address_mode: an AddressModeType for all axes, or 1 to 3 of them, the last for the axes after it. Wrapping and
        mirroring need normalized coordinates; without them the driver clamps.
    filter_mode: of floating-point values, a mean of neighbours by distance for LINEAR (a GPU weighs in 9 bits).
    read_mode: integers as they are, or as floats to 1 (those of 32 bits are always read as they are).
    normalized_coords: coordinates from 0 to 1 instead of elements.
    srgb: convert from sRGB; of uint8 only, without effect on others.
    border_color: four floats for AddressModeType.BORDER; None is zeros.
    """

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
