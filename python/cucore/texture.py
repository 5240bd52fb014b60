"""Textures and surfaces: memory that kernels read with filtering and bounds, and write by element.

An OpaqueArray or MipmappedArray is made by a Device; a ResourceDescriptor says which memory a texture or surface is of;
``Device.create_texture_object`` and ``create_surface_object`` make the objects that kernels take, as arguments of
``launch`` like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Union

from cucore import _seam
from cucore._checked import amount
from cucore._errors import ValueTypeError
from cucore._options import accept, member
from cucore._seam import MipmappedArray, OpaqueArray, ResourceDescriptor, SurfaceObject, TextureObject
from cucore.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

__all__ = [
    "MipmappedArray",
    "MipmappedArrayOptions",
    "OpaqueArray",
    "OpaqueArrayOptions",
    "ResourceDescriptor",
    "SurfaceObject",
    "TextureObject",
    "TextureObjectOptions",
]

Format = Union[ArrayFormatType, str, Any]

# The driver's numbers.
_FORMATS = {
    ArrayFormatType.UINT8: 0x01,
    ArrayFormatType.UINT16: 0x02,
    ArrayFormatType.UINT32: 0x03,
    ArrayFormatType.INT8: 0x08,
    ArrayFormatType.INT16: 0x09,
    ArrayFormatType.INT32: 0x0A,
    ArrayFormatType.FLOAT16: 0x10,
    ArrayFormatType.FLOAT32: 0x20,
}
_ADDRESS_MODES = tuple(AddressModeType)
_FILTER_MODES = tuple(FilterModeType)
_READ_MODES = tuple(ReadModeType)
_SWITCHES = ("normalized_coords", "srgb", "disable_trilinear_optimization", "seamless_cubemap")
_LEVELS = ("mipmap_level_bias", "min_mipmap_level_clamp", "max_mipmap_level_clamp")


@dataclass
class OpaqueArrayOptions:
    """How ``Device.create_opaque_array`` makes an array.

    shape: (width,), (width, height) or (width, height, depth), in elements.
    format: an ArrayFormatType, its value, or a NumPy dtype.
    num_channels: 1, 2 or 4.
    is_surface_load_store: kernels may write it through a SurfaceObject.
    """

    shape: tuple[int, ...]
    format: Format
    num_channels: int
    is_surface_load_store: bool = False

    def __post_init__(self):
        self.shape = _shape(self.shape)
        self.format = _format(self.format)
        self.num_channels = _channels(self.num_channels)


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
    format: Format
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False

    def __post_init__(self):
        self.shape = _shape(self.shape)
        self.format = _format(self.format)
        self.num_channels = _channels(self.num_channels)
        self.num_levels = _at_least_one("num_levels", self.num_levels)


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

    address_mode: AddressModeType | str | Sequence[AddressModeType | str] = AddressModeType.CLAMP
    filter_mode: FilterModeType | str = FilterModeType.POINT
    read_mode: ReadModeType | str = ReadModeType.ELEMENT_TYPE
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = FilterModeType.POINT
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: Sequence[float] | None = None

    def __post_init__(self):
        self.filter_mode = member(FilterModeType, self.filter_mode, "filter_mode")
        self.read_mode = member(ReadModeType, self.read_mode, "read_mode")
        self.mipmap_filter_mode = member(FilterModeType, self.mipmap_filter_mode, "mipmap_filter_mode")


def _format(value):
    if not isinstance(value, str):  # a dtype has a name, and a class of NumPy's scalars its own
        value = value if isinstance(value, type) else getattr(value, "dtype", value)
        name = getattr(value, "__name__", None) if isinstance(value, type) else getattr(value, "name", None)
        if not isinstance(name, str) or not getattr(value, "isnative", True):
            name = value
        return member(ArrayFormatType, name, "format")
    return member(ArrayFormatType, value, "format")


def _shape(value):
    if isinstance(value, str):
        raise ValueTypeError(f"shape must be a tuple of ints, not {value!r}")
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"shape must be a tuple of ints, not {type(value).__name__}")
    shape = tuple(_number("an extent of shape", extent) for extent in value)
    if not 1 <= len(shape) <= 3:
        raise ValueError(f"shape must have 1 to 3 extents (width, height, depth), not {len(shape)}")
    for extent in shape:
        if extent < 1:
            raise ValueError(f"every extent of shape must be at least 1; it is {shape}")
    return shape


def _channels(value):
    if isinstance(value, bool) or value not in (1, 2, 4):
        raise ValueError(f"num_channels must be 1, 2 or 4, not {value!r}")
    return int(value)


def _number(what, value):
    if isinstance(value, str):
        raise ValueTypeError(f"{what} must be an int, not {value!r}")
    return amount(what, value)


def _at_least_one(what, value):
    number = _number(what, value)
    if number < 1:
        raise ValueError(f"{what} must be at least 1, not {number}")
    return number


def _of_type(cls, value, what):
    if not isinstance(value, cls):
        raise TypeError(f"{what} must be a {cls.__name__}, not {type(value).__name__}")
    return value


def _from_opaque_array(array):
    return _seam.resource_of_array(_of_type(OpaqueArray, array, "array"))


def _from_mipmapped_array(array):
    return _seam.resource_of_mipmapped_array(_of_type(MipmappedArray, array, "mipmapped_array"))


def _from_linear(buffer, format, num_channels, size_bytes):
    _of_type(_seam.Buffer, buffer, "buffer")
    number, channels = _FORMATS[_format(format)], _channels(num_channels)
    if isinstance(size_bytes, (bytes, bytearray)):
        raise ValueTypeError(f"size_bytes must be an int, not {size_bytes!r}")
    size = None if size_bytes is None else min(_at_least_one("size_bytes", size_bytes), 2**64 - 1)
    return _seam.resource_of_row(buffer, number, channels, size)


def _from_pitch2d(buffer, format, num_channels, width, height, pitch_bytes):
    _of_type(_seam.Buffer, buffer, "buffer")
    number, channels = _FORMATS[_format(format)], _channels(num_channels)
    extents = (_at_least_one("width", width), _at_least_one("height", height))
    return _seam.resource_of_rows(buffer, number, channels, *extents, _at_least_one("pitch_bytes", pitch_bytes))


def _required(cls, options):
    if options is None:
        raise TypeError(f"options must be a {cls.__name__} or a dict of its fields, not None")
    return accept(cls, options)


def _create_opaque_array(context, options):
    options = _required(OpaqueArrayOptions, options)
    return _seam.create_opaque_array(
        context,
        _shape(options.shape),
        _FORMATS[_format(options.format)],
        _channels(options.num_channels),
        bool(options.is_surface_load_store),
    )


def _create_mipmapped_array(context, options):
    options = _required(MipmappedArrayOptions, options)
    return _seam.create_mipmapped_array(
        context,
        _shape(options.shape),
        _FORMATS[_format(options.format)],
        _channels(options.num_channels),
        min(_at_least_one("num_levels", options.num_levels), 2**31),
        bool(options.is_surface_load_store),
    )


def _open_resource(resource):
    source = _of_type(ResourceDescriptor, resource, "resource").source
    if source.is_closed:
        raise RuntimeError(f"the {type(source).__name__} of the resource has been closed")
    return resource


def _address_modes(value):
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"address_mode must be an AddressModeType or 1 to 3 of them, not {type(value).__name__}")
    if not 1 <= len(value) <= 3:
        raise ValueError(f"address_mode must have 1 to 3 modes, one for each axis, not {len(value)}")
    return [_ADDRESS_MODES.index(member(AddressModeType, mode, "address_mode")) for mode in value]


def _real(what, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a number, not {type(value).__name__}") from None


def _border(value):
    if value is None:
        return [0.0] * 4
    color = [float(channel) for channel in value]
    if len(color) != 4:
        raise ValueError(f"border_color must have four numbers, not {len(color)}")
    return color


def _create_texture_object(context, resource, options):
    _open_resource(resource)
    options = accept(TextureObjectOptions, options)
    options = replace(
        options,
        **{name: bool(getattr(options, name)) for name in _SWITCHES},
        **{name: _real(name, getattr(options, name)) for name in _LEVELS},
    )
    anisotropy = amount("max_anisotropy", options.max_anisotropy)
    if anisotropy < 0:
        raise ValueError(f"max_anisotropy must not be negative: {anisotropy}")
    return _seam.create_texture_object(
        context,
        resource,
        options,
        _address_modes(options.address_mode),
        _FILTER_MODES.index(member(FilterModeType, options.filter_mode, "filter_mode")),
        _READ_MODES.index(member(ReadModeType, options.read_mode, "read_mode")),
        min(anisotropy, 2**31),
        _FILTER_MODES.index(member(FilterModeType, options.mipmap_filter_mode, "mipmap_filter_mode")),
        _border(options.border_color),
    )


def _create_surface_object(context, resource):
    return _seam.create_surface_object(context, _open_resource(resource))


for _class in (MipmappedArray, OpaqueArray, ResourceDescriptor, SurfaceObject, TextureObject):
    _class.__module__ = "cucore.texture"
del _class
