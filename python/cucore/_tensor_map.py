"""Tensor maps: TensorMapDescriptor, its options, and the enumerations with the driver's numbers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from cucore import _seam
from cucore._device import Device
from cucore._errors import CUDAError
from cucore._options import accept


class TensorMapDataType(IntEnum):
    """What an element is. ``_FTZ`` reads subnormal numbers as 0."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12


class TensorMapInterleave(IntEnum):
    """Whether channels lie in slices of 16 or 32 bytes."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(IntEnum):
    """The length of the lines in which 16-byte chunks are permuted in shared memory, to avoid bank conflicts."""

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


class TensorMapIm2ColWideMode(IntEnum):
    """Which pixels along W a wide im2col copy takes: as many as the map says, or 128."""

    W = 0
    W128 = 1


class TensorMapL2Promotion(IntEnum):
    """How much of a line the L2 cache fetches at once."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(IntEnum):
    """What elements outside the tensor read as: zeros, or a NaN that fused multiplications treat as 0."""

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


_BYTES = {"UINT8": 1, "UINT16": 2, "FLOAT16": 2, "BFLOAT16": 2, "UINT64": 8, "INT64": 8, "FLOAT64": 8}
_BYTES |= dict.fromkeys(("UINT32", "INT32", "FLOAT32", "TFLOAT32"), 4)
_CHOICES = {
    "interleave": TensorMapInterleave,
    "swizzle": TensorMapSwizzle,
    "l2_promotion": TensorMapL2Promotion,
    "oob_fill": TensorMapOOBFill,
}


def _ints(name, values):
    values = tuple(values)
    for index, value in enumerate(values):
        if not isinstance(value, int):
            raise TypeError(f"{name}[{index}] must be an int, not {type(value).__name__}")
    return values


@dataclass
class TensorMapDescriptorOptions:
    """What a tiled map copies, for ``StridedMemoryView.as_tensor_map(options=...)``.

    box_dim: elements of a box along each axis, 1 to 256, in the order of the view's shape.
    element_strides: 1 to 8 for each axis: read every n-th element. Default: all.
    data_type: a NumPy dtype, or a TensorMapDataType. Default: the view's dtype. Where the view is of single bytes, as
        that of a Buffer is, its shape and strides count elements of this type.
    """

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: object = None
    interleave: TensorMapInterleave = TensorMapInterleave.NONE
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE

    def __post_init__(self):
        self.box_dim = _ints("box_dim", self.box_dim)
        if self.element_strides is not None:
            self.element_strides = _ints("element_strides", self.element_strides)
        if self.data_type is not None and not isinstance(self.data_type, TensorMapDataType):
            import numpy

            self.data_type = numpy.dtype(self.data_type)
        for name, choice in _CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, choice):
                raise TypeError(f"{name} must be a {choice.__name__}, not {type(value).__name__}")

    def _for_core(self):
        return (self.element_strides or (), *(int(getattr(self, name)) for name in _CHOICES))


@functools.cache
def _type_of_dtype(dtype):
    if dtype.name != "bool" and dtype.isnative and dtype.name.upper() in TensorMapDataType.__members__:
        return TensorMapDataType[dtype.name.upper()]
    raise ValueError(f"tensor maps have no elements of dtype {dtype}: give another as data_type, of the same size")


def _data_type(given, view):
    if isinstance(given, TensorMapDataType):
        return given
    if given is None:
        if view.dtype is None:
            raise ValueError("the view has no dtype: give data_type")
        return _type_of_dtype(view.dtype)
    return _type_of_dtype(given)


def _current_device():
    """Raises RuntimeError where no context is current."""
    device = Device()
    try:
        device.context  # noqa: B018 (it is asked for what it raises)
    except CUDAError as error:
        raise RuntimeError(str(error)) from None
    return device


def _check_memory(view, device):
    if not view.is_device_accessible:
        raise ValueError("the view's memory is not accessible from a device")
    kind, ordinal = view.__dlpack_device__()
    if kind == 2 and ordinal != device.device_id:  # pinned and managed memory belongs to every device
        raise ValueError(f"the view's memory is of device {ordinal}, and the current one is {device.device_id}")


def _base_and_layout(view, data_type):
    """Where the map begins, and its layout. Over single bytes, shape and strides count elements of ``data_type``; the
    outermost axis ends where a Buffer does, so that what is beyond is outside the tensor."""
    size = _BYTES[data_type.name.partition("_")[0]]
    layout = view._layout
    if layout.itemsize != 1 or size == 1:
        return view._base, layout
    outer, *inner = view.shape or (1,)

    def first(count):
        return _seam.StridedLayout((count, *inner), view.strides, size)

    buffer = view.exporting_obj
    if isinstance(buffer, _seam.Buffer) and view.shape and view.size:
        held = int(buffer.handle) + buffer.size - view.ptr
        one, two = (first(count).required_size_in_bytes() for count in (1, 2))
        if held < one:
            raise ValueError(
                f"a tensor map of shape {view.shape} with elements of {size} bytes needs {one} bytes along its inner "
                f"axes, and the buffer has {held}: view it with the dtype and the shape that are meant"
            )
        if two > one:
            outer = min(outer, 1 + (held - one) // (two - one))
        return view.ptr, first(outer)
    return view.ptr, _seam.StridedLayout(view.shape, view.strides, size)


class TensorMapDescriptor:
    """How kernels copy boxes of a tensor (TMA, compute capability 9.0): 128 bytes, an argument of a launch.

    Made by ``StridedMemoryView.as_tensor_map()``, or by ``tiled()`` and ``im2col()``. Its kernel takes it as
    ``const __grid_constant__ CUtensorMap``. It keeps the view, and so the memory.
    """

    __slots__ = ("_device", "_kind", "_map", "_rank", "_swizzle", "_type", "_view")

    def __init__(self):
        raise RuntimeError("a TensorMapDescriptor is made by StridedMemoryView.as_tensor_map()")

    @classmethod
    def _make(cls, kind, encode, view, options, *geometry):
        device = _current_device()
        _check_memory(view, device)
        data_type = _data_type(options.data_type, view)
        self = cls.__new__(cls)
        self._map = encode(*_base_and_layout(view, data_type), int(data_type), *geometry, options._for_core())
        self._kind, self._device, self._view, self._rank = kind, device, view, len(view.shape)
        self._type, self._swizzle = data_type, options.swizzle
        return self

    @classmethod
    def tiled(cls, view, box_dim=None, *, options=None, **choices: Any) -> TensorMapDescriptor:
        """Boxes of ``box_dim`` elements of the view; ``choices`` as TensorMapDescriptorOptions has them, which are an
        alternative to all of them.

        TypeError: both, neither, or a wrong enumeration. ValueError: memory, type, alignment, strides or box that a map
        cannot have. CUDAError: what else the driver refuses (cuTensorMapEncodeTiled).
        """
        choices = {name: value for name, value in choices.items() if value is not None}
        if options is not None:
            if box_dim is not None or any(value != 0 or name not in _CHOICES for name, value in choices.items()):
                raise TypeError("give options or the single arguments, not both")
            options = accept(TensorMapDescriptorOptions, options)
        elif box_dim is None:
            raise TypeError("a tiled tensor map needs box_dim or options")
        else:
            options = TensorMapDescriptorOptions(box_dim, **choices)
        return cls._make("tiled", _seam.CoreTensorMap.tiled, view, options, options.box_dim)

    @classmethod
    def im2col(
        cls,
        view,
        pixel_box_lower_corner,
        pixel_box_upper_corner,
        channels_per_pixel: int,
        pixels_per_column: int,
        **choices: Any,
    ) -> TensorMapDescriptor:
        """Columns of pixels for convolutions, of a view with 3 to 5 axes; corners have an entry for each axis but the
        first and the last. Raises as tiled() does (cuTensorMapEncodeIm2col)."""
        choices = {name: value for name, value in choices.items() if value is not None}
        corners = (
            _ints("pixel_box_lower_corner", pixel_box_lower_corner),
            _ints("pixel_box_upper_corner", pixel_box_upper_corner),
        )
        options = TensorMapDescriptorOptions((), **choices)
        return cls._make(
            "im2col", _seam.CoreTensorMap.im2col, view, options, *corners, channels_per_pixel, pixels_per_column
        )

    @classmethod
    def _from_im2col_wide(
        cls,
        view,
        pixel_box_lower_corner_width: int,
        pixel_box_upper_corner_width: int,
        channels_per_pixel: int,
        pixels_per_column: int,
        *,
        mode: TensorMapIm2ColWideMode = TensorMapIm2ColWideMode.W,
        swizzle: TensorMapSwizzle = TensorMapSwizzle.SWIZZLE_128B,
        **choices: Any,
    ) -> TensorMapDescriptor:
        """Columns of pixels along W alone. Needs CUDA 12.8 and compute capability 10.0: CUDAError elsewhere. Raises as
        tiled() does (cuTensorMapEncodeIm2colWide)."""
        if not isinstance(mode, TensorMapIm2ColWideMode):
            raise TypeError(f"mode must be a TensorMapIm2ColWideMode, not {type(mode).__name__}")
        choices = {name: value for name, value in choices.items() if value is not None}
        options = TensorMapDescriptorOptions((), swizzle=swizzle, **choices)
        widths = _ints("pixel_box_..._corner_width", (pixel_box_lower_corner_width, pixel_box_upper_corner_width))
        pixels = (channels_per_pixel, pixels_per_column, int(mode))
        return cls._make("im2col_wide", _seam.CoreTensorMap.im2col_wide, view, options, *widths, *pixels)

    _from_tiled = tiled
    _from_im2col = im2col

    @property
    def device(self) -> Device:
        """The device that was current when it was made."""
        return self._device

    def replace_address(self, tensor: object) -> None:
        """The same geometry over the memory of another view, or of what can be viewed.

        RuntimeError: another device is current than when it was made. ValueError: the memory is of no device or of
        another, or not aligned to 16 bytes. Nothing has changed then.
        """
        device = _current_device()
        if device.device_id != self._device.device_id:
            raise RuntimeError(
                f"the tensor map is of device {self._device.device_id}, and device {device.device_id} is current: "
                "make the first one current"
            )
        view = _seam.as_view(tensor)
        _check_memory(view, device)
        self._map.replace_address(view.ptr)
        self._view = view

    def __kernel_argument__(self) -> bytes:
        return self._map.bytes

    def __reduce__(self):
        raise TypeError("a TensorMapDescriptor cannot be copied or pickled: it names an address of this process")

    def __repr__(self) -> str:
        kind, dtype, swizzle = self._kind, self._type.name, self._swizzle.name
        return f"TensorMapDescriptor({kind}, rank={self._rank}, dtype={dtype}, swizzle={swizzle})"


for _class in (
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
):
    _class.__module__ = "cucore"
del _class
